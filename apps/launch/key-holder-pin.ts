/**
 * The fingerprints of the key holders that a build of the page trusts, from `KEY_HOLDER_FINGERPRINT`: one, or several with commas while the key is
 * replaced. Without one the page sends no tokens and no probes.
 */
export function readFingerprints(env: Readonly<Record<string, string | undefined>>): string[] {
  const named = (env.KEY_HOLDER_FINGERPRINT ?? '').split(',').map((one) => one.trim())
  const fingerprints = named.filter((one) => one !== '')
  for (const one of fingerprints) {
    if (!FINGERPRINT.test(one))
      throw new Error(`KEY_HOLDER_FINGERPRINT: ${one} is no fingerprint (43 characters of base64url)`)
  }
  return fingerprints
}

/** base64url of SHA-256. */
const FINGERPRINT = /^[A-Za-z0-9_-]{43}$/
