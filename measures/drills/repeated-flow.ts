import type { LaunchState } from '@ostiary/contract'
import { createDevice, type Device, DeviceError } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { sleep } from '@ostiary/testkit/run'

/** What the launch page waits. */
const AGAIN_MS = 200
const GIVE_UP_MS = 60_000
const PASSING = [0, 429, 502, 503, 504]

interface Flow {
  baseUrl: string
  sessionId: string
  /** Gives the device its address and the person their ways. */
  number: number
  /** A call is being sent. */
  onCall(): void
}

/**
 * Plays the whole flow of a person with a phone, which repeats its calls as the launch page does. Returns whether the flow reached its end.
 * Each device has its own address; the API must trust this machine as its proxy.
 */
export async function playRepeatedFlow({ baseUrl, sessionId, number, onCall }: Flow): Promise<boolean> {
  const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
  const device = await createDevice({
    ...{ baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE },
    fetch: fetchFrom(number, onCall),
  })
  try {
    const { flowStatus } = await runFlow(repeating(device), { clock, random: seededRandom(number), ageYears: 41 })
    return flowStatus !== null
  } catch (error) {
    if (error instanceof DeviceError) return false
    throw error
  }
}

function fetchFrom(number: number, onCall: () => void): typeof fetch {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    onCall()
    return fetch(input, { ...init, headers })
  }
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'

/**
 * A device that repeats its calls as the launch page does, until the service answers. A capture is sealed once and the same text is sent
 * again. When the service has moved on, the device opens the session again.
 */
function repeating(device: Device): Device {
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
