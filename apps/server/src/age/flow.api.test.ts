import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDevice } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { createHarness, type Harness } from '../testing/harness.ts'

let harness: Harness
let key: string
let baseUrl: string
before(async () => {
  harness = await createHarness({ OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' })
  ;({ key } = await harness.tenantWithKey({ scopes: ['age:write', 'age:read'] }))
  baseUrl = await harness.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => harness.close())

const clockOfDevice = () => {
  const base = { nowMs: () => harness.clock.now().getTime(), monotonicMs: () => harness.clock.monotonicMs() }
  return createSimulatedClock(base)
}

test('a session goes from its creation through the device to its result', async () => {
  const created = await harness.inject({
    method: 'POST',
    url: '/session',
    headers: { 'x-api-key': key },
    payload: { redirectUrl: 'https://shop.example/back?state=7', ageThreshold: 30, metadata: { order: 'A-7' } },
  })
  assert.equal(created.statusCode, 201, created.body)
  const { token, sessionId } = created.json()
  const clock = clockOfDevice()
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock, userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148' })
  const report = await runFlow(device, { clock, random: seededRandom(1), ageYears: 42 })
  console.log(report)
  const result = await harness.inject(`/session/${token}/result`)
  console.log(JSON.stringify(result.json(), null, 1))
  assert.equal(result.json().sessionStatus, 'AGE_ABOVE_THRESHOLD')
})
