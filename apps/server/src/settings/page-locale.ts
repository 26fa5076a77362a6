import { resolveLocale } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'

/** The language of a session's page, when the tag that the host gave names one we have; otherwise the browser decides. */
export function pageLocaleOf(text: string | undefined): string | null {
  if (text === undefined) return null
  const found = resolveLocale(text)
  if (found.state === 'malformed') {
    throw new AppError('invalid_request', 'INVALID_LOCALE', 'locale is not a language tag such as de or pt-BR')
  }
  return found.state === 'found' ? found.tag : null
}
