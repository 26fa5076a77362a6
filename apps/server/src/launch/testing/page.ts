/** A device for which the test chooses every byte: the product's own client would not send what these tests send. */
import assert from 'node:assert/strict'
import {
  type Challenge,
  type CreatedSession,
  type DeviceKey,
  type Handoff,
  LAUNCH_API,
  type LaunchState,
  type OpenedSession,
} from '@ostiary/contract'
import { bodyHash, DEVICE_PROOF_HEADER, type ProofClaims, signProof } from '@ostiary/crypto'
import type { LightMyRequestResponse } from 'fastify'
import type { LaunchFixture } from './fixture.ts'
import { IPHONE } from './user-agents.ts'

export interface PageOptions {
  userAgent?: string
  /** Sec-CH-UA-Mobile. */
  mobileHint?: string
  platform?: 'mobile' | 'desktop'
}

/** How a call differs from an honest one. */
export interface Tweak {
  /** Claims that are signed instead of the true ones. */
  claims?: Partial<ProofClaims>
  /** Sent instead of the proof; null for none. */
  proof?: string | null
  headers?: Record<string, string>
}

export async function createPage(
  fixture: Pick<LaunchFixture, 'harness'>,
  sessionId: string,
  options: PageOptions = {},
) {
  const { harness } = fixture
  const { userAgent = IPHONE, mobileHint, platform = 'mobile' } = options
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', keys.publicKey)
  const deviceKey: DeviceKey = { kty: 'EC', crv: 'P-256', x, y }
  let counter = 0
  let opened: OpenedSession | undefined

  async function prove(method: string, path: string, bytes: Uint8Array, claims: Partial<ProofClaims> = {}) {
    counter += 1
    const issuedAt = Math.floor(harness.clock.now().getTime() / 1000)
    const truth = { sessionId, method, path, bodyHash: await bodyHash(bytes), counter, issuedAt }
    return signProof(keys.privateKey, { ...truth, ...claims })
  }

  async function send(name: string, body: unknown, { claims, proof, headers }: Tweak = {}) {
    const path = `${LAUNCH_API}${name}`
    const payload = typeof body === 'string' ? body : JSON.stringify(body)
    const sent = proof === undefined ? await prove('POST', path, Buffer.from(payload), claims) : proof
    return harness.inject({
      method: 'POST',
      url: path,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...(mobileHint !== undefined && { 'sec-ch-ua-mobile': mobileHint }),
        ...(sent !== null && { [DEVICE_PROOF_HEADER]: sent }),
        ...headers,
      },
      payload,
    })
  }

  /** A signed call, with the session's id in the body as every call has it. */
  const call = (name: string, body: object = {}, tweak?: Tweak) => send(name, { sessionId, ...body }, tweak)

  const openBody = (more: object = {}) => ({
    deviceKey,
    platform,
    clientTime: harness.clock.now().getTime(),
    ...more,
  })

  return {
    sessionId,
    deviceKey,
    prove,
    send,
    call,
    openBody,
    counter: () => counter,
    tryOpen: (more?: object) => call('open', openBody(more)),
    async open(more?: object): Promise<OpenedSession> {
      opened = okOf<OpenedSession>(await call('open', openBody(more)))
      return opened
    },
    /** Opens with the code of another device, and sends the number that its screen shows. */
    async takeOver({ code, number }: Handoff): Promise<LaunchState> {
      opened = okOf<OpenedSession>(await call('open', openBody({ handoffCode: code })))
      return okOf<LaunchState>(await call('number', { number }))
    },
    sealKey(): DeviceKey {
      assert.ok(opened, 'the page has opened the session')
      return opened.sealKey
    },
    consent: async (accepted = true) =>
      okOf<LaunchState>(await call('consent', { accepted, version: '1', locale: 'en' })),
    challenge: async () => okOf<Challenge>(await call('challenge')),
    failure: async (code: number, reason?: string) =>
      okOf<LaunchState>(await call('failure', { code, ...(reason !== undefined && { reason }) })),
    cancel: async () => okOf<LaunchState>(await call('cancel')),
  }
}
export type Page = Awaited<ReturnType<typeof createPage>>

/** The body of a reply that must be a success. */
export function okOf<T>(response: LightMyRequestResponse): T {
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** The whole body of the reply to every call, for a flow that was just opened; a test names what differs. */
export function stateBody({ sessionId, expiresAt }: CreatedSession, more: Partial<LaunchState> = {}): LaunchState {
  return {
    sessionId,
    state: 'OPENED',
    role: 'holder',
    attempt: 0,
    attemptsLeft: 3,
    expiresAt,
    flowStatus: null,
    errors: [],
    redirectUrl: more.flowStatus
      ? `https://shop.example/back?sessionId=${sessionId}&flowStatus=${more.flowStatus}`
      : null,
    livemode: false,
    ...more,
  }
}
