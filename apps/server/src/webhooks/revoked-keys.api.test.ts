import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { signStandardWebhook, standardWebhookSecret, verifyWebhook } from '@ostiary/crypto'
import { KEY_MAX_AGE_MS } from '../keys/cache.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { PooledOutbound } from '../platform/outbound/pooled.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'

interface Sent {
  headers: Record<string, string>
  body: Buffer
}

const sent: Sent[] = []
/** Receives live webhooks too: they need https, which a receiver on this machine does not have. */
const recording: PooledOutbound = {
  async post({ headers, body }) {
    const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []))
    sent.push({ headers: Object.fromEntries(pairs), body: Buffer.from(body) })
    return { status: 200, retryAfter: undefined }
  },
  async close() {},
  origins: () => 0,
}

const fixture = await createFixture()
const dispatcher = fixture.newDispatcher({ outbound: recording })
beforeEach(async () => {
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  sent.length = 0
})

const URL = 'https://host.example/hook'
const keys = () => fixture.harness.wire.keys.service
const advance = (ms: number) => fixture.harness.clock.advance(ms)

async function addKey(
  { tenantId, caller: { livemode } }: Tenant,
  wanted: { livemode?: boolean; scopes?: string[] } = {},
) {
  // Keys are ordered by the time of their creation.
  advance(1)
  const key = { livemode, name: 'another', scopes: ['age:write'], allowedIps: [], ...wanted }
  const { id, api_key: text } = await keys().createKey(tenantId, key)
  return { id, text }
}

async function revoke(id: string): Promise<void> {
  await keys().revokeKey(id)
  advance(KEY_MAX_AGE_MS + 1)
}

/** Sends what is due, and returns the only webhook of it. */
async function deliver(): Promise<Sent> {
  sent.length = 0
  await dispatcher.tick()
  const [one, ...more] = sent
  assert.ok(one)
  assert.deepEqual(more, [])
  return one
}

/** Which of `X-Service-Signature` and `webhook-signature` this key has signed. */
async function signedBy(apiKey: string, { headers, body }: Sent): Promise<string> {
  const [id = '', timestamp = '', all = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  )
  const own = await verifyWebhook({ apiKey, timestamp, signature: headers['x-service-signature'], body })
  const standard = await signStandardWebhook(await standardWebhookSecret(apiKey), { id, timestamp, body })
  return [own && 'own', all.split(' ').includes(standard) && 'standard'].filter(Boolean).join(' ')
}

for (const livemode of [true, false]) {
  describe(`a revoked ${livemode ? 'live' : 'test'} key`, () => {
    test('does not sign the webhook of a session that ends afterwards: the newest active key does', async () => {
      const tenant = await fixture.newTenant(livemode)
      await addKey(tenant)
      const newest = await addKey(tenant)
      await fixture.enqueue(tenant, { url: URL })
      assert.equal(await signedBy(tenant.key, await deliver()), 'own standard', 'it has signed, so it is cached')
      await revoke(tenant.keyId)
      await fixture.enqueue(tenant, { url: URL })
      const received = await deliver()
      assert.equal(await signedBy(tenant.key, received), '')
      assert.equal(await signedBy(newest.text, received), 'own standard')
    })

    test('does not sign replays of what it has signed before', async () => {
      const tenant = await fixture.newTenant(livemode)
      const other = await addKey(tenant)
      const id = await fixture.enqueue(tenant, { url: URL })
      await deliver()
      await revoke(tenant.keyId)
      await fixture.webhooks.replay(tenant.caller, id)
      const received = await deliver()
      assert.equal(await signedBy(tenant.key, received), '')
      assert.equal(await signedBy(other.text, received), 'own standard')
    })

    test('without another key nothing is sent; a new key delivers what waits', async () => {
      const tenant = await fixture.newTenant(livemode)
      await addKey(tenant, { livemode: !livemode })
      await addKey(tenant, { scopes: ['age:read', 'strings:rw'] })
      await revoke(tenant.keyId)
      const id = await fixture.enqueue(tenant, { url: URL })
      assert.equal(await dispatcher.tick(), 1)
      assert.deepEqual(sent, [])
      const waiting = await fixture.webhooks.get(tenant.caller, id)
      assert.deepEqual([waiting.state, waiting.attempts, waiting.attemptLog[0]?.outcome], ['pending', 1, 'unsigned'])
      const { rows } = await fixture.harness.database.query('select * from webhook_endpoints')
      assert.deepEqual(rows, [], 'the receiver did not fail')
      const fresh = await addKey(tenant)
      advance(10_000)
      assert.equal(await signedBy(fresh.text, await deliver()), 'own standard')
      assert.equal((await fixture.webhooks.get(tenant.caller, id)).state, 'delivered')
    })
  })
}

test('a webhook that no key may sign is dead after the schedule, and a replay sends it when there is a key', async () => {
  const tenant = await fixture.newTenant()
  await revoke(tenant.keyId)
  const id = await fixture.enqueue(tenant, {
    url: URL,
    purgeAt: new Date(fixture.harness.clock.now().getTime() + 7 * DAY_MS),
  })
  for (let attempt = 0; attempt < 10; attempt++) {
    assert.equal(await dispatcher.tick(), 1)
    // Longer than the longest wait.
    advance(DAY_MS / 2)
  }
  const dead = await fixture.webhooks.get(tenant.caller, id)
  assert.deepEqual([dead.state, dead.deadReason, dead.attempts], ['dead', 'exhausted', 10])
  assert.deepEqual(sent, [])
  const fresh = await addKey(tenant)
  await fixture.webhooks.replay(tenant.caller, id)
  assert.equal(await signedBy(fresh.text, await deliver()), 'own standard')
})

test('a rotated key signs until its overlap ends, and its successor beside it from the first moment', async () => {
  const tenant = await fixture.newTenant()
  const { created } = await keys().rotateKey(tenant.keyId, 7)
  advance(KEY_MAX_AGE_MS + 1)
  await fixture.enqueue(tenant, { url: URL })
  const during = await deliver()
  assert.equal(await signedBy(tenant.key, during), 'own standard')
  assert.equal(await signedBy(created.api_key, during), 'standard')
  advance(7 * DAY_MS)
  await fixture.enqueue(tenant, { url: URL })
  const afterwards = await deliver()
  assert.equal(await signedBy(tenant.key, afterwards), '')
  assert.equal(await signedBy(created.api_key, afterwards), 'own standard')
})

test('a revocation takes effect within five seconds while webhooks are being sent all the time', async () => {
  const tenant = await fixture.newTenant()
  const other = await addKey(tenant)
  const send = async () => {
    await fixture.enqueue(tenant, { url: URL })
    return deliver()
  }
  await send()
  await keys().revokeKey(tenant.keyId)
  for (let ms = 0; ms < KEY_MAX_AGE_MS; ms += 500) {
    advance(500)
    await send()
  }
  advance(1)
  const received = await send()
  assert.equal(await signedBy(tenant.key, received), '')
  assert.equal(await signedBy(other.text, received), 'own standard')
})
