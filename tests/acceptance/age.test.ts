// spec-kind: webhook
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { createDevice, systemClock } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { createClient, OstiaryError, verifyWebhook } from '@ostiary/sdk'
import { eventually } from '@ostiary/testkit/eventually'
import { setting } from '@ostiary/testkit/setting'

const baseUrl = setting('OSTIARY_URL')
const apiKey = setting('OSTIARY_TEST_KEY_ONE')
const { age, webhooks } = createClient({ baseUrl, apiKey })
const strangersKey = setting('OSTIARY_TEST_KEY_TWO')
const stranger = createClient({ baseUrl, apiKey: strangersKey })
const live = createClient({ baseUrl, apiKey: setting('OSTIARY_LIVE_KEY_ONE') })
const BODY = { redirectUrl: 'https://shop.example/back', ageThreshold: 30 }
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'

const hasStatus = (status: number) => (error: unknown) => error instanceof OstiaryError && error.status === status

/** A user with a phone who does what the page asks. Time passes in what the device claims. */
async function visit(sessionId: string, ageYears: number) {
  const clock = createSimulatedClock(systemClock)
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE })
  return runFlow(device, { clock, random: seededRandom(7), ageYears })
}

async function sandbox(path: string, body: object, key = apiKey): Promise<number> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return (await fetch(`${baseUrl}/test${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

test('[C-030] [C-031] [C-053] [C-056] a session from its creation over the user’s device to its result', async () => {
  const metadata = { order: randomUUID(), lines: [{ sku: 'ø' }] }
  const created = await age.create({ ...BODY, metadata, facialAgeEstimationReturnFormat: 'both' })
  const sessionId = new URL(created.launchUrl).searchParams.get('sessionId') ?? ''
  assert.equal(created.sessionId, sessionId)
  assert.equal((await age.result(created.token)).flowStatus, null)
  const waiting = age.waitForResult(created.token, { timeoutMs: 120_000 })
  const state = await visit(sessionId, 45)
  assert.equal(state.flowStatus, 'COMPLETED')
  const result = await waiting
  assert.deepEqual(
    [result.token, result.sessionId, result.sessionStatus, result.status, result.flowStatus, result.errors],
    [created.token, sessionId, 'AGE_ABOVE_THRESHOLD', 'AGE_ABOVE_THRESHOLD', 'COMPLETED', []],
  )
  assert.deepEqual(result.metadata, metadata)
  assert.equal(result.result.age, Math.floor(result.result.facialAgeEstimation?.exact ?? 0))
  const { items } = await age.list({ metadata: { order: metadata.order } })
  assert.deepEqual(
    items.map((item) => [item.sessionId, item.state]),
    [[sessionId, 'COMPLETED']],
  )
})

test('[C-009] [C-057] [C-058] [C-059] [C-060] [C-061] the worker delivers the result as a webhook that its receiver can verify', async (t) => {
  const arrived: { headers: IncomingHttpHeaders; body: Buffer }[] = []
  const receiver = createServer(async (request, response) => {
    arrived.push({ headers: request.headers, body: await buffer(request) })
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const address = receiver.address()
  assert.ok(typeof address === 'object' && address)
  const callback = { url: `http://127.0.0.1:${address.port}/hook`, headers: { 'X-Shop': 'seven' } }
  const created = await age.create({ ...BODY, callback })
  assert.equal(await sandbox(`/sessions/${created.sessionId}/outcome`, { faceAge: 45 }), 204)
  const { headers, body } = await eventually(async () => arrived[0])
  const timestamp = String(headers['x-service-timestamp'])
  const signature = String(headers['x-service-signature'])
  assert.equal(signature, `sha256=${createHmac('sha256', apiKey).update(`${timestamp}.`).update(body).digest('hex')}`)
  assert.equal(await verifyWebhook({ apiKey, timestamp, signature, body }), true)
  assert.equal(
    await verifyWebhook({ apiKey, timestamp, signature, body: Buffer.concat([body, Buffer.from(' ')]) }),
    false,
  )
  assert.deepEqual(JSON.parse(body.toString()), await age.result(created.token))
  assert.equal(headers['x-shop'], 'seven')
  const [delivery] = (await webhooks.list({ sessionId: created.sessionId })).items
  assert.equal(delivery?.id, headers['x-service-delivery'])
  await assert.rejects(stranger.webhooks.get(delivery?.id ?? ''), hasStatus(404))
})

test('the worker ends a session whose time is over, without anybody asking for it', async () => {
  const metadata = { order: randomUUID() }
  // Of the other tenant: the clock moves for all sessions of a tenant, and files that run beside this one have open ones.
  await stranger.age.create({ ...BODY, metadata })
  assert.equal(await sandbox('/clock/advance', { seconds: 901 }, strangersKey), 204)
  const ended = await eventually(async () =>
    (await stranger.age.list({ metadata })).items.find((item) => item.flowStatus !== null),
  )
  assert.equal(ended.flowStatus, 'EXPIRED')
})

test('cancel, erase, and what is left', async () => {
  const { token } = await age.create(BODY)
  await assert.rejects(age.erase(token), hasStatus(409))
  const cancelled = await age.cancel(token)
  assert.deepEqual([cancelled.flowStatus, cancelled.errors], ['CANCELLED', [-38]])
  await age.erase(token)
  await assert.rejects(age.result(token), hasStatus(410))
})

test('[C-054] tenants, modes and capabilities are apart', async () => {
  const { token, sessionId } = await age.create(BODY)
  for (const other of [stranger, live]) await assert.rejects(other.age.result(token), hasStatus(404))
  await assert.rejects(age.result(sessionId), hasStatus(404))
  await assert.rejects(createClient({ baseUrl }).age.create(BODY), hasStatus(401))
  assert.equal((await createClient({ baseUrl }).age.result(token)).flowStatus, null, 'the token alone reads')
})
