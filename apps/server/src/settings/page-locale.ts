import { PAGE_LOCALES, resolveLocale } from '@ostiary/contract'
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

/** The warning for a new session in a language that the page has no texts for: it shows English. */
export const NO_TEXTS_WARNING = 'locale-not-available'

export function hasTexts(tag: string): boolean {
  return Object.hasOwn(PAGE_LOCALES, tag)
}
