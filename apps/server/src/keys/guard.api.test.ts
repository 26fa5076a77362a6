import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { operation } from '@ostiary/contract'
import { createHttp } from '../platform/http.ts'
import { route } from '../platform/route.ts'
import { assertError, createHarness } from '../testing/harness.ts'
import { findCaller } from './index.ts'

const sendFile = operation({
  operationId: 'sendFile',
  area: 'B',
  method: 'GET',
  path: '/files',
  summary: 'A route with a slow rate',
  description: '',
  auth: 'optional',
  success: { 204: { description: 'Done', schema: null } },
  errors: [],
})

const harness = await createHarness()
const { guard } = harness.wire.keys
const app = createHttp({ ...harness.wire.platform, trustProxy: [], callerOf: findCaller })
route(app, sendFile, {
  guard: guard.before(sendFile, 'sanctions'),
  handler: (_request, reply) => reply.code(204).send(),
})
after(() => app.close())

const send = (key?: string) => app.inject({ url: '/files', headers: key === undefined ? {} : { 'x-api-key': key } })

test('429: a rate per minute can be spent at once, and one more waits for its share of the minute', async () => {
  const { key } = await harness.tenantWithKey({ usagePlanId: undefined })
  for (let i = 0; i < 3; i++) {
    const response = await send(key)
    assert.equal(response.statusCode, 204)
    assert.equal(response.headers['ratelimit-policy'], '"sanctions";q=3;w=60')
    assert.equal(response.headers.ratelimit, `"sanctions";r=${2 - i};t=${20 * (i + 1)}`)
  }
  const refused = await send(key)
  assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 20 })
  assert.equal(refused.headers['retry-after'], '20')
  harness.clock.advance(19_999)
  assert.equal((await send(key)).statusCode, 429)
  harness.clock.advance(1)
  assert.equal((await send(key)).statusCode, 204)
  assert.equal((await send(key)).statusCode, 429)
})

test('429: each kind of caller has its own rate per minute, and plans more', async () => {
  for (const [wanted, policy, burst] of [
    [{ livemode: true, usagePlanId: 'standard' }, '"sanctions";q=6;w=60', 6],
    [{ livemode: false, usagePlanId: 'plus' }, '"sanctions";q=30;w=60', 30],
    [undefined, '"sanctions";q=1;w=60', 1],
  ] as const) {
    const key = wanted && (await harness.tenantWithKey(wanted)).key
    const answers = []
    for (let i = 0; i < burst + 2; i++) answers.push(await send(key))
    assert.deepEqual(new Set(answers.map(({ headers }) => headers['ratelimit-policy'])), new Set([policy]))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [...Array(burst).fill(204), 429, 429],
    )
  }
})
