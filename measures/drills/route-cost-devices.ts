/** For route-cost: what a device can call, in whole flows of both areas, by vector and by token. */
import { createDevice, type Device } from '@ostiary/device'
import { createSimulatedClock, runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { createAuthenticator, createFaces } from '@ostiary/server/measure'
import type { RouteCaller } from './route-cost-calls.ts'
import type { Scene } from './token-scene.ts'

const TIMES = 6
const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'
const REDIRECT = 'https://shop.example/back'
const CALLBACK = { url: 'http://127.0.0.1:65001/hook' }
const CAMERA_FAILED = -20

let visits = 0

export async function playDevices(scene: Scene, { call }: RouteCaller): Promise<void> {
  const baseUrl = scene.api.url
  const newSession = async (body: object, path = '/session') => {
    const answer = await call('POST', path, body)
    if (typeof answer.sessionId !== 'string') throw new Error(`${path} was answered ${JSON.stringify(answer)}`)
    return answer.sessionId
  }
  const newAge = (more: object = {}) =>
    newSession({ redirectUrl: REDIRECT, ageThreshold: 30, callback: CALLBACK, ...more })
  const newVerification = (more: object) =>
    newSession({ redirectURL: REDIRECT, callback: CALLBACK, ...more }, '/v2/verification-session')

  async function visit(sessionId: string) {
    const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
    const n = ++visits
    const behindProxy: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('x-forwarded-for', `10.8.${n >> 8}.${n & 255}`)
      return fetch(input, { ...init, headers })
    }
    const options = { baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE, fetch: behindProxy } as const
    return { clock, random: seededRandom(n), device: await createDevice(options) }
  }
  const play = async (sessionId: string, person: Omit<SimulatedPerson, 'clock' | 'random'>) => {
    const { device, clock, random } = await visit(sessionId)
    return runFlow(device, { clock, random, ...person })
  }

  const faces = createFaces(6)
  const person = faces.person()
  const { hostname } = new URL(baseUrl)
  const own = createAuthenticator({ origin: new URL(baseUrl).origin, rpId: hostname })
  const passkey: SimulatedPerson['passkey'] = async ({ mode, options }) =>
    mode === 'create' ? own.create(options) : own.get(options)
  for (let n = 0; n < TIMES; n++) {
    await play(await newAge(), { ageYears: 42 })
    await play(await newAge({ requirements: ['face', 'identity_document'] }), { ageYears: 42, document: {} })
    const type = n === 0 ? 'ENROLL' : 'SIGN-IN'
    const withPasskey = { type, requirements: ['face', 'passkey'] }
    await play(await newVerification(withPasskey), { ageYears: null, vector: faces.sample(person, 0.9), passkey })
    await callOnce(await visit(await newAge()), visit)
  }
  const people = [await scene.enrol(), await scene.enrol(), await scene.enrol(), await scene.enrol()]
  for (const one of people) await scene.signIn(one)
}

type Visit = { device: Device }

/** The calls that no flow makes by itself. Those that are refused at this step cost the same look at session and signature. */
async function callOnce({ device }: Visit, visit: (sessionId: string) => Promise<Visit>): Promise<void> {
  const ignore = () => undefined
  await device.open()
  await device.logEvent('page_open')
  await device.flushEvents()
  await device.extend().catch(ignore)
  await device.number('12').catch(ignore)
  const { code } = await device.handoff()
  const second = await visit(device.sessionId)
  await second.device.open(code)
  const watching = new AbortController()
  await device.watch(() => watching.abort(), watching.signal).catch(ignore)
  await device.takeBack().catch(ignore)
  await device.consent(true)
  await device.passkeyOptions().catch(ignore)
  await device.passkeyVerify({}).catch(ignore)
  await device.documentStep().catch(ignore)
  await device.failure(CAMERA_FAILED).catch(ignore)
  await device.cancel().catch(ignore)
}
