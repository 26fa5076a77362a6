import type { LaunchState } from '@ostiary/contract'
import type { FullCapture } from './deps.ts'
import type { SessionLink } from './session.ts'
import type { Completion } from './verification-part.ts'

/** A capture, and what goes with it of a face that is recognised or enrolled. */
export interface Finished extends Partial<Completion> {
  capture: FullCapture
}

/**
 * Sends a finished capture. It is sealed once, together with the end of the log; when the connection is lost the same sealed
 * text is sent again until it is taken, so that nobody has to repeat what is done.
 */
export async function submitCapture(
  { capture, claims, selfie }: Finished,
  { call, log }: SessionLink,
): Promise<LaunchState> {
  return log.whileHeld(async () => {
    const sealed = await call(async (device) => {
      await device.logEvent('submit')
      return device.seal(await device.payloadOf({ ...capture, ...claims }))
    })
    const sealedSelfie = selfie && (await call((device) => device.sealSelfie(selfie)))
    await call((device) => device.flushEvents())
    return call((device) => device.submitSealed(sealed, sealedSelfie))
  })
}
