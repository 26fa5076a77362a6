/**
 * What encrypts a capture. A flow needs it minutes after it began, so a page loads it in the background. A failed download counts as a lost
 * connection, which callers repeat.
 */
import { DeviceError } from './signed-calls.ts'

export function loadSealing(): Promise<typeof import('@ostiary/crypto/sealed-payload')> {
  return import('@ostiary/crypto/sealed-payload').catch((error: unknown) => {
    throw new DeviceError(0, {}, error)
  })
}
