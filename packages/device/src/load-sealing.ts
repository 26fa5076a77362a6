/**
 * What encrypts a capture. A flow needs it minutes after it began, so a page loads it in the background. A failed download counts as a lost
 * connection, which callers repeat.
 */
import type * as sealing from '@ostiary/crypto/sealed-payload'
import { DeviceError } from './signed-calls.ts'

export function loadSealing(): Promise<typeof sealing> {
  return import('@ostiary/crypto/sealed-payload').catch((error: unknown) => {
    throw new DeviceError(0, {}, error)
  })
}
