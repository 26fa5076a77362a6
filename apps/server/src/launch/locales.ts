import { DEFAULT_LOCALE, type LanguageList, LOCALES, listLocales, PAGE_LOCALES } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { route } from '../platform/route.ts'

const LANGUAGES: LanguageList = {
  default: DEFAULT_LOCALE,
  items: LOCALES.map((locale) => {
    const review = PAGE_LOCALES[locale.tag] ?? null
    return { ...locale, available: review !== null, review }
  }),
}

/** The same for all callers until the next release. */
export async function localeRoutes(app: FastifyInstance): Promise<void> {
  route(app, listLocales, {
    handler: (_request, reply) => reply.header('cache-control', 'public, max-age=3600').send(LANGUAGES),
  })
}
