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

/** Only processes of the last release were met, and they do not know the language in which the user has read the question. */
export class ConsentNotTaken extends Error {}

/**
 * Sends the answer with the version of the text that the page shows. A process of the last release does not know that version, or the language,
 * and refuses: the page tries again for some seconds. If it meets no other process, it names the version before, which says the same in other
 * words, so that nobody has to wait for the end of an upgrade. It never names a language in which the user has not read the question: consent
 * then has to wait, and a refusal becomes a cancellation, which every release knows.
 */
export async function sendConsent({ call }: Pick<SessionLink, 'call'>, answer: Answer): Promise<LaunchState> {
  const { accepted, language, pause } = answer
  for (let tries = 1; tries <= TRIES; tries++) {
    const reply = await call((device) => device.consent(accepted, language)).catch(orRefused)
    if (reply) return reply
    await pause(AGAIN_MS)
  }
  const reply = await call((device) => device.consent(accepted, language, device.consentVersionBefore())).catch(
    orRefused,
  )
  if (reply) return reply
  if (!accepted) return call((device) => device.cancel())
  throw new ConsentNotTaken()
}

/** Undefined for an answer that this process does not understand. */
function orRefused(error: unknown): undefined {
  if (!(error instanceof DeviceError) || error.code !== 'VALIDATION_FAILED') throw error
}
