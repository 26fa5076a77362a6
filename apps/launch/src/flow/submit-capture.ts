import type { LaunchState } from '@ostiary/contract'
import type { FullCapture } from './deps.ts'
import type { SessionLink } from './session.ts'
import type { Completion } from './verification-part.ts'

/** A capture, with the claims and the selfie of ENROLL, SIGN-IN and VERIFY. */
export interface Finished extends Partial<Completion> {
  capture: FullCapture
}

/**
 * Submits a finished capture with the log. Seals it once, with the end of the log. If the connection is lost, sends the same sealed text
 * again until the service accepts it, so that the user need not repeat the capture.
 */
export async function submitCapture(
  { capture, claims, selfie }: Finished,
  { call, log }: SessionLink,
): Promise<LaunchState> {
  return log.whileHeld(async () => {
    const sealed = await call(async (device) => {
      await device.logEvent('submit')
      const metadata = { ...capture.metadata, ...claims?.metadata }
      return device.seal(await device.payloadOf({ ...capture, ...claims, metadata }))
    })
    const sealedSelfie = selfie && (await call((device) => device.sealSelfie(selfie)))
    return call((device) => device.submitSealed(sealed, sealedSelfie))
  })
}
