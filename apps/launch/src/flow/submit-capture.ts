import type { LaunchState } from '@ostiary/contract'
import type { FullCapture } from './deps.ts'
import type { SessionLink } from './session.ts'

/**
 * Sends a finished capture. It is sealed once, together with the end of the log; when the connection is lost the same sealed
 * text is sent again until it is taken, so that nobody has to repeat what is done.
 */
export async function submitCapture(capture: FullCapture, { call, log }: SessionLink): Promise<LaunchState> {
  return log.whileHeld(async () => {
    const sealed = await call(async (device) => {
      await device.logEvent('submit')
      return device.seal(await device.payloadOf(capture))
    })
    await call((device) => device.flushEvents())
    return call((device) => device.submitSealed(sealed))
  })
}
