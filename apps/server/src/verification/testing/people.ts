/** Simulated people for the flows of area D. Only tests import this. */
import assert from 'node:assert/strict'
import type { Challenge, DeviceKey, LaunchState } from '@ostiary/contract'
import { signLocalProof } from '@ostiary/crypto'
import type { Capture, DeviceOptions } from '@ostiary/device'
import { type SimulatedPerson, type SimulateOptions, seededRandom, simulateCapture } from '@ostiary/device/simulated'
import { readyDevice, type UserDevice } from '../../age/testing/fixture.ts'
import type { VerificationFixture } from './fixture.ts'

/** Long enough for the rate limit to recover after one session: all tests call from one address. */
const BETWEEN_SESSIONS_MS = 8_000

/** Runs a whole flow with a person whose face has this vector. */
export function visit(
  fixture: VerificationFixture,
  sessionId: string,
  vector: readonly number[],
  person: Partial<SimulatedPerson> = {},
  options: Partial<DeviceOptions> = {},
): Promise<LaunchState> {
  fixture.harness.clock.advance(BETWEEN_SESSIONS_MS)
  return fixture.visit(sessionId, { ageYears: null, vector, ...person }, options)
}

export interface DeviceWithCapture {
  user: UserDevice
  capture: Capture
}

/** Runs a flow up to the capture; the test submits it. */
export async function reachCapture(
  fixture: VerificationFixture,
  sessionId: string,
  person: Partial<SimulateOptions> & { options?: Partial<DeviceOptions> },
): Promise<DeviceWithCapture & { challenge: Challenge; nonce: string }> {
  fixture.harness.clock.advance(BETWEEN_SESSIONS_MS)
  const { options, ...made } = person
  const user = await fixture.newDevice(sessionId, options)
  await readyDevice(user)
  return { user, ...(await captureAgain(user, made)) }
}

/** One more try on a device that is ready. */
export async function captureAgain({ device, clock }: UserDevice, person: Partial<SimulateOptions>) {
  const challenge = await device.challenge()
  await device.logEvent('challenge_received', challenge.attempt)
  const random = seededRandom(3)
  const { capture, moments } = simulateCapture({ ageYears: null, random, ...person, challenge })
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await device.logEvent(type, n)
  }
  return { capture, challenge, nonce: challenge.nonce }
}

/** A device behind this address, where the service trusts the proxy before it. */
export const from = (address: string) => ({
  fetch: ((url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    return fetch(url, { ...init, headers })
  }) satisfies typeof globalThis.fetch,
})

/** What a browser keeps after an ENROLL: only its key matters to the service. */
export async function createToken() {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const key: DeviceKey = { kty: 'EC', crv: 'P-256', x, y }
  return {
    key,
    privateKey: pair.privateKey,
    prove: (sessionId: string, nonce: string, hit = true) =>
      signLocalProof(pair.privateKey, { key, sessionId, nonce, hit }),
    /** For `visit`: enrols the key. */
    enrols: (): Pick<SimulatedPerson, 'claim' | 'proveKey'> => ({
      claim: async () => ({ key }),
      proveKey: (to) => signLocalProof(pair.privateKey, { key, ...to, hit: false }),
    }),
    /** For `visit`: says the same at every try. */
    claims(sessionId: string, hit = true): NonNullable<SimulatedPerson['claim']> {
      return async ({ nonce }) => ({ hit, proof: await this.prove(sessionId, nonce, hit) })
    },
  }
}

/** ENROLLs a face and returns the id of its person. */
export async function enrolled(
  fixture: VerificationFixture,
  host: Awaited<ReturnType<VerificationFixture['newHost']>>,
  vector: readonly number[],
  { body = {}, person = {} }: { body?: object; person?: Partial<SimulatedPerson> } = {},
): Promise<string> {
  const { sessionId } = await host.create('ENROLL', body)
  const state = await visit(fixture, sessionId, vector, person)
  assert.equal(state.state, 'SUCCESS', JSON.stringify(state))
  const { puid } = await host.webhook(sessionId)
  assert.ok(puid)
  return puid
}

/** The counted failures of a tenant, smallest first. */
export async function failuresOf(fixture: VerificationFixture, { tenantId }: { tenantId: string }): Promise<number[]> {
  const text = 'select failures from sign_in_lockouts where tenant_id = $1 order by failures'
  return (await fixture.harness.database.query(text, [tenantId])).rows.map(({ failures }) => failures)
}

/** The smallest bytes with the start and the end of a JPEG. */
export function jpegOf(bytes: number): Uint8Array {
  const picture = new Uint8Array(bytes).map((_byte, at) => (at * 7 + (at >> 8)) & 0xff)
  picture.set([0xff, 0xd8, 0xff, 0xe0])
  picture.set([0xff, 0xd9], bytes - 2)
  return picture
}
