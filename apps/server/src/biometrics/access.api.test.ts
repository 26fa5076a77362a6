import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { OPERATIONS } from '@ostiary/contract'
import { formatApiKey } from '@ostiary/crypto'
import type { LightMyRequestResponse } from 'fastify'
import type { NewKey } from '../keys/index.ts'
import { createHarness } from '../testing/harness.ts'
import { CHECK, type Client, createClient, createFaces, feature, PATHS } from './testing/faces.ts'

const faces = createFaces(7)
const SCOPES = ['node:*']
const harness = await createHarness()
const client = createClient(harness, (await harness.tenantWithKey({ scopes: SCOPES })).key)

type Path = (typeof PATHS)[number]

/** A body with which each endpoint does its work for this client, without the key. */
async function working(path: Path, by: Client): Promise<object> {
  if (path === CHECK) return {}
  if (path.startsWith('plain')) return { features: feature(faces.person()) }
  if (path.endsWith('enroll')) return { features: await by.sealed('enroll', [faces.person('FACE3_1')]) }
  if (path.endsWith('predict')) return { features: await by.sealed('predict', [faces.person('FACE3_1')]) }
  const { body } = await by.post('enroll', { features: await by.sealed('enroll', [faces.person('FACE3_1')]) })
  return { puid: body.puid }
}

const SUCCESS: Record<Path, { status: number; message: string; statusCode?: number }> = {
  [CHECK]: { status: 0, message: 'API Key is valid' },
  plainEnroll: { status: 0, statusCode: 200, message: 'Ok' },
  plainPredict: { status: -1, statusCode: 200, message: 'User not enrolled' },
  'FACE3_1/enroll': { status: 0, message: 'Ok' },
  'FACE3_1/predict': { status: -1, message: 'User not enrolled' },
  'FACE3_1/deleteUser': { status: 200, message: 'delete successful' },
}
const MISSING = [400, { status: -1, message: 'Missing api key' }]
const REJECTED = [403, { status: -1, message: 'Failed to check api key' }]

function assertReply(response: LightMyRequestResponse, http: number, body: object): void {
  assert.deepEqual([response.statusCode, response.json()], [http, body])
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
}

/** Everything that area E has stored, as text. */
async function everything(): Promise<string> {
  const tables = ['face_groups', 'face_spaces', 'face_persons', 'face_templates', 'face_vectors', 'used_envelopes']
  const dumps = tables.map((name) => harness.database.query(`select t::text from ${name} t order by 1`))
  return JSON.stringify((await Promise.all(dumps)).map(({ rows }) => rows))
}

describe('the API key on all six endpoints', () => {
  test('[E-011] [E-015] [E-023] [E-026] [E-045] [E-055] is enough in the header alone or in the body alone', async () => {
    for (const path of PATHS) {
      for (const [more, headers] of [
        [{}, { 'x-api-key': client.key }],
        [{ api_key: client.key }, {}],
        [{ api_key: client.key }, { 'x-api-key': client.key }],
        [{ api_key: null }, { 'x-api-key': client.key }],
        [{ api_key: '' }, { 'x-api-key': client.key }],
        [{ api_key: client.key }, { 'x-api-key': '' }],
      ] as const) {
        const { http, body } = await client.post(path, { ...(await working(path, client)), ...more }, headers)
        const { status, message, statusCode } = body
        const plain = statusCode !== undefined && { statusCode }
        assert.deepEqual([http, { status, message, ...plain }], [200, SUCCESS[path]], path)
      }
    }
    const { body } = await client.post(CHECK, { api_key: client.key }, {})
    assert.deepEqual(body, { status: 0, message: 'API Key is valid' })
  })

  test('[E-044] [E-048] [E-049] [E-056] [E-060] a call without one is answered 400 and does nothing', async () => {
    for (const path of PATHS) {
      const body = await working(path, client)
      const before = await everything()
      for (const more of [{}, { api_key: null }, { api_key: '' }]) {
        const reply = await client.post(path, { ...body, ...more }, {})
        assert.deepEqual([reply.http, reply.body], MISSING, path)
      }
      assert.equal(await everything(), before)
    }
  })

  test('[E-044] [E-046] [E-048] [E-050] [E-061] one that does not exist is answered 403 and does nothing', async () => {
    const wrong = [
      formatApiKey({ livemode: false, bucket: 3 }, randomBytes(32)),
      `${client.key.slice(0, -1)}${client.key.endsWith('0') ? '1' : '0'}`,
      'key',
      'x'.repeat(5000),
      5,
      true,
      [client.key],
      { key: client.key },
    ]
    for (const path of PATHS) {
      const body = await working(path, client)
      const before = await everything()
      for (const api_key of wrong) {
        const inBody = await client.post(path, { ...body, api_key }, {})
        assert.deepEqual([inBody.http, inBody.body], REJECTED, path)
        const both = await client.post(path, { ...body, api_key })
        assert.deepEqual([both.http, both.body], REJECTED, `${path}: differs from the header`)
        if (typeof api_key !== 'string') continue
        const inHeader = await client.post(path, body, { 'x-api-key': api_key })
        assert.deepEqual([inHeader.http, inHeader.body], REJECTED, path)
        harness.clock.advance(60_000)
      }
      harness.clock.advance(60_000)
      assert.equal(await everything(), before)
    }
  })

  test('[E-047] [E-050] [E-061] one that is not active, or is for something else, is answered 403', async () => {
    const { service: keys } = harness.wire.keys
    const { tenantId, record: revoked } = await harness.tenantWithKey({ scopes: SCOPES })
    const wanted: NewKey = { livemode: false, name: 'more', scopes: SCOPES, allowedIps: [] }
    const rotated = await keys.createKey(tenantId, wanted)
    await keys.revokeKey(revoked.id)
    await keys.rotateKey(rotated.id, 0)
    const suspended = await harness.tenantWithKey({ scopes: SCOPES })
    await keys.setTenantStatus(suspended.tenantId, 'suspended')
    const otherScope = await keys.createKey(tenantId, { ...wanted, scopes: ['strings:rw', 'verify:write'] })
    const elsewhere = await keys.createKey(tenantId, { ...wanted, allowedIps: ['192.0.2.0/24'] })
    const second = await keys.createKey(tenantId, wanted)
    assert.equal((await client.post(CHECK, {}, { 'x-api-key': second.api_key })).http, 200)
    for (const path of PATHS) {
      const body = await working(path, client)
      for (const key of [revoked.api_key, rotated.api_key, suspended.key, otherScope.api_key, elsewhere.api_key]) {
        for (const reply of [
          await client.post(path, body, { 'x-api-key': key }),
          await client.post(path, { ...body, api_key: key }, {}),
        ]) {
          assert.deepEqual([reply.http, reply.body], REJECTED, path)
        }
      }
      harness.clock.advance(60_000)
      const two = await client.post(path, { ...body, api_key: second.api_key })
      assert.deepEqual([two.http, two.body], REJECTED, 'two valid keys that differ')
    }
    harness.clock.advance(60_000)
  })

  test('[E-047] one that is revoked while in use stops working', async () => {
    const { key, record } = await harness.tenantWithKey({ scopes: SCOPES })
    const user = createClient(harness, key)
    assert.equal((await user.post(CHECK, {})).http, 200)
    await harness.wire.keys.service.revokeKey(record.id)
    harness.clock.advance(5_001)
    for (const path of PATHS) {
      const reply = await user.post(path, {})
      assert.deepEqual([reply.http, reply.body], REJECTED, path)
    }
  })
})

describe('the API key record', () => {
  test('[E-009] has the fields of the specification, the optional ones only when they were given', async () => {
    const { tenantId } = await harness.tenantWithKey()
    const wanted = { livemode: true, name: 'node', scopes: SCOPES, allowedIps: [] }
    const given = { customerId: 'c-7', apiId: 'a-7', usagePlanId: 'plus', productCode: 'p-7' }
    const [bare, full] = [
      await harness.wire.keys.service.createKey(tenantId, wanted),
      await harness.wire.keys.service.createKey(tenantId, { ...wanted, ...given }),
    ]
    const now = harness.clock.now().toISOString()
    const common = ({ id, api_key }: { id: string; api_key: string }) => ({
      id,
      api_key,
      status: 'active',
      when_created: now,
      last_updated: now,
      tenant_id: tenantId,
      livemode: true,
      name: 'node',
      scopes: SCOPES,
      allowed_ips: [],
    })
    const optional = { customer_id: 'c-7', api_id: 'a-7', usage_plan_id: 'plus', product_code: 'p-7' }
    assert.deepEqual(bare, common(bare))
    assert.deepEqual(full, { ...common(full), ...optional })
    for (const { id, api_key } of [bare, full]) {
      assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      assert.match(api_key, /^ost_live_\w{40,}$/)
    }
    const listed = await harness.wire.keys.service.listKeys(tenantId)
    assert.deepEqual(
      listed.slice(1),
      [bare, full].map((key) => ({ ...key, api_key: `ost_live_…${key.api_key.slice(-4)}` })),
    )
  })

  test('[E-010] no two records hold the same key: the store refuses it', async () => {
    const { record } = await harness.tenantWithKey({ scopes: SCOPES })
    const other = await harness.tenantWithKey({ scopes: SCOPES })
    assert.notEqual(record.api_key, other.record.api_key)
    const copy = 'update api_keys set lookup_hash = (select lookup_hash from api_keys where id = $1) where id = $2'
    await assert.rejects(harness.database.query(copy, [record.id, other.record.id]), {
      code: '23505',
      constraint: 'api_keys_by_lookup_hash',
    })
  })
})

describe('the paths of area E', () => {
  const inject = (method: 'GET' | 'PUT' | 'POST', url: string) =>
    harness.inject({ method, url, headers: { 'x-api-key': client.key } })

  test('[E-001] [E-048] every path is under /node at whatever host name; others there are 404, other methods 405', async () => {
    const served = Object.values(OPERATIONS).filter(({ area }) => area === 'E')
    assert.deepEqual(
      served.map(({ method, path }) => `${method} ${path.replace(':version', 'FACE3_1')}`).sort(),
      PATHS.map((path) => `POST /node/${path}`).sort(),
    )
    for (const path of PATHS) {
      for (const host of ['customer-one.node.example', 'customer-two.node.example:8443']) {
        const { http } = await client.post(path, await working(path, client), { 'x-api-key': client.key, host })
        assert.equal(http, 200)
      }
      assert.equal((await inject('POST', `/${path}`)).statusCode, 404, 'not without the prefix')
      for (const method of ['GET', 'PUT'] as const) {
        const response = await inject(method, `/node/${path}`)
        assertReply(response, 405, { status: 400, message: 'This path does not take this method' })
        assert.equal(response.headers.allow, 'POST')
      }
    }
    for (const url of [
      '/node/',
      '/node/nothing',
      '/node/FACE3_1',
      '/node/FACE3_1/enroll/more',
      '/node/a/b?c=/node/enroll',
    ]) {
      assertReply(await inject('POST', url), 404, { status: 400, message: 'There is nothing at this path' })
    }
    assertReply(await inject('POST', '/node/%zz/enroll'), 400, {
      status: 400,
      message: 'The request cannot be read',
    })
  })
})

describe('rate limits', () => {
  const TOO_MANY = [429, { status: -1, message: 'Too many requests' }]
  const remote = (remoteAddress: string, api_key: string) =>
    harness.inject({ method: 'POST', url: `/node/${CHECK}`, remoteAddress, payload: { api_key } })

  test('[E-064] each key has a burst of ten seconds per kind of call and mode, then 429 until time has passed', async () => {
    const kinds = [
      { paths: [CHECK], live: 5, test: 5 },
      { paths: ['plainEnroll', 'FACE3_1/enroll', 'enroll'], live: 20, test: 5 },
      { paths: ['plainPredict', 'FACE3_3/predict', 'predict'], live: 50, test: 10 },
      { paths: ['FACE3_1/deleteUser', 'FACE3_3/deleteUser', 'deleteUser'], live: 10, test: 5 },
    ]
    for (const mode of ['live', 'test'] as const) {
      const wanted = { scopes: SCOPES, livemode: mode === 'live', usagePlanId: 'standard' }
      const user = createClient(harness, (await harness.tenantWithKey(wanted)).key)
      const idle = createClient(harness, (await harness.tenantWithKey(wanted)).key)
      for (const { paths, [mode]: perSecond } of kinds) {
        const [path = ''] = paths
        const allowed = async (among: readonly string[]) => {
          for (let count = 0; ; count++) {
            const { http, body, headers } = await user.post(among[count % among.length] ?? '', {})
            if (http !== 429) continue
            assert.deepEqual([http, body, headers['retry-after']], [...TOO_MANY, '1'])
            return count
          }
        }
        assert.equal(await allowed(paths), perSecond * 10, `${mode} ${path}`)
        assert.equal(await allowed(paths), 0)
        assert.notEqual((await idle.post(path, {})).http, 429, 'another key has its own')
        harness.clock.advance(1_000)
        assert.equal(await allowed(paths), perSecond, 'what one second gives back')
      }
    }
  })

  test('[E-064] ten wrong keys a minute from one address may be checked, then 429; a valid key still works', async () => {
    const here = '198.51.100.7'
    const wrong = () => remote(here, formatApiKey({ livemode: false, bucket: 9 }, randomBytes(32)))
    const revoked = await harness.tenantWithKey({ scopes: SCOPES })
    await harness.wire.keys.service.revokeKey(revoked.record.id)
    for (let i = 0; i < 8; i++) assertReply(await wrong(), 403, { status: -1, message: 'Failed to check api key' })
    for (const key of [revoked.key, 'no key']) {
      assertReply(await remote(here, key), 403, { status: -1, message: 'Failed to check api key' })
    }
    const refused = await wrong()
    assertReply(refused, 429, { status: -1, message: 'Too many requests' })
    assert.equal(refused.headers['retry-after'], '6')
    assertReply(await remote(here, client.key), 200, { status: 0, message: 'API Key is valid' })
    assert.equal((await remote('198.51.100.8', 'no key')).statusCode, 403, 'another address has its own')
    harness.clock.advance(6_000)
    assert.equal((await wrong()).statusCode, 403)
    assert.equal((await wrong()).statusCode, 429)
  })
})

describe('tenants', () => {
  test('[E-014] the same face in two tenants is two unrelated persons, and no puid of one works in the other', async () => {
    const other = createClient(harness, (await harness.tenantWithKey({ scopes: SCOPES })).key)
    const face = faces.person('FACE3_1')
    const plain = { version: 'FACE3_1', features: feature(face) }
    const metadata = { id: 'shared-name' }
    const { body: own } = await client.post('plainEnroll', { ...plain, metadata })
    const unknown = { status: -1, message: 'User not enrolled', puid: '-1', guid: '-1' }
    assert.deepEqual((await other.post('plainPredict', plain)).body, { ...unknown, statusCode: 200, score: -1 })
    const probe = async (by: Client) =>
      (await by.post('predict', { features: await by.sealed('predict', [face]) })).body
    assert.deepEqual(await probe(other), { ...unknown, score: '-1' })

    const { body: theirs } = await other.post('plainEnroll', { ...plain, metadata })
    assert.deepEqual(theirs, { ...own, puid: theirs.puid, guid: theirs.guid })
    assert.equal(theirs.message, 'Ok')
    assert.notEqual(theirs.puid, own.puid)
    assert.notEqual(theirs.guid, own.guid)
    assert.equal(
      (await other.post('plainPredict', { ...plain, user_identifier: 'shared-name' })).body.puid,
      theirs.puid,
    )

    const sealed = (await probe(client)).puid
    for (const user_identifier of [own.puid, sealed, await other.seal('puid', own.puid)]) {
      const { body } = await other.post('plainPredict', { ...plain, user_identifier })
      assert.deepEqual(body, { ...unknown, statusCode: 200, score: -1 })
      const features = await other.sealed('predict', [face])
      assert.deepEqual((await other.post('predict', { features, user_identifier })).body, { ...unknown, score: '-1' })
    }
    const before = await everything()
    for (const puid of [
      sealed,
      own.puid,
      await other.seal('deleteUser', own.puid),
      await other.seal('puid', own.puid),
    ]) {
      const { http, body } = await other.post('deleteUser', { puid })
      assert.deepEqual([http, body], [400, { status: 400, message: 'delete failed' }])
    }
    assert.equal(await everything(), before)
  })
})

describe('the search copy', () => {
  test('a vector of another tenant, mode or version is never found, not even on the same partition', async () => {
    const [own, other] = [
      await harness.tenantWithKey({ scopes: SCOPES }),
      await harness.tenantWithKey({ scopes: SCOPES }),
    ]
    const user = createClient(harness, own.key)
    const features = feature(faces.person())
    const { puid } = (await user.post('plainEnroll', { features })).body
    for (const [tenant, mode, version] of [
      [other.tenantId, false, 'FACE3_3'],
      [own.tenantId, true, 'FACE3_3'],
      [own.tenantId, false, 'FACE3_1'],
    ]) {
      const copy = `insert into face_vectors select shelf, $2, $3, $4, seq + 100, person_id, enroll_level, embedding
        from face_vectors where person_id = $1 and tenant_id = $5 and not livemode and version = 'FACE3_3'`
      assert.equal((await harness.database.query(copy, [puid, tenant, mode, version, own.tenantId])).rowCount, 1)
    }
    assert.equal((await user.post('plainPredict', { features })).body.puid, puid)
    const remove = `delete from face_vectors where tenant_id = $1 and not livemode and version = 'FACE3_3'`
    assert.equal((await harness.database.query(remove, [own.tenantId])).rowCount, 1)
    for (const more of [{}, { K: 9 }, { user_identifier: puid }]) {
      const { body } = await user.post('plainPredict', { features, ...more })
      assert.equal(body.message, 'User not enrolled')
    }
    assert.equal((await user.post('plainEnroll', { features })).body.message, 'Ok')
  })
})
