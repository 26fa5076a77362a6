import { DEFAULT_LOCALE, type LanguageList, LOCALES, listLocales, reviewOf } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { route } from '../platform/route.ts'

const LANGUAGES: LanguageList = {
  default: DEFAULT_LOCALE,
  items: LOCALES.map((locale) => ({ ...locale, available: true, review: reviewOf(locale.tag) })),
}

/** The same for all callers until the next release. */
export async function localeRoutes(app: FastifyInstance): Promise<void> {
  route(app, listLocales, {
    handler: (_request, reply) => reply.header('cache-control', 'public, max-age=3600').send(LANGUAGES),
  })
}
