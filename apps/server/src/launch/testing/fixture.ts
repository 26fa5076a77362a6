/** A service with one tenant, and what the tests of the device API often need. Only tests import this. */
import assert from 'node:assert/strict'
import type { AgeResult, CreatedSession } from '@ostiary/contract'
import { createDevice, type Device } from '@ostiary/device'
import { createSimulatedClock, type SimulatedClock } from '@ostiary/device/simulated'
import { createHarness, type Harness, type HarnessOptions } from '../../testing/harness.ts'
import { IPHONE } from './user-agents.ts'

export interface TestDevice {
  device: Device
  clock: SimulatedClock
}

export interface LaunchFixture {
  harness: Harness
  baseUrl: string
  tenantId: string
  /** A session with a threshold of 30, a test key's unless another is given. */
  create(body?: object, key?: string): Promise<CreatedSession>
  /** The product's own client, on a simulated device. */
  device(sessionId: string, options?: { platform?: 'mobile' | 'desktop'; userAgent?: string }): Promise<TestDevice>
  result(token: string): Promise<AgeResult>
  /** The events of a session that wait to be sent to the host. */
  webhooksOf(sessionId: string): Promise<string[]>
  /** Sets the tenant's settings for the sessions that are made by `work`, and takes them back. */
  withSettings<T>(patch: Record<string, unknown>, work: () => Promise<T>): Promise<T>
  liveKey(): Promise<string>
  close(): Promise<void>
}

/** Long enough for the rate limit to recover after one session: all tests call from one address. */
const BETWEEN_SESSIONS_MS = 6_000

export async function createLaunchFixture(
  env: Record<string, string> = {},
  options: HarnessOptions = {},
): Promise<LaunchFixture> {
  const harness = await createHarness({ OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8', ...env }, options)
  const { clock, wire } = harness
  const scopes = ['age:write', 'age:read']
  const { tenantId, key: testKey } = await harness.tenantWithKey({ scopes })
  const baseUrl = await harness.app.listen({ port: 0, host: '127.0.0.1' })
  const anyKey = { name: 'live', scopes, allowedIps: [], usagePlanId: 'unmetered' }

  return {
    harness,
    baseUrl,
    tenantId,
    async create(body = {}, key = testKey) {
      clock.advance(BETWEEN_SESSIONS_MS)
      const payload = { redirectUrl: 'https://shop.example/back', ageThreshold: 30, ...body }
      const created = await harness.inject({ method: 'POST', url: '/session', headers: { 'x-api-key': key }, payload })
      assert.equal(created.statusCode, 201, created.body)
      return created.json()
    },
    async device(sessionId, { platform = 'mobile', userAgent = IPHONE } = {}) {
      const base = { nowMs: () => clock.now().getTime(), monotonicMs: () => clock.monotonicMs() }
      const deviceClock = createSimulatedClock(base)
      const device = await createDevice({ baseUrl, sessionId, platform, clock: deviceClock, userAgent })
      return { device, clock: deviceClock }
    },
    async result(token) {
      const read = await harness.inject(`/session/${token}/result`)
      assert.equal(read.statusCode, 200, read.body)
      return read.json()
    },
    async webhooksOf(sessionId) {
      const text = 'select event from webhook_deliveries where subject_id = $1'
      const { rows } = await harness.database.query(text, [sessionId])
      return rows.map(({ event }) => String(event))
    },
    async withSettings(patch, work) {
      await wire.settings.service.set(tenantId, patch)
      try {
        return await work()
      } finally {
        await wire.settings.service.set(tenantId, Object.fromEntries(Object.keys(patch).map((name) => [name, null])))
      }
    },
    liveKey: async () => (await wire.keys.service.createKey(tenantId, { ...anyKey, livemode: true })).api_key,
    close: () => harness.close(),
  }
}
