import { createDevice, DeviceError } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { repeating } from './repeating-device.ts'

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
