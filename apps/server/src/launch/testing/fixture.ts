/** A service with one tenant, and what the tests of the device API often need. Only tests import this. */
import assert from 'node:assert/strict'
import type { AgeResult, CreatedSession } from '@ostiary/contract'
import { createDevice } from '@ostiary/device'
import { createSimulatedClock } from '@ostiary/device/simulated'
import { createHarness, type HarnessOptions } from '../../testing/harness.ts'
import { IPHONE } from './user-agents.ts'

export type LaunchFixture = Awaited<ReturnType<typeof createLaunchFixture>>

/** Long enough for the rate limit to recover after one session: all tests call from one address. */
const BETWEEN_SESSIONS_MS = 6_000

export async function createLaunchFixture(env: Record<string, string> = {}, options: HarnessOptions = {}) {
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
    /** A session with a threshold of 30, a test key's unless another is given. */
    async create(body: object = {}, key = testKey): Promise<CreatedSession> {
      clock.advance(BETWEEN_SESSIONS_MS)
      const payload = { redirectUrl: 'https://shop.example/back', ageThreshold: 30, ...body }
      const created = await harness.inject({ method: 'POST', url: '/session', headers: { 'x-api-key': key }, payload })
      assert.equal(created.statusCode, 201, created.body)
      return created.json()
    },
    /** The product's own client, on a simulated device. */
    async device(
      sessionId: string,
      { platform = 'mobile', userAgent = IPHONE }: { platform?: 'mobile' | 'desktop'; userAgent?: string } = {},
    ) {
      const base = { nowMs: () => clock.now().getTime(), monotonicMs: () => clock.monotonicMs() }
      const deviceClock = createSimulatedClock(base)
      const device = await createDevice({ baseUrl, sessionId, platform, clock: deviceClock, userAgent })
      return { device, clock: deviceClock }
    },
    async result(token: string): Promise<AgeResult> {
      const read = await harness.inject(`/session/${token}/result`)
      assert.equal(read.statusCode, 200, read.body)
      return read.json()
    },
    /** The events of a session that wait to be sent to the host. */
    async webhooksOf(sessionId: string) {
      const text = 'select event from webhook_deliveries where subject_id = $1'
      const { rows } = await harness.database.query(text, [sessionId])
      return rows.map(({ event }) => String(event))
    },
    /** Sets the tenant's settings for the sessions that are made by `work`, and takes them back. */
    async withSettings<T>(patch: Record<string, unknown>, work: () => Promise<T>): Promise<T> {
      await wire.settings.service.set(tenantId, patch)
      try {
        return await work()
      } finally {
        await wire.settings.service.set(tenantId, Object.fromEntries(Object.keys(patch).map((name) => [name, null])))
      }
    },
    liveKey: async () => (await wire.keys.service.createKey(tenantId, { ...anyKey, livemode: true })).api_key,
  }
}
