import type { LaunchState } from '@ostiary/contract'
import { type Device, DeviceError } from '@ostiary/device'
import { sleep } from '@ostiary/testkit/run'

/** What the launch page waits. */
const AGAIN_MS = 200
const GIVE_UP_MS = 60_000
const PASSING = [0, 429, 502, 503, 504]

/**
 * A device that repeats its calls as the launch page does, until the service answers. A capture is sealed once and the same text is sent
 * again. When the service has moved on, the device opens the session again.
 */
export function repeating(device: Device): Device {
  async function again<T>(call: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + GIVE_UP_MS
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!isPassing(error) || performance.now() > giveUpAt) throw error
        await sleep(AGAIN_MS)
      }
    }
  }

  /** A state that the service has reached already, although its reply was lost. */
  const orReopen = (call: () => Promise<LaunchState>): Promise<LaunchState> =>
    again(() =>
      call().catch((error: unknown) => {
        if (error instanceof DeviceError && error.status === 409) return device.open()
        throw error
      }),
    )

  return {
    ...device,
    open: (code) => again(() => device.open(code)),
    consent: (...args) => orReopen(() => device.consent(...args)),
    challenge: (purpose) => again(() => device.challenge(purpose)),
    flushEvents: () => again(() => device.flushEvents()),
    failure: (...args) => orReopen(() => device.failure(...args)),
    async submit(capture) {
      await device.logEvent('submit')
      const sealed = await device.seal(await device.payloadOf(capture))
      return orReopen(() => device.submitSealed(sealed))
    },
  }
}

function isPassing(error: unknown): error is DeviceError {
  return error instanceof DeviceError && PASSING.includes(error.status)
}
