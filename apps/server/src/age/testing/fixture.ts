/** Hosts, their users' devices and a receiver for webhooks, around the whole product. Only tests import this. */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { AgeResult, CreatedSession, DocumentRecord, SandboxOutcome, TenantSettingsPatch } from '@ostiary/contract'
import { createDevice, type Device, type DeviceOptions } from '@ostiary/device'
import {
  createSimulatedClock,
  runFlow,
  type SimulatedClock,
  type SimulatedPerson,
  seededRandom,
  simulateCapture,
} from '@ostiary/device/simulated'
import type { NewKey } from '../../keys/index.ts'
import { createHarness } from '../../testing/harness.ts'
import { createReceiver } from '../../webhooks/testing/receiver.ts'

export const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'
export const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36'
/** The smallest body of a creation. It has the warning `no-way-for-younger`. */
export const LEAST = { redirectUrl: 'https://shop.example/back?state=7', ageThreshold: 30 }

type Method = 'GET' | 'POST' | 'DELETE' | 'PUT'

export type AgeFixture = Awaited<ReturnType<typeof createAgeFixture>>
export type Host = Awaited<ReturnType<AgeFixture['newHost']>>

export interface UserDevice {
  device: Device
  clock: SimulatedClock
}

/** A fixture with its first host. */
export async function createAgeHost(env: Record<string, string> = {}, wanted?: Parameters<AgeFixture['newHost']>[0]) {
  const fixture = await createAgeFixture(env)
  return { fixture, host: await fixture.newHost(wanted) }
}

export async function createAgeFixture(env: Record<string, string> = {}) {
  const harness = await createHarness({ OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8', ...env })
  const receiver = await createReceiver()
  after(() => receiver.close())
  const baseUrl = await harness.app.listen({ port: 0, host: '127.0.0.1' })
  const scopes: NewKey['scopes'] = ['age:write', 'age:read']

  function hostOf({ tenantId, keyId, key }: { tenantId: string; keyId: string; key: string }) {
    /** With the host's key. A header that is undefined is left out. */
    const call = (
      method: Method,
      url: string,
      payload?: object | string,
      headers: Record<string, string | undefined> = {},
    ) => {
      const given = Object.entries({ 'x-api-key': key, ...headers }).filter(([, value]) => value !== undefined)
      return harness.inject({
        method,
        url,
        headers: Object.fromEntries(given),
        ...(payload !== undefined && { payload }),
      })
    }
    return {
      ...{ tenantId, keyId, key, call },
      async create(body: object = {}): Promise<CreatedSession> {
        const created = await call('POST', '/session', { ...LEAST, ...body })
        assert.equal(created.statusCode, 201, created.body)
        return created.json()
      },
      /** Ends a test session. */
      async outcome(sessionId: string, simulated: SandboxOutcome = {}): Promise<void> {
        const ended = await call('POST', `/test/sessions/${sessionId}/outcome`, simulated)
        assert.equal(ended.statusCode, 204, ended.body)
      },
      async result(token: string): Promise<AgeResult> {
        const found = await call('GET', `/session/${token}/result`)
        assert.equal(found.statusCode, 200, found.body)
        return found.json()
      },
    }
  }

  async function newDevice(sessionId: string, options: Partial<DeviceOptions> = {}): Promise<UserDevice> {
    const clock = createSimulatedClock({
      nowMs: () => harness.clock.now().getTime(),
      monotonicMs: () => harness.clock.monotonicMs(),
    })
    const usual = { baseUrl, sessionId, platform: 'mobile' as const, clock, userAgent: PHONE }
    return { device: await createDevice({ ...usual, ...options }), clock }
  }

  return {
    harness,
    receiver,
    newDevice,
    async newHost({ settings, ...wanted }: Partial<NewKey> & { settings?: TenantSettingsPatch } = {}) {
      const { tenantId, record, key } = await harness.tenantWithKey({ scopes, ...wanted })
      if (settings) await harness.wire.settings.service.set(tenantId, settings)
      return hostOf({ tenantId, keyId: record.id, key })
    },
    /** Another key of the same tenant. */
    async sibling({ tenantId }: { tenantId: string }, wanted: Partial<NewKey> = {}) {
      const plain = { livemode: false, name: 'second', scopes, allowedIps: [], usagePlanId: 'unmetered' as const }
      const record = await harness.wire.keys.service.createKey(tenantId, { ...plain, ...wanted })
      return hostOf({ tenantId, keyId: record.id, key: record.api_key })
    },
    /** A user who does what the page asks. */
    async visit(sessionId: string, person: Partial<SimulatedPerson> = {}, options: Partial<DeviceOptions> = {}) {
      const { device, clock } = await newDevice(sessionId, options)
      return runFlow(device, { clock, random: seededRandom(1), ageYears: 42, ...person })
    },
    /** All rows of all tables, as text; bytes are in hex. */
    async dump() {
      const { rows: tables } = await harness.database.query(
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
      )
      const contents = new Map<string, string>()
      for (const { name } of tables) {
        const { rows } = await harness.database.query(`select t::text as row from ${name} t`)
        if (rows.length > 0) contents.set(name, rows.map(({ row }) => row).join('\n'))
      }
      return contents
    },
  }
}

/** Goes up to the challenge and performs its movements; the test submits. */
export async function captureOf({ device, clock }: UserDevice, person: { ageYears: number; seed?: number }) {
  const random = seededRandom(person.seed ?? 1)
  const challenge = await device.challenge()
  await device.logEvent('challenge_received', challenge.attempt)
  const { capture, moments } = simulateCapture({ challenge, random, ageYears: person.ageYears })
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await device.logEvent(type, n)
  }
  return capture
}

/** From the launch URL to the running camera. */
export async function readyDevice({ device, clock }: UserDevice): Promise<void> {
  await device.logEvent('page_open')
  await device.open()
  await clock.pass(300)
  await agreeOn({ device, clock })
}

/** From the consent to the running camera. */
export async function agreeOn({ device, clock }: UserDevice): Promise<void> {
  await device.logEvent('consent_shown')
  await clock.pass(2_000)
  await device.logEvent('consent_given')
  await device.consent(true)
  await device.logEvent('camera_requested')
  await clock.pass(800)
  await device.logEvent('camera_ready')
  await device.flushEvents()
}

/** The risk evaluation of a session without any signal. */
export const NOTHING_JUDGED: AgeResult['riskEvaluation'] = {
  score: 0,
  level: 'LOW',
  recommendation: 'REVIEW',
  flags: [],
  signals: { behavioral: null, browser: null },
  policyVersion: '4',
}

/** The same where a test key chose the outcome: there was nothing to judge. */
export const NOTHING_TO_JUDGE = { ...NOTHING_JUDGED, recommendation: 'ALLOW' } as const

/** The document of a session whose outcome a test key chose. */
export const documentShown = (endedAt: string): DocumentRecord => ({
  type: 'passport',
  format: 'TD3',
  expiry: 'valid',
  checksHeld: ['number', 'birth', 'expiry', 'composite'],
  equalFrames: 2,
  confidence: 1,
  consent: { version: '1', language: 'en', at: endedAt },
})

/** The whole result of an open session that was created with `LEAST`; a test names what differs. */
export function openBody({ token, sessionId, expiresAt, livemode }: CreatedSession): AgeResult {
  return {
    token,
    sessionId,
    sessionStatus: 'AGE_UNKNOWN',
    status: 'AGE_UNKNOWN',
    flowStatus: null,
    result: {},
    thresholds: { ageThreshold: 30, compareThreshold: 0.42, faceMatchThreshold: 0.42, documentAgeThreshold: 30 },
    metadata: {},
    riskEvaluation: NOTHING_JUDGED,
    errors: [],
    errorDetails: [],
    outcome: null,
    assurance: { level: 'none', method: 'none' },
    createdAt: new Date(Date.parse(expiresAt) - 900_000).toISOString(),
    expiresAt,
    endedAt: null,
    consent: null,
    livemode,
    progress: { state: 'CREATED', attempt: 0 },
  }
}

/** The same for a session that ended at the moment of its creation, as in tests whose clock stands still. */
export function endedBody(created: CreatedSession, changes: Partial<AgeResult>): AgeResult {
  const { progress: _open, ...body } = openBody(created)
  // Without a device a session gets a verdict by a chosen outcome only.
  const riskEvaluation = changes.outcome === 'SUCCEEDED' ? NOTHING_TO_JUDGE : NOTHING_JUDGED
  return { ...body, riskEvaluation, endedAt: body.createdAt, ...changes }
}
