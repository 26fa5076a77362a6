import { CONSENT_VERSIONS, type ConsentRecord, localeOf, type SessionArea } from '@ostiary/contract'
import { invalid } from '../platform/errors.ts'
import type { Progress } from './progress.ts'

/** What a page says about the question that it showed. */
export interface ConsentAnswer {
  accepted: boolean
  version: string
  locale: string
}

/** The answer as it is stored. Version and language must be ones that the service knows, and the time is the service's own. */
export function readConsent(area: SessionArea, { accepted, version, locale }: ConsentAnswer, now: Date) {
  const known: readonly string[] = CONSENT_VERSIONS[area]
  if (!known.includes(version)) throw invalid('/body/version', `must be one of ${known.join(', ')}`)
  const language = localeOf(locale)
  if (!language) throw invalid('/body/locale', 'must be a language in which the page has texts')
  return { version, locale: language, atMs: now.getTime(), ...(!accepted && { accepted }) } satisfies Consent
}
const isKnownVersion = (version: string) =>
  Object.values(CONSENT_VERSIONS).some((versions: readonly string[]) => versions.includes(version))

type Consent = NonNullable<Progress['consent']>

/** The answer as hosts get it; null if there is none. */
export function consentOf(progress: Pick<Progress, 'consent'> | null): ConsentRecord | null {
  if (!progress?.consent) return null
  const { accepted = true, version, locale, atMs } = progress.consent
  // Processes of the last release stored what the device sent.
  if (!isKnownVersion(version) || localeOf(locale) !== locale) return null
  return { accepted, version, language: locale, at: new Date(atMs).toISOString() }
}
