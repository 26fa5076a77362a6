/** Devices of strangers behind addresses of our choice, for drills that attack area D. */
import { createDevice, type Device, systemClock } from '@ostiary/device'
import { createSimulatedClock, type SimulatedClock, seededRandom, simulateCapture } from '@ostiary/device/simulated'

const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'

export interface StrangerDevice {
  device: Device
  clock: SimulatedClock
}

/** Calls through a proxy that the API trusts. */
export async function newDevice(baseUrl: string, sessionId: string, address: string): Promise<StrangerDevice> {
  const clock = createSimulatedClock(systemClock)
  const viaProxy: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    return fetch(url, { ...init, headers })
  }
  const device = await createDevice({
    baseUrl,
    sessionId,
    platform: 'mobile',
    clock,
    userAgent: PHONE,
    fetch: viaProxy,
  })
  return { device, clock }
}

/** Goes up to a capture of this face. Returns its submission, or undefined when the consent was refused already. */
export async function reachCapture(
  { device, clock }: StrangerDevice,
  vector: ArrayLike<number>,
): Promise<(() => Promise<readonly number[]>) | undefined> {
  await device.logEvent('page_open')
  await device.open()
  await clock.pass(300)
  await device.logEvent('consent_shown')
  await clock.pass(2_000)
  await device.logEvent('consent_given')
  if ((await device.consent(true)).flowStatus !== null) return undefined
  await device.logEvent('camera_requested')
  await clock.pass(800)
  await device.logEvent('camera_ready')
  const challenge = await device.challenge()
  await device.logEvent('challenge_received', challenge.attempt)
  const { capture, moments } = simulateCapture({ ageYears: null, random: seededRandom(3), challenge, vector })
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await device.logEvent(type, n)
  }
  return async () => (await device.submit(capture)).errors
}
