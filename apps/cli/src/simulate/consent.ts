import type { ConsentRecord } from '@ostiary/contract'

/** The line about the consent that a result or a webhook has; none where the question was not answered. */
export function describeConsent(consent: ConsentRecord | null | undefined): string[] {
  if (!consent) return []
  const { accepted, version, language } = consent
  return [`  consent    ${accepted ? 'given' : 'refused'}, version ${version} in ${language}`]
}
