/**
 * The device of the last release, unchanged but for its folder. Only tests and measures import it: pages that were open before an upgrade
 * go on with it. Of a release that changes what devices send, the files before the change take the place of these.
 */
import { createDevice, type Device, type DeviceOptions } from './device.ts'

/** Sends its log when the camera runs, as the page of the last release does. */
export async function createLastReleaseDevice(options: DeviceOptions): Promise<Device> {
  const device = await createDevice(options)
  return {
    ...device,
    async challenge(...wanted) {
      await device.flushEvents()
      return device.challenge(...wanted)
    },
  }
}
