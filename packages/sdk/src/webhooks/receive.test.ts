import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatApiKey } from '@ostiary/crypto'
import { FIXTURE_API_KEY, FIXTURE_EVENTS, newFixtureKeyPair, webhookFixture } from '../fixtures/index.ts'
import { type ReceivedEvent, type ReceivedMessage, type ReceiveOptions, receiveWebhook, WebhookError } from './index.ts'

const keyOf = (bucket: number, fill: number, livemode = false) =>
  formatApiKey({ livemode, bucket }, new Uint8Array(32).fill(fill))
const own = { apiKey: FIXTURE_API_KEY }

const reasonOf = async (message: ReceivedMessage, options: ReceiveOptions = own): Promise<string> => {
  const [outcome] = await Promise.allSettled([receiveWebhook(message, options)])
  assert.ok(outcome.status === 'rejected' && outcome.reason instanceof WebhookError, JSON.stringify(outcome))
  return outcome.reason.reason
}

test('every event is received with its type, by Request, by headers of Node and by Headers', async () => {
  for (const name of FIXTURE_EVENTS) {
    const fixture = await webhookFixture(name, { attempt: 2 })
    const bytes = new TextEncoder().encode(fixture.body)
    const received = [
      await receiveWebhook(fixture.request(), own),
      await receiveWebhook({ headers: fixture.headers, body: bytes }, own),
      await receiveWebhook({ headers: new Headers(fixture.headers), body: fixture.body }, own),
    ]
    for (const event of received) {
      const { body, ...facts } = event
      assert.deepEqual(facts, {
        event: name,
        id: fixture.headers['webhook-id'],
        sessionId: body.sessionId,
        livemode: false,
        attempt: 2,
        timestamp: new Date(Number(fixture.headers['webhook-timestamp']) * 1000),
      })
      assert.deepEqual(body, JSON.parse(fixture.body))
    }
  }
})

test('the type of the body follows from the name of the event', async () => {
  const event: ReceivedEvent = await receiveWebhook((await webhookFixture('verification.succeeded')).request(), own)
  // @ts-expect-error: before `event` is compared, the body may be one of area C
  void event.body.puid
  assert.ok(event.event === 'verification.succeeded')
  const puid: string = event.body.puid
  assert.equal(puid, 'fixture-person')
})

test('six planted faults give six reasons', async () => {
  const { headers, body } = await webhookFixture('age.session.completed')
  const signedBy = async (apiKey: string) => (await webhookFixture('age.session.completed', { apiKey })).request()
  const old = await webhookFixture('age.session.completed', { signedAtSeconds: 1_700_000_000 })
  const parsed: unknown = JSON.parse(body)
  const reasons = {
    'an object instead of bytes': await reasonOf({ headers, body: parsed as string }),
    'a key of another tenant': await reasonOf(await signedBy(keyOf(7, 1))),
    'a live key where the receiver has a test key': await reasonOf(await signedBy(keyOf(0, 1, true))),
    'a rotated key that is no longer in the list': await reasonOf(await signedBy(keyOf(0, 1))),
    'a clock that is years off': await reasonOf(old.request()),
    'a body that a proxy has changed': await reasonOf({ headers, body: body.replace('AGE_', 'age_') }),
  }
  assert.deepEqual(reasons, {
    'an object instead of bytes': 'body_parsed',
    'a key of another tenant': 'wrong_key',
    'a live key where the receiver has a test key': 'other_mode',
    'a rotated key that is no longer in the list': 'key_not_listed',
    'a clock that is years off': 'outside_window',
    'a body that a proxy has changed': 'body_changed',
  })
  assert.equal(new Set(Object.values(reasons)).size, 6)
})

test('a body that was parsed and printed again is not called a changed one', async () => {
  const { headers, body } = await webhookFixture('age.session.completed')
  assert.equal(await reasonOf({ headers, body: JSON.stringify(JSON.parse(body), null, 2) }), 'body_parsed')
  const { request } = await webhookFixture('age.session.completed')
  const used = request()
  await used.json()
  assert.equal(await reasonOf(used), 'body_parsed')
})

test('without the hint at the key, a wrong key and a changed body have one reason', async () => {
  const { headers, body } = await webhookFixture('age.session.completed')
  const { 'x-service-key': _, ...older } = headers
  assert.equal(await reasonOf({ headers: older, body: `${body} x` }), 'signature_wrong')
  assert.equal(await reasonOf({ headers: { ...headers, 'x-service-key': 'garbage' }, body: 'x' }), 'signature_wrong')
})

test('a forged hint changes the reason and never the refusal', async () => {
  const { headers, body } = await webhookFixture('age.session.completed', { apiKey: keyOf(7, 1) })
  const own = (await webhookFixture('age.session.completed')).headers['x-service-key'] ?? ''
  assert.equal(await reasonOf({ headers: { ...headers, 'x-service-key': own }, body }), 'body_changed')
})

test('one of several keys is enough, during a rotation the new one too', async () => {
  const [older, newer] = [keyOf(0, 1), keyOf(0, 2)]
  const both = await webhookFixture('age.session.expired', { apiKey: [older, newer] })
  for (const apiKeys of [[older], [newer], [keyOf(3, 3), newer]]) {
    assert.equal((await receiveWebhook(both.request(), { apiKeys })).event, 'age.session.expired')
  }
})

test('id and time are signed, and headers must be there once', async () => {
  const { headers, body } = await webhookFixture('age.session.completed')
  assert.equal(await reasonOf({ headers: { ...headers, 'webhook-id': 'another' }, body }), 'body_changed')
  assert.equal(await reasonOf({ headers: { ...headers, 'webhook-timestamp': '1' }, body }), 'body_changed')
  const { 'webhook-signature': _, ...unsigned } = headers
  assert.equal(await reasonOf({ headers: unsigned, body }), 'headers_missing')
  assert.equal(await reasonOf({ headers: { ...headers, 'webhook-id': ['a', 'b'] }, body }), 'headers_missing')
})

test('the event comes from the signed body: a header that names another one is refused', async () => {
  const { headers, body } = await webhookFixture('verification.failed')
  const forged = { ...headers, 'x-service-event': 'verification.succeeded' }
  assert.equal(await reasonOf({ headers: forged, body }), 'event_mismatch')
  const { 'x-service-event': _, ...without } = headers
  assert.equal((await receiveWebhook({ headers: without, body }, own)).event, 'verification.failed')
  for (const flowStatus of [null, 'constructor', '__proto__']) {
    const odd = await webhookFixture('age.session.completed', { body: { flowStatus: flowStatus as null } })
    assert.equal(await reasonOf(odd.request()), 'unknown_event')
  }
})

test('with public keys a signature of the key pair is demanded, whatever API keys have signed', async () => {
  const { publicKeys, privateKey } = await newFixtureKeyPair()
  const options = { ...own, publicKeys }
  const genuine = await webhookFixture('verification.succeeded', { privateKey, apiKey: keyOf(9, 9) })
  assert.equal((await receiveWebhook(genuine.request(), options)).event, 'verification.succeeded')
  assert.equal(
    await reasonOf((await webhookFixture('verification.succeeded')).request(), options),
    'no_key_pair_signature',
  )
  const other = await webhookFixture('verification.succeeded', { privateKey: (await newFixtureKeyPair()).privateKey })
  assert.equal(await reasonOf(other.request(), options), 'key_pair_wrong')
  const old = await webhookFixture('verification.succeeded', { privateKey, signedAtSeconds: 1_700_000_000 })
  assert.equal(await reasonOf(old.request(), options), 'outside_window')
  assert.equal((await receiveWebhook(old.request(), { ...options, nowSeconds: 1_700_000_001 })).attempt, 1)
})

test('a receiver without any key, or with a cut-off one, is refused as a mistake of the program', async () => {
  const { request } = await webhookFixture('age.session.completed')
  await assert.rejects(receiveWebhook(request(), {}), { code: 'INVALID_OPTION' })
  await assert.rejects(receiveWebhook(request(), { apiKey: undefined }), { code: 'INVALID_OPTION' })
  await assert.rejects(receiveWebhook(request(), { apiKey: FIXTURE_API_KEY.slice(0, -1) }), { code: 'INVALID_OPTION' })
})
