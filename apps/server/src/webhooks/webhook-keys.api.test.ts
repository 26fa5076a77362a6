import assert from 'node:assert/strict'
import { createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import type { WebhookPublicKey } from '@ostiary/contract'
import { verifyWebhook } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { loadConfig } from '../config.ts'
import { KEY_MAX_AGE_MS } from '../keys/cache.ts'
import { createSecrets } from '../secrets.ts'
import { assertError, TEST_MASTER_KEY } from '../testing/harness.ts'
import { createWire } from '../wire.ts'
import { purgeWebhooks } from './jobs.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'
import { type Received, type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

const webhookKeys = () => fixture.harness.wire.webhooks.webhookKeys
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const known = () => advance(KEY_MAX_AGE_MS + 1)
const create = ({ tenantId }: Tenant, livemode = false) => webhookKeys().create({ tenantId, livemode })
const read = ({ tenantId }: Tenant, query = '?mode=test') =>
  fixture.harness.inject(`/.well-known/ostiary-webhook-keys/${tenantId}.json${query}`)

async function publicKeys(of: Tenant, query?: string): Promise<WebhookPublicKey[]> {
  const response = await read(of, query)
  return response.statusCode === 404 ? [] : response.json().keys
}

/** Sends one webhook, and returns what arrived. */
async function deliver(body = Buffer.from('{"a":"ü"}')): Promise<Received> {
  await fixture.enqueue(tenant, { url: receiver.url, body })
  await fixture.dispatcher.tick()
  const received = receiver.received.at(-1)
  assert.ok(received)
  return received
}

const signaturesOf = ({ headers }: Received) => String(headers['webhook-signature']).split(' ')
const ed25519Of = (received: Received) => signaturesOf(received).filter((one) => one.startsWith('v1a,'))

/** Which of the keys have signed it, computed without our own code. */
function signers(received: Received, keys: readonly WebhookPublicKey[]): string[] {
  const { headers, body } = received
  const message = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body])
  return keys
    .filter((jwk) => {
      const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
      return ed25519Of(received).some((one) => verify(null, message, key, Buffer.from(one.slice(4), 'base64')))
    })
    .map(({ kid }) => kid)
}

describe('webhook-signature', () => {
  test('has no v1a until the tenant has a key pair, then one beside the HMAC, which stays as it is', async () => {
    assert.match(String((await deliver()).headers['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}=$/)
    const { kid } = await create(tenant)
    known()
    const received = await deliver()
    assert.match(String(received.headers['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}==$/)
    assert.deepEqual(signers(received, await publicKeys(tenant)), [kid])
    const timestamp = String(received.headers['x-service-timestamp'])
    const signature = String(received.headers['x-service-signature'])
    assert.equal(await verifyWebhook({ apiKey: tenant.key, timestamp, signature, body: received.body }), true)
  })

  test('covers delivery id, time and body, and is made by the tenant’s own key of the mode', async () => {
    await create(tenant)
    await create(tenant, true)
    const other = await fixture.newTenant()
    await create(other)
    known()
    const received = await deliver()
    const keys = await publicKeys(tenant)
    assert.equal(signers(received, keys).length, 1)
    for (const name of ['webhook-id', 'webhook-timestamp']) {
      assert.deepEqual(signers({ ...received, headers: { ...received.headers, [name]: '1' } }, keys), [], name)
    }
    assert.deepEqual(signers({ ...received, body: Buffer.from('{}') }, keys), [])
    assert.deepEqual(signers(received, await publicKeys(other)), [])
    assert.deepEqual(signers(received, await publicKeys(tenant, '')), [], 'the live key')
  })

  test('a message of the last release, and a delivery that its worker tried with the HMAC alone, get it when they are sent', async () => {
    // A receiver that demands v1a refuses what an old worker sends. The message waits, and a new worker signs the same bytes.
    receiver.answer((response, received) => void response.writeHead(ed25519Of(received).length > 0 ? 204 : 401).end())
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.dispatcher.tick()
    assert.equal((await fixture.webhooks.get(tenant.caller, id)).attemptLog[0]?.status, 401)
    await create(tenant)
    advance(10_000)
    await fixture.dispatcher.tick()
    const [first, second] = receiver.received
    assert.ok(first && second)
    assert.deepEqual(second.body, first.body)
    assert.equal((await fixture.webhooks.get(tenant.caller, id)).state, 'delivered')
  })
})

describe('rotation', () => {
  test('both keys sign and are published until the overlap ends; then only the new one, and the old private half is erased', async () => {
    const { kid: old } = await create(tenant)
    advance(1)
    const { created, endsAt } = await webhookKeys().rotate({ tenantId: tenant.tenantId, livemode: false }, 3)
    known()
    const both = await publicKeys(tenant)
    assert.deepEqual(
      both.map(({ kid }) => kid),
      [created.kid, old],
    )
    assert.deepEqual(signers(await deliver(), both), [created.kid, old])
    advance(endsAt.getTime() - fixture.harness.clock.now().getTime())
    assert.deepEqual(signers(await deliver(), both), [created.kid])
    assert.deepEqual(
      (await publicKeys(tenant)).map(({ kid }) => kid),
      [created.kid],
    )
    const [{ db } = assert.fail()] = fixture.harness.wire.platform.cells.all()
    await purgeWebhooks(db, fixture.harness.clock.now())
    const { rows } = await fixture.harness.database.query(
      'select kid, sealed_key is null as erased from webhook_keys where tenant_id = $1 order by created_at',
      [tenant.tenantId],
    )
    assert.deepEqual(rows, [
      { kid: old, erased: true },
      { kid: created.kid, erased: false },
    ])
  })

  test('a retired key signs nothing within five seconds, is not published, and its private half is gone at once', async () => {
    const { kid } = await create(tenant)
    known()
    const keys = await publicKeys(tenant)
    assert.deepEqual(signers(await deliver(), keys), [kid])
    const retired = await webhookKeys().retire(tenant.tenantId, kid)
    assert.equal(retired.status, 'retired')
    assert.deepEqual(await webhookKeys().retire(tenant.tenantId, kid), retired, 'again changes nothing')
    assert.deepEqual(await publicKeys(tenant), [])
    const { rows } = await fixture.harness.database.query('select sealed_key from webhook_keys where kid = $1', [kid])
    assert.deepEqual(rows, [{ sealed_key: null }])
    known()
    assert.deepEqual(ed25519Of(await deliver()), [])
    assert.equal((await create(tenant)).status, 'current', 'and another can be made')
  })

  test('a mode has one current key, also when two are made at once; nobody reaches another tenant’s', async () => {
    const owner = { tenantId: tenant.tenantId, livemode: false }
    await assert.rejects(webhookKeys().rotate(owner), /no such webhook key/)
    const made = await Promise.allSettled([create(tenant), create(tenant), create(tenant)])
    assert.equal(made.filter(({ status: how }) => how === 'fulfilled').length, 1)
    const [{ kid } = assert.fail()] = await webhookKeys().list(tenant.tenantId)
    await assert.rejects(create(tenant), { message: /rotate it/ })
    const other = await fixture.newTenant()
    await assert.rejects(webhookKeys().retire(other.tenantId, kid), /no such webhook key/)
    await assert.rejects(webhookKeys().rotate(owner, 91), /0 to 90 days/)
    assert.deepEqual(
      (await webhookKeys().list(tenant.tenantId)).map((one) => [one.kid, one.status]),
      [[kid, 'current']],
    )
  })
})

describe('GET /.well-known/ostiary-webhook-keys/{tenant}.json', () => {
  test('200: public halves only, for five minutes; live and test keys apart', async () => {
    const [test1, live] = [await create(tenant), await create(tenant, true)]
    const response = await read(tenant)
    const [key] = response.json().keys
    assert.deepEqual(response.json(), {
      keys: [{ kty: 'OKP', crv: 'Ed25519', x: key.x, kid: test1.kid, use: 'sig', alg: 'EdDSA' }],
    })
    assert.equal(Buffer.from(key.x, 'base64url').length, 32)
    assert.equal(response.headers['cache-control'], 'public, max-age=300')
    assert.match(String(response.headers['content-type']), /^application\/json/)
    for (const query of ['', '?mode=live']) {
      const { keys } = (await read(tenant, query)).json()
      assert.deepEqual(
        keys.map(({ kid }: WebhookPublicKey) => kid),
        [live.kid],
        query,
      )
    }
  })

  test('404: a tenant without keys, an unknown one and no id at all look alike', async () => {
    await create(tenant)
    const bodies = new Set<string>()
    for (const path of [
      `${tenant.tenantId}.json`,
      `${randomUUID()}.json`,
      `019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa.json`,
      'x.json',
    ]) {
      const response = await fixture.harness.inject(`/.well-known/ostiary-webhook-keys/${path}`)
      assertError(response, 404, 'NOT_FOUND', 'There is no such key set')
      bodies.add(JSON.stringify({ ...response.json(), requestId: '' }))
    }
    assert.equal(bodies.size, 1)
  })

  test('400: a mode that does not exist', async () => {
    assert.equal((await read(tenant, '?mode=both')).statusCode, 400)
  })
})

describe('the private half', () => {
  test('is stored sealed and does not open in another tenant’s or mode’s row', async () => {
    const { kid } = await create(tenant)
    const other = await fixture.newTenant()
    const query = fixture.harness.database.query
    const { rows } = await query('select * from webhook_keys where kid = $1', [kid])
    assert.ok(rows[0].sealed_key.length > 60)
    for (const [owner, livemode] of [
      [other, false],
      [tenant, true],
    ] as const) {
      await query(
        `insert into webhook_keys (tenant_id, livemode, kid, sealed_key, master_key_id, created_at)
         select $2, $3, kid, sealed_key, master_key_id, created_at from webhook_keys where kid = $1 and tenant_id = $4 and not livemode`,
        [kid, owner.tenantId, livemode, tenant.tenantId],
      )
      assert.deepEqual(await publicKeys(owner, livemode ? '' : undefined), [])
    }
    assert.match(fixture.harness.logged(), /a webhook key cannot be opened/)
  })

  test('while it cannot be opened nothing is sent, because the host may demand its signature', async () => {
    const { kid } = await create(tenant)
    await fixture.harness.database.query(`update webhook_keys set sealed_key = '\\x01' where kid = $1`, [kid])
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    receiver.answer(status(204))
    await fixture.dispatcher.tick()
    assert.deepEqual(receiver.received, [])
    assert.equal((await fixture.webhooks.get(tenant.caller, id)).state, 'pending')
    await webhookKeys().retire(tenant.tenantId, kid)
    // The first pass may still be reading the API key. To that read the clock jumps, and the next attempt, which shares it, waits for its lease again.
    await eventually(async () => {
      advance(31_000)
      await fixture.dispatcher.tick()
      return (await fixture.webhooks.get(tenant.caller, id)).state === 'delivered'
    }, 'it is delivered without the retired key')
  })

  test('`reseal` moves it to a new master key', async () => {
    // Rows of other tests that cannot be opened.
    await fixture.harness.database.query('delete from webhook_keys')
    const { kid } = await create(tenant)
    const fresh = randomBytes(32).toString('base64')
    const wireWith = (masterKey: string) =>
      createWire(
        loadConfig({
          ...TEST_LIMITS,
          DATABASE_URL: fixture.harness.database.url,
          MASTER_KEY: masterKey,
          LOG_LEVEL: 'fatal',
        }),
        { role: 'test', clock: fixture.harness.clock },
      )
    const [both, alone] = [wireWith(`${fresh}\n${TEST_MASTER_KEY}`), wireWith(fresh)]
    const owner = { tenantId: tenant.tenantId, livemode: false }
    assert.equal(await alone.webhooks.webhookKeys.findKeySet(owner), undefined)
    await createSecrets(both).reseal(() => {})
    const afterwards = await alone.webhooks.webhookKeys.findKeySet(owner)
    assert.deepEqual(
      afterwards?.keys.map((key) => key.kid),
      [kid],
    )
    assert.deepEqual(
      [...(await both.webhooks.webhookKeys.countByMasterKey()).keys()],
      [both.platform.vault.currentKeyId],
    )
    for (const wire of [both, alone]) await wire.close()
  })
})
