import type { LaunchState } from '@ostiary/contract'
import { type Device, DeviceError } from '@ostiary/device'
import { sleep } from '@ostiary/testkit/run'

/** Like the launch page: what it waits, and how often it asks a key holder that is away. */
const AGAIN_MS = 200
const GIVE_UP_MS = 60_000
const KEY_HOLDER_TRIES = 4
const KEY_HOLDER_WAIT_MS = 1_500
const PASSING = [0, 429, 502, 503, 504]

/** Who wants to know what the device does. */
export interface Watcher {
  /** Before the first call about a token. */
  onToken?(): void
  /** A call failed and will be repeated. False: the person has left, and nothing more is sent. */
  stays?(): boolean
}

/** A person who has left in the middle. */
export class Left extends Error {}

/**
 * A device that repeats its calls as the launch page does: until the service answers, and a few times while the key holder is away. A
 * capture is sealed once and the same text is sent again. When the service has moved on, the device opens the session again.
 */
export function repeating(device: Device, { onToken = () => {}, stays = () => true }: Watcher = {}): Device {
  async function again<T>(call: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + GIVE_UP_MS
    for (let away = 0; ; ) {
      try {
        return await call()
      } catch (error) {
        if (!isPassing(error) || performance.now() > giveUpAt) throw error
        const isAway = error.code === 'KEY_HOLDER_UNAVAILABLE'
        if (isAway && ++away >= KEY_HOLDER_TRIES) throw error
        if (!stays()) throw new Left()
        await sleep(isAway ? KEY_HOLDER_WAIT_MS : AGAIN_MS)
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
    tokenBegin: (...args) => {
      onToken()
      return again(() => device.tokenBegin(...args))
    },
    tokenBeginSuccessor: () => again(() => device.tokenBeginSuccessor()),
    tokenEnrol: (body) => again(() => device.tokenEnrol(body)),
    tokenProbe: (body) => again(() => device.tokenProbe(body)),
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
