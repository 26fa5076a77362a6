import type { LaunchState } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import type { SessionLink } from './session.ts'

/** During an upgrade the next call usually meets a process of this release. */
const TRIES = 8
const AGAIN_MS = 1_500

interface Answer {
  accepted: boolean
  /** The language in which the user read the question. */
  language: string
  pause(ms: number): Promise<void>
}

/**
 * Sends the answer with the version of the text that the page shows. A process of the last release does not know that version, or the language,
 * and refuses: the page tries again for some seconds. If it meets no other process, it names the version before, which says the same in other
 * words, so that nobody has to wait for the end of an upgrade.
 */
export async function sendConsent({ call }: Pick<SessionLink, 'call'>, answer: Answer): Promise<LaunchState> {
  const { accepted, language, pause } = answer
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      return await call((device) => device.consent(accepted, language))
    } catch (error) {
      if (!(error instanceof DeviceError) || error.code !== 'VALIDATION_FAILED') throw error
    }
    await pause(AGAIN_MS)
  }
  return call((device) => device.consent(accepted, language, device.consentVersionBefore()))
}
