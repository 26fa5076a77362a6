// spec-kind: webhook
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { apiKeyHint, verifyWebhook } from '@ostiary/crypto'
import { BODY, createFixture } from './testing/fixture.ts'
import { status } from './testing/receiver.ts'

const fixture = await createFixture()

const SESSION = '7d9f4c1e-64a5-4b0e-9d8e-2f6b8f0a1c35'
const advance = (ms: number) => fixture.harness.clock.advance(ms)

describe('one delivery', () => {
  test('[C-057] [C-058] [C-064] [X-019] [X-020] arrives as a POST at exactly the URL, with all its headers', async () => {
    const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
    const headers = { Authorization: 'Bearer host-secret', 'X-Tenant': 'a b,c' }
    const url = `${receiver.origin}/a/b%20c?q=1&q=2`
    const id = await fixture.enqueue(tenant, { url, headers, subjectId: SESSION, sequence: 3 })
    assert.equal(await fixture.dispatcher.tick(), 1)
    const [received] = receiver.received
    assert.ok(received)
    const signature = String(received.headers['x-service-signature'])
    const standard = String(received.headers['webhook-signature'])
    assert.deepEqual([received.method, received.url], ['POST', '/a/b%20c?q=1&q=2'])
    assert.deepEqual(received.headers, {
      host: receiver.origin.slice('http://'.length),
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(BODY.length),
      'user-agent': 'Ostiary/0.1.0',
      authorization: 'Bearer host-secret',
      'x-tenant': 'a b,c',
      'x-service-timestamp': '1794744000',
      'x-service-signature': signature,
      'x-service-event': 'age.session.completed',
      'x-service-delivery': id,
      'x-service-attempt': '1',
      'x-service-sequence': '3',
      'x-service-key': apiKeyHint(tenant.key),
      'webhook-id': id,
      'webhook-timestamp': '1794744000',
      'webhook-signature': standard,
    })
    assert.match(signature, /^sha256=[0-9a-f]{64}$/)
    assert.equal(await fixture.dispatcher.tick(), 0, 'and only once')
    assert.equal(receiver.received.length, 1)
    const { rows } = await fixture.harness.database.query('select count(*)::int as count from webhook_queue')
    assert.deepEqual(rows, [{ count: 0 }])
  })

  test('[C-059] [C-060] [C-061] is signed over the raw bytes with the key that created the session, and with no other', async () => {
    const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
    const body = Buffer.from([0x7b, 0x22, 0xc3, 0xbc, 0x22, 0x3a, 0x20, 0x31, 0x0a, 0x7d])
    await fixture.enqueue(tenant, { url: receiver.url, body })
    await fixture.dispatcher.tick()
    const [received] = receiver.received
    assert.deepEqual(received?.body, body)
    const timestamp = String(received?.headers['x-service-timestamp'])
    const signature = String(received?.headers['x-service-signature'])
    const independent = createHmac('sha256', tenant.key)
      .update(Buffer.concat([Buffer.from(`${timestamp}.`), body]))
      .digest('hex')
    assert.equal(signature, `sha256=${independent}`)
    const genuine = { apiKey: tenant.key, timestamp, signature, body }
    assert.equal(await verifyWebhook(genuine), true)
    const other = await fixture.newTenant()
    for (const change of [
      { apiKey: other.key },
      { timestamp: String(Number(timestamp) + 1) },
      { body: Buffer.from('{"ü":1}') },
    ]) {
      assert.equal(await verifyWebhook({ ...genuine, ...change }), false)
    }
    const secret = createHmac('sha256', tenant.key).update('ostiary/standard-webhooks/v1').digest()
    const id = received?.headers['webhook-id']
    const standard = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')
    assert.equal(received?.headers['webhook-signature'], `v1,${standard}`)
  })

  test('is retried with the same id and body; each attempt has its own time, signature and number', async () => {
    const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    receiver.answer(status(500))
    await fixture.dispatcher.tick()
    receiver.answer(status(204))
    advance(10_000)
    await fixture.dispatcher.tick()
    const [first, second] = receiver.received
    assert.equal(receiver.received.length, 2)
    for (const [index, one] of [first, second].entries()) {
      assert.deepEqual(one?.body, BODY)
      assert.equal(one?.headers['x-service-delivery'], id)
      assert.equal(one?.headers['x-service-attempt'], String(index + 1))
      const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = one?.headers ?? {}
      assert.equal(
        await verifyWebhook({
          apiKey: tenant.key,
          timestamp: String(timestamp),
          signature: String(signature),
          body: BODY,
        }),
        true,
      )
    }
    assert.equal(Number(second?.headers['x-service-timestamp']) - Number(first?.headers['x-service-timestamp']), 10)
    assert.notEqual(second?.headers['x-service-signature'], first?.headers['x-service-signature'])
  })

  test('exists only if the state change is committed', async () => {
    const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
    const db = fixture.harness.wire.platform.cells.forId(tenant.tenantId)
    const now = fixture.harness.clock.now()
    const message = {
      tenantId: tenant.tenantId,
      keyId: tenant.keyId,
      livemode: false,
      area: 'age' as const,
      event: 'age.session.completed',
      subjectId: SESSION,
      sequence: 1,
      url: receiver.url,
      headers: {},
      body: BODY,
      now,
      purgeAt: new Date(now.getTime() + 3_600_000),
    }
    const failing = db.transaction(async (tx) => {
      await fixture.webhooks.enqueue(tx, [message])
      throw new Error('the state change failed')
    })
    await assert.rejects(failing, /the state change failed/)
    assert.equal(await fixture.dispatcher.tick(), 0)
    const ids = await db.transaction((tx) => fixture.webhooks.enqueue(tx, [message, { ...message, sequence: 2 }]))
    assert.equal(new Set(ids).size, 2)
    assert.equal(await fixture.dispatcher.tick(), 2)
    assert.deepEqual(receiver.received.map(({ headers }) => headers['x-service-delivery']).sort(), [...ids].sort())
    assert.deepEqual(await db.transaction((tx) => fixture.webhooks.enqueue(tx, [])), [])
  })

  test('is stored sealed: no path, header or body can be read in the database', async () => {
    const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
    const marked = {
      url: `${receiver.origin}/marked-path`,
      headers: { 'x-a': 'marked-header' },
      body: Buffer.from('"marked-body"'),
    }
    const id = await fixture.enqueue(tenant, marked)
    const { rows } = await fixture.harness.database.query('select * from webhook_deliveries where delivery_id = $1', [
      id,
    ])
    assert.ok(rows[0].sealed.length > 80)
    assert.ok(!rows[0].sealed.toString('latin1').includes('marked'))
    assert.ok(!JSON.stringify({ ...rows[0], sealed: undefined }).includes('marked'))
    await fixture.dispatcher.tick()
    assert.ok(!fixture.harness.logged().includes('marked'))
  })
})
