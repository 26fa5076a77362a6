import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { BuiltInVersion } from '@ostiary/contract'
import { createHarness } from '../testing/harness.ts'
import { THRESHOLDS } from './models.ts'
import { judge } from './quality.ts'
import { between, createClient, createFaces, feature } from './testing/faces.ts'
import { normalise } from './vector.ts'

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const COMPACT_JWE = /^[\w-]+\.\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/
const STRANGER = { status: -1, message: 'User not enrolled', puid: '-1', guid: '-1', score: '-1' }
const faces = createFaces(5)
const harness = await createHarness()
const tenant = await harness.tenantWithKey({ scopes: ['node:*'] })
const tenantId = tenant.tenantId
const client = createClient(harness, tenant.key)

type Pictures = readonly (readonly number[])[]

async function call(
  op: 'enroll' | 'predict',
  pictures: Pictures,
  more: object = {},
  version: BuiltInVersion = 'FACE3_1',
) {
  const features = await client.sealed(op, pictures, { modelVersion: version })
  return client.post(`${version}/${op}`, { features, ...more })
}

/** Enrols pictures of a new person and returns the ids in clear and the level. */
async function enrol(pictures: Pictures, version: BuiltInVersion = 'FACE3_1', more: object = {}) {
  const { http, body } = await call('enroll', pictures, more, version)
  assert.equal(http, 200)
  const { puid, guid, enroll_level } = await client.opened(body)
  assert.deepEqual(await client.opened(body), { status: 0, message: 'Ok', enroll_level, puid, guid, score: 1 })
  return { puid, guid, enroll_level }
}

async function stored(puid: string): Promise<number> {
  const count = (table: string) =>
    harness.database.query(`select count(*)::int as count from ${table} where person_id = $1`, [puid])
  const [templates, vectors] = [await count('face_templates'), await count('face_vectors')]
  assert.deepEqual(vectors.rows, templates.rows, 'each template has its search copy')
  return templates.rows[0].count
}

async function refused(path: string, body: object, status: number, message: string, headers = {}): Promise<void> {
  const reply = await client.post(path, body, { 'x-api-key': client.key, ...headers })
  assert.deepEqual([reply.http, reply.body], [400, { status, message }])
}

describe('POST /node/{version}/enroll answers 200', () => {
  test('[E-004] [E-012] [E-016] [E-017] [E-043] [E-055] a new user gets level, score and encrypted ids', async () => {
    const features = await client.sealed('enroll', [faces.person('FACE3_1')])
    const { http, body } = await client.post('FACE3_1/enroll', { api_key: client.key, features }, {})
    const { puid, guid } = body
    assert.deepEqual([http, body], [200, { status: 0, message: 'Ok', enroll_level: 1, puid, guid, score: 1 }])
    assert.match(puid, COMPACT_JWE)
    assert.match(guid, COMPACT_JWE)
    const ids = await client.opened({ puid, guid })
    assert.match(ids.puid, ID)
    assert.match(ids.guid, ID)
    const persons = await harness.database.query('select 1 from face_persons where person_id = $1', [ids.puid])
    const groups = await harness.database.query('select 1 from face_groups where guid = $1', [ids.guid])
    assert.deepEqual([persons.rowCount, groups.rowCount], [1, 1])
  })

  test('[E-029] a duplicate is answered with the existing user: the same ids once decrypted, in new envelopes', async () => {
    const face = faces.person('FACE3_1')
    const first = await call('enroll', [face])
    const { puid, guid } = await client.opened(first.body)
    const { http, body } = await call('enroll', [faces.sample(face)])
    assert.equal(http, 200)
    const known = { status: 0, message: 'User Already Enrolled', enroll_level: 1, puid, guid, score: body.score }
    assert.deepEqual(await client.opened(body), known)
    assert.equal(body.score, 0.9)
    assert.notEqual(body.puid, first.body.puid)
    assert.equal(await stored(puid), 1, 'the duplicate adds nothing')
  })

  test('[E-024] each version is served under its name, and the path without one is FACE3_1', async () => {
    const face = faces.person('FACE3_1')
    const features = await client.sealed('enroll', [face])
    const { http, body } = await client.post('enroll', { features })
    const { puid, guid } = await client.opened(body)
    const reply = { status: 0, message: 'Ok', enroll_level: 1, puid, guid, score: 1 }
    assert.deepEqual([http, await client.opened(body)], [200, reply])
    const named = await call('predict', [face])
    const found = await client.opened(named.body)
    assert.deepEqual(found, { status: 0, message: 'Ok', puid, guid, enroll_level: 1, score: found.score, replay: true })
    const unnamed = await client.post('predict', { features: await client.sealed('predict', [face]) })
    assert.deepEqual(await client.opened(unnamed.body), found)
    const other = await enrol([faces.person('FACE3_3')], 'FACE3_3')
    assert.deepEqual([other.guid, other.puid === puid], [guid, false])
    const gone = await client.post('deleteUser', { puid: body.puid })
    assert.deepEqual([gone.http, gone.body], [200, { status: 200, message: 'delete successful' }])
  })

  test('[E-027] x-encryption-version is 1 when absent', async () => {
    const face = faces.person('FACE3_1')
    const { puid } = await enrol([face])
    for (const more of [{}, { 'x-encryption-version': '1' }]) {
      const headers = { 'x-api-key': client.key, ...more }
      const enrolled = await client.post('enroll', { features: await client.sealed('enroll', [face]) }, headers)
      const predicted = await client.post('predict', { features: await client.sealed('predict', [face]) }, headers)
      assert.equal(await client.open('puid', enrolled.body.puid), puid)
      assert.equal(await client.open('puid', predicted.body.puid), puid)
    }
  })

  test('[E-028] x-correlation-id is echoed and logged; one that is not plain is ignored', async () => {
    const face = faces.person('FACE3_1')
    const id = `trace:${randomUUID()}`
    const send = async (headers: object) =>
      client.post(
        'enroll',
        { features: await client.sealed('enroll', [face]) },
        { 'x-api-key': client.key, ...headers },
      )
    const { http, headers } = await send({ 'x-correlation-id': id })
    assert.deepEqual([http, headers['x-correlation-id']], [200, id])
    const lines = harness
      .logged()
      .split('\n')
      .filter((line) => line.includes(id))
    const [{ operation, status, correlationId }] = lines.map((line) => JSON.parse(line))
    assert.deepEqual([lines.length, operation, status, correlationId], [1, 'nodeEnroll', 200, id])
    for (const unusable of ['two words-zqzq', `long-zqzq${'x'.repeat(120)}`, 'quote"zqzq', '']) {
      const reply = await send({ 'x-correlation-id': unusable })
      assert.deepEqual([reply.http, reply.headers['x-correlation-id']], [200, undefined])
    }
    assert.ok(!harness.logged().includes('zqzq'))
    assert.equal((await send({ 'x-correlation-id': 'x'.repeat(128) })).headers['x-correlation-id'], 'x'.repeat(128))
  })

  test('[E-032] bad embeddings are filtered out and the good ones of the same call are enrolled', async () => {
    const face = faces.person()
    const pictures = [faces.sample(face), faces.flat('FACE3_3', 0.99), face, faces.person(), faces.sample(face)]
    const { puid, enroll_level } = await enrol(pictures, 'FACE3_3')
    assert.deepEqual([await stored(puid), enroll_level], [3, 2])
    assert.deepEqual((await call('predict', [pictures[3] ?? []], {}, 'FACE3_3')).body, STRANGER)
  })

  test('[E-033] an embedding is bad from 0.8 on: a flat one', async () => {
    const limit = 0.9 + 0.01 * Math.log(4)
    const badness = (vector: number[]) => judge([unit(vector)], THRESHOLDS.FACE3_3)[0]?.badness ?? 0
    const [under, over] = [faces.flat('FACE3_3', limit - 1e-6), faces.flat('FACE3_3', limit + 1e-6)]
    assert.ok(badness(under) > 0.7999 && badness(under) < 0.8)
    assert.ok(badness(over) >= 0.8 && badness(over) < 0.8001)
    const features = await client.sealed('enroll', [over], { modelVersion: 'FACE3_3' })
    await refused('FACE3_3/enroll', { features }, 152, 'Face enrollment failed: no feature is usable')
    const { puid } = await enrol([under], 'FACE3_3')
    assert.equal(await stored(puid), 1)
  })

  test('[E-033] an embedding is bad from 0.8 on: one that is not of the person whom the others show', async () => {
    const limit = THRESHOLDS.FACE3_3.consistentMin
    for (const [off, low, high, kept] of [
      [1e-6, 0.7999, 0.8, 3],
      [-1e-6, 0.8, 0.8001, 2],
    ] as const) {
      const face = faces.person()
      const pictures = [face, faces.sample(face, 0.9), faces.sample(face, limit + off)]
      const [, , odd] = judge(pictures.map(unit), THRESHOLDS.FACE3_3)
      assert.ok(odd && odd.badness >= low && odd.badness < high, String(odd?.badness))
      const { puid } = await enrol(pictures, 'FACE3_3')
      assert.equal(await stored(puid), kept)
    }
  })

  test('[E-012] enroll_level is 1 for one or two good vectors, 2 from three, 3 from five', async () => {
    const levels: number[] = []
    for (const count of [1, 2, 3, 4, 5, 10]) {
      const face = faces.person('FACE3_1')
      const { puid, enroll_level } = await enrol(Array.from({ length: count }, () => faces.sample(face, 0.99)))
      assert.equal(await stored(puid), count)
      const { body } = await call('predict', [face])
      assert.equal(body.enroll_level, enroll_level)
      levels.push(enroll_level)
    }
    assert.deepEqual(levels, [1, 1, 2, 2, 3, 3])
  })
})

describe('POST /node/{version}/predict answers 200', () => {
  test('[E-013] [E-014] [E-020] [E-036] [E-043] [E-055] a recognised user, with a number as score', async () => {
    const face = faces.person('FACE3_1')
    const { puid, guid } = await enrol([face])
    const { http, body } = await call('predict', [faces.sample(face), faces.sample(face)])
    const found = { status: 0, message: 'Ok', puid, guid, enroll_level: 1, score: body.score }
    assert.deepEqual([http, await client.opened(body)], [200, found])
    assert.match(body.puid, COMPACT_JWE)
    assert.match(body.guid, COMPACT_JWE)
    assert.equal(body.score, 0.99)
  })

  test('[E-007] without K it is K 1', async () => {
    const face = faces.person('FACE3_1')
    const { puid, guid } = await enrol([face])
    for (const more of [{}, { K: 1 }]) {
      const { body } = await call('predict', [face], more)
      const opened = await client.opened(body)
      const found = { status: 0, message: 'Ok', puid, guid, enroll_level: 1, score: 0.99, replay: true }
      assert.deepEqual(opened, found)
    }
  })

  test('[E-013] [E-014] [E-038] [E-039] [E-056] a stranger has -1 everywhere, the score as text', async () => {
    const { http, body } = await call('predict', [faces.person('FACE3_1')])
    assert.deepEqual([http, body, Number(body.score)], [200, STRANGER, -1])
  })

  test('[E-037] [E-039] [E-043] K above 1 gives a list of persons with encrypted ids, the best first', async () => {
    const first = faces.person('FACE3_1')
    const second = faces.sample(first, 0.94)
    const one = await enrol([first, faces.sample(first, 0.999)])
    const two = await enrol([second])
    const { http, body } = await call('predict', [between(first, second, 0.6)], { K: 3 })
    const PI_list = await Promise.all(body.PI_list.map(client.opened))
    const expected = [one, two].map(({ puid, guid }, i) => ({ puid, guid, score: PI_list[i].score }))
    assert.deepEqual([http, { ...body, PI_list }], [200, { status: 0, message: 'Ok', PI_list: expected }])
    for (const row of body.PI_list) assert.match(row.puid + row.guid, /^[\w.-]+$/)
    const scores = PI_list.map(({ score }) => score)
    assert.ok(scores[0] > scores[1] && scores[1] > 0.5 && scores[0] < 1, String(scores))
    const unknown = await call('predict', [faces.person('FACE3_1')], { K: 2 })
    assert.deepEqual([unknown.http, unknown.body], [200, { ...STRANGER, PI_list: [] }])
  })

  test('[E-008] user_identifier may be the encrypted puid, the puid in clear or metadata.id', async () => {
    const face = faces.person('FACE3_1')
    const other = await enrol([faces.person('FACE3_1')])
    const sealed = (await call('enroll', [face], { metadata: { id: 'sealed-name' } })).body.puid
    const puid = await client.open('puid', sealed)
    for (const user_identifier of [sealed, puid, 'sealed-name']) {
      const { body } = await call('predict', [face], { user_identifier })
      assert.equal(await client.open('puid', body.puid), puid)
    }
    const wrong = [await client.seal('puid', other.puid), await client.seal('deleteUser', puid)]
    for (const user_identifier of [other.puid, ...wrong, 'nobody']) {
      assert.deepEqual((await call('predict', [face], { user_identifier })).body, STRANGER)
    }
  })
})

describe('POST /node/{version}/enroll and /predict answer 400', () => {
  const UNREADABLE = 'Features could not be decrypted: '
  const each = async (check: (op: 'enroll' | 'predict', other: 'enroll' | 'predict') => Promise<void>) => {
    await check('enroll', 'predict')
    await check('predict', 'enroll')
  }
  const face = faces.person('FACE3_1')

  test('[E-051] [E-057] without features', async () => {
    for (const body of [{}, { features: null }, { features: '' }]) {
      await refused('FACE3_1/enroll', body, -2, 'Enrollment Failed Features not provided.')
      await refused('FACE3_1/predict', body, -2, 'Prediction Failed Features not provided.')
    }
  })

  test('[E-004] [E-016] features that are not one text, or hold no array of Feature objects', () =>
    each(async (op) => {
      const path = `FACE3_1/${op}`
      for (const features of [[feature(face)], feature(face), 7]) {
        const reason = 'on this endpoint features are one encrypted text'
        await refused(path, { features }, -2, `Features are not valid: ${reason}`)
      }
      const many = Array.from({ length: 11 }, () => feature(face))
      for (const [content, reason] of [
        [feature(face), 'the decrypted text must be an array of 1 to 10 Feature objects'],
        [[], 'the decrypted text must be an array of 1 to 10 Feature objects'],
        [many, 'the decrypted text must be an array of 1 to 10 Feature objects'],
        [[face], 'a Feature is an object'],
        [[feature(face), { type: 'face' }], 'embedding_vector must be an array of numbers'],
        [[feature(face.slice(1))], 'embedding_vector must have 128 entries for FACE3_1'],
      ] as const) {
        const features = await client.seal(op, JSON.stringify(content))
        await refused(path, { features }, -2, `Features are not valid: ${reason}`)
      }
      const features = await client.seal(op, '[{')
      await refused(path, { features }, -2, 'Features are not valid: the decrypted text is not JSON')
    }))

  test('[E-042] an envelope of another key, also of the same tenant', () =>
    each(async (op) => {
      const wanted = { livemode: false, name: 'other', scopes: ['node:*'], allowedIps: [], usagePlanId: 'unmetered' }
      const ours = (await harness.wire.keys.service.createKey(tenantId, wanted)).api_key
      const theirs = (await harness.tenantWithKey({ scopes: ['node:*'] })).key
      for (const other of [createClient(harness, ours), createClient(harness, theirs)]) {
        const features = await other.sealed(op, [face])
        const message = `${UNREADABLE}the envelope does not open with this API key`
        await refused(`FACE3_1/${op}`, { features }, -2, message)
        assert.equal((await other.post(`FACE3_1/${op}`, { features })).http, 200, 'its own key opens it')
      }
    }))

  test('an envelope for another operation or model version, or none at all', () =>
    each(async (op, other) => {
      const path = `FACE3_1/${op}`
      const wrongOp = await client.sealed(other, [face])
      await refused(path, { features: wrongOp }, -2, `${UNREADABLE}the envelope is for another operation`)
      const wrongModel = await client.sealed(op, [face], { modelVersion: 'FACE3_3' })
      for (const wrongPath of [path, op]) {
        const message = `${UNREADABLE}the envelope is for another model version`
        await refused(wrongPath, { features: wrongModel }, -2, message)
      }
      const compact = await client.sealed(op, [face])
      for (const features of ['garbage', `${compact}.x`, compact.slice(0, -1), JSON.stringify([feature(face)])]) {
        await refused(path, { features }, -2, `${UNREADABLE}this is no compact JWE`)
      }
      const bent = compact.replace(/\.(.)([\w-]+)$/, (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`)
      await refused(path, { features: bent }, -2, `${UNREADABLE}the envelope does not open with this API key`)
    }))

  test('an envelope made more than five minutes ago or ahead', () =>
    each(async (op) => {
      const now = Math.floor(harness.clock.now().getTime() / 1000)
      for (const issuedAt of [now - 301, now + 301]) {
        const features = await client.sealed(op, [face], { issuedAt })
        const message = `${UNREADABLE}the envelope was made more than 5 minutes from now`
        await refused(`FACE3_1/${op}`, { features }, -2, message)
      }
      for (const issuedAt of [now - 300, now + 300]) {
        const features = await client.sealed(op, [face], { issuedAt })
        assert.equal((await client.post(`FACE3_1/${op}`, { features })).http, 200)
      }
    }))

  test('an envelope that was used before, or another one with its jti', () =>
    each(async (op) => {
      const id = randomUUID()
      const features = await client.sealed(op, [face], { id })
      const both = await Promise.all([1, 2].map(() => client.post(`FACE3_1/${op}`, { features })))
      assert.deepEqual(both.map(({ http }) => http).sort(), [200, 400], 'of two at once one is taken')
      const message = `${UNREADABLE}the envelope was used before`
      await refused(`FACE3_1/${op}`, { features }, -2, message)
      await refused(`FACE3_1/${op}`, { features: await client.sealed(op, [face], { id }) }, -2, message)
    }))

  test('[E-024] [E-027] a model version or encryption version that is not served', async () => {
    const puid = await client.seal('deleteUser', randomUUID())
    for (const [op, body] of [
      ['enroll', { features: await client.sealed('enroll', [face]) }],
      ['predict', { features: await client.sealed('predict', [face]) }],
      ['deleteUser', { puid }],
    ] as const) {
      await refused(`FACE3_2/${op}`, body, -1, 'Unknown model version')
      for (const version of ['2', '0', '1.0', 'one', '']) {
        const headers = { 'x-encryption-version': version }
        await refused(`FACE3_1/${op}`, body, -2, 'Unknown encryption version', headers)
      }
    }
  })

  test('[E-032] [E-058] two features of different people: none can be trusted, 152', async () => {
    const features = await client.sealed('enroll', [face, faces.person('FACE3_1')])
    await refused('FACE3_1/enroll', { features }, 152, 'Face enrollment failed: the features are not of one person')
  })
})

function unit(values: readonly number[]): Float64Array {
  const vector = normalise(values)
  assert.ok(vector)
  return vector
}
