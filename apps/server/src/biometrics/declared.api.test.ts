/** Models that a tenant declares: their vectors have 128 to 512 entries, and only that tenant has them. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createHarness } from '../testing/harness.ts'
import type { Declaration } from './declaration.ts'
import { type Client, createClient, createFaces, feature } from './testing/faces.ts'

const NAME = 'OURS_256'
const OURS: Declaration = { name: NAME, length: 256, threshold: 0.5, slope: 13.7 }
const UNKNOWN = { status: -1, message: 'Unknown model version' }
const NOT_ENROLLED = 'User not enrolled'
const MAX_AGE_MS = 5_000
const faces = createFaces(17)
let tenantId: string
let client: Client
const harness = await createHarness()
const stranger = createClient(harness, (await harness.tenantWithKey({ scopes: ['node:*'] })).key)
/** A tenant for each test: it may declare a few models only. */
beforeEach(async () => {
  const { tenantId: id, key } = await harness.tenantWithKey({ scopes: ['node:*'] })
  tenantId = id
  client = createClient(harness, key)
  await declare(OURS)
})

async function declare(declaration: Declaration, tenant = tenantId) {
  const declared = await harness.wire.biometrics.models.declare(tenant, declaration)
  passCacheTime()
  return declared
}

async function remove(name: string): Promise<void> {
  await harness.wire.biometrics.models.remove(tenantId, name)
  passCacheTime()
}

/** Declarations are cached for five seconds. */
function passCacheTime(): void {
  harness.clock.advance(MAX_AGE_MS + 1)
}

async function enrol(face: readonly number[], version = NAME, more: object = {}, by = client): Promise<string> {
  const { http, body } = await by.post('plainEnroll', { version, features: feature(face), ...more })
  assert.deepEqual([http, body.status, body.message], [200, 0, 'Ok'], JSON.stringify(body))
  return body.puid
}

const predict = async (face: readonly number[], version = NAME, more: object = {}, by = client) =>
  (await by.post('plainPredict', { version, features: feature(face), ...more })).body

async function deleteUser(puid: string, version = NAME): Promise<unknown> {
  const sealed = await client.seal('deleteUser', puid, { modelVersion: version })
  return (await client.post(`${version}/deleteUser`, { puid: sealed })).body
}
const DELETED = { status: 200, message: 'delete successful' }

describe('a declared model of 256 entries', () => {
  test('[E-003] plain: enrol, duplicate, predict, K, user_identifier, replay, delete', async () => {
    const face = faces.person(256)
    const puid = await enrol(face, NAME, { metadata: { id: 'plain-256' } })
    const again = await client.post('plainEnroll', { version: NAME, features: feature(faces.sample(face, 0.9)) })
    assert.deepEqual([again.body.message, again.body.puid], ['User Already Enrolled', puid])
    const found = await predict(faces.sample(face, 0.95))
    assert.deepEqual([found.status, found.puid, found.score, found.replay], [0, puid, 0.99, undefined])
    assert.equal((await predict(face)).replay, true)
    assert.equal((await predict(face, NAME, { K: 3 })).PI_list[0].puid, puid)
    assert.equal((await predict(face, NAME, { user_identifier: 'plain-256' })).puid, puid)
    assert.equal((await predict(faces.person(256))).message, NOT_ENROLLED)
    assert.deepEqual(await deleteUser(puid), DELETED)
    assert.equal((await predict(face)).message, NOT_ENROLLED)
  })

  test('[E-003] encrypted: enrol, predict, delete; the envelope is for this version only', async () => {
    const face = faces.person(256)
    const of = { modelVersion: NAME }
    const pictures = [face, faces.sample(face, 0.9), faces.sample(face, 0.9)]
    const features = await client.sealed('enroll', pictures, of)
    const { http, body } = await client.post(`${NAME}/enroll`, { features })
    assert.deepEqual([http, body.status, body.message, body.enroll_level, body.score], [200, 0, 'Ok', 2, 1])
    const { puid } = await client.opened(body)
    const probe = await client.sealed('predict', [faces.sample(face, 0.95)], of)
    const predicted = await client.post(`${NAME}/predict`, { features: probe, user_identifier: body.puid })
    assert.equal((await client.opened(predicted.body)).puid, puid)
    const foreign = await client.sealed('predict', [face], { modelVersion: 'FACE3_1' })
    const refused = await client.post(`${NAME}/predict`, { features: foreign })
    const message = 'Features could not be decrypted: the envelope is for another model version'
    assert.deepEqual([refused.http, refused.body], [400, { status: -2, message }])
    const deleted = await client.post(`${NAME}/deleteUser`, { puid: body.puid })
    assert.deepEqual([deleted.http, deleted.body], [200, DELETED])
    const gone = await client.post(`${NAME}/predict`, { features: await client.sealed('predict', [face], of) })
    assert.deepEqual([gone.http, gone.body.message], [200, NOT_ENROLLED])
  })

  test('[E-003] another length is 400, -2, on every endpoint, 127 and 513 with every version', async () => {
    for (const [version, length] of [
      [NAME, 256],
      ['FACE3_1', 128],
      ['FACE3_3', 512],
    ] as const) {
      for (const wrong of [127, 128, 255, 256, 257, 512, 513].filter((one) => one !== length)) {
        const expected = {
          status: -2,
          message: `Features are not valid: embedding_vector must have ${length} entries for ${version}`,
        }
        for (const purpose of ['enroll', 'predict'] as const) {
          const plain = await client.post(purpose === 'enroll' ? 'plainEnroll' : 'plainPredict', {
            version,
            features: feature(faces.person(wrong)),
          })
          assert.deepEqual([plain.http, plain.body], [400, expected])
          const features = await client.sealed(purpose, [faces.person(wrong)], { modelVersion: version })
          const sealed = await client.post(`${version}/${purpose}`, { features })
          assert.deepEqual([sealed.http, sealed.body], [400, expected])
        }
      }
    }
  })

  test('bad embeddings are filtered by the declared numbers', async () => {
    const strict = { ...OURS, name: 'STRICT', consistent: 0.5 }
    const lax = { ...OURS, name: 'LAX', consistent: 0.2 }
    await declare(strict)
    await declare(lax)
    const face = faces.person(256)
    const pictures = [face, faces.sample(face, 0.35)]
    for (const [name, http] of [
      ['STRICT', 400],
      ['LAX', 200],
    ] as const) {
      const features = await client.sealed('enroll', pictures, { modelVersion: name })
      const reply = await client.post(`${name}/enroll`, { features })
      assert.equal(reply.http, http, JSON.stringify(reply.body))
    }
    const flat = feature(Array.from({ length: 256 }, () => 0.1))
    const { body } = await client.post('plainEnroll', { version: NAME, features: flat })
    assert.deepEqual(body, { status: 152, message: 'Face enrollment failed: no feature is usable' })
  })

  test('score and replay follow the declared numbers', async () => {
    await harness.wire.settings.service.set(tenantId, { nodeScores: 'exact' })
    await declare({ ...OURS, name: 'SOFT', threshold: 0.3, slope: 5, replay: 0.9 })
    const face = faces.person(256)
    await enrol(face, 'SOFT')
    const found = await predict(faces.sample(face, 0.6), 'SOFT')
    assert.ok(Math.abs(found.score - 1 / (1 + Math.exp(-5 * 0.3))) < 0.002, String(found.score))
    assert.equal(found.replay, undefined)
    assert.equal((await predict(faces.sample(face, 0.92), 'SOFT')).replay, true)
    assert.equal((await predict(faces.sample(face, 0.25), 'SOFT')).message, NOT_ENROLLED)
    await harness.wire.settings.service.set(tenantId, { nodeScores: null })
  })

  test('the budget of a person counts hits, and misses from the declared bound on', async () => {
    await declare({ ...OURS, name: 'COUNTED', near: 0.2 })
    const wanted = { livemode: true, name: 'live', scopes: ['node:*'], allowedIps: [], usagePlanId: 'unmetered' }
    const live = createClient(harness, (await harness.wire.keys.service.createKey(tenantId, wanted)).api_key)
    const face = faces.person(256)
    await enrol(face, 'COUNTED', {}, live)
    const probe = feature(faces.sample(face, 0.3))
    let refused = 0
    for (let i = 0; i < 100; i++) {
      const { http } = await live.post('plainPredict', { version: 'COUNTED', features: probe })
      if (http === 429) refused++
    }
    assert.ok(refused >= 5, `${refused} of 100 misses near one person were refused`)
  })
})

describe('who has a declared model', () => {
  test('another tenant gets the answer of an unknown version, plain and encrypted', async () => {
    const face = faces.person(256)
    for (const version of [NAME, 'NOWHERE']) {
      for (const [path, purpose] of [
        ['plainEnroll', 'enroll'],
        ['plainPredict', 'predict'],
      ] as const) {
        const plain = await stranger.post(path, { version, features: feature(face) })
        assert.deepEqual([plain.http, plain.body], [400, UNKNOWN])
        const features = await stranger.sealed(purpose, [face], { modelVersion: version })
        const sealed = await stranger.post(`${version}/${purpose}`, { features })
        assert.deepEqual([sealed.http, sealed.body], [400, UNKNOWN])
      }
      const puid = await stranger.seal('deleteUser', 'x', { modelVersion: version })
      const deleted = await stranger.post(`${version}/deleteUser`, { puid })
      assert.deepEqual([deleted.http, deleted.body], [400, UNKNOWN])
    }
  })

  test('two tenants may give one name to different models, and their people stay apart', async () => {
    const { tenantId: otherId, key } = await harness.tenantWithKey({ scopes: ['node:*'] })
    const other = createClient(harness, key)
    await declare({ ...OURS, name: 'SHARED_NAME', length: 130 })
    await declare({ ...OURS, name: 'SHARED_NAME', length: 140 }, otherId)
    const [mine, theirs] = [faces.person(130), faces.person(140)]
    await enrol(mine, 'SHARED_NAME')
    await enrol(theirs, 'SHARED_NAME', {}, other)
    assert.equal((await predict(mine, 'SHARED_NAME', {}, other)).status, -2)
    assert.equal((await predict(theirs, 'SHARED_NAME', {}, other)).status, 0)
  })

  test('both modes have it, with people of their own', async () => {
    const wanted = { livemode: true, name: 'live', scopes: ['node:*'], allowedIps: [], usagePlanId: 'unmetered' }
    const live = createClient(harness, (await harness.wire.keys.service.createKey(tenantId, wanted)).api_key)
    const face = faces.person(256)
    await enrol(face)
    assert.equal((await predict(face, NAME, {}, live)).message, NOT_ENROLLED)
    await enrol(face, NAME, {}, live)
  })

  test('a name that breaks the pattern is an unknown version, in the path as in the body', async () => {
    for (const version of ['a-b', 'x'.repeat(33), 'constructor', '__proto__', 'toString']) {
      const plain = await client.post('plainPredict', { version, features: feature(faces.person(256)) })
      assert.deepEqual([plain.http, plain.body], [400, UNKNOWN])
      const sealed = await client.post(`${version}/predict`, { features: 'x' })
      assert.deepEqual([sealed.http, sealed.body], [400, UNKNOWN])
    }
  })

  test('a person has one name over all versions, and a deletion takes all versions', async () => {
    const [ours, builtIn] = [faces.person(256), faces.person('FACE3_3')]
    const puid = await enrol(ours, NAME, { metadata: { id: 'in-both' } })
    assert.equal(await enrol(builtIn, 'FACE3_3', { metadata: { id: 'in-both' } }), puid)
    assert.deepEqual(await deleteUser(puid, 'FACE3_1'), DELETED)
    assert.equal((await predict(ours)).message, NOT_ENROLLED)
    assert.equal((await predict(builtIn, 'FACE3_3')).message, NOT_ENROLLED)
    const left = await harness.database.query(
      'select 1 from face_templates where person_id = $1 union all select 1 from face_vectors where person_id = $1',
      [puid],
    )
    assert.equal(left.rowCount, 0)
  })
})

describe('declaring', () => {
  test('a process serves it within five seconds, and forgets it within five seconds', async () => {
    const { models } = harness.wire.biometrics
    const face = faces.person(200)
    assert.equal((await predict(face, 'LATER')).message, UNKNOWN.message)
    await models.declare(tenantId, { ...OURS, name: 'LATER', length: 200 })
    passCacheTime()
    assert.equal((await predict(face, 'LATER')).message, NOT_ENROLLED)
    await models.remove(tenantId, 'LATER')
    passCacheTime()
    assert.equal((await predict(face, 'LATER')).message, UNKNOWN.message)
  })

  test('again with the same values is fine, with others refused', async () => {
    const { model, isNew } = await harness.wire.biometrics.models.declare(tenantId, OURS)
    assert.deepEqual([isNew, model.length, model.threshold, model.slope], [false, 256, 0.5, 13.7])
    for (const change of [{ length: 257 }, { threshold: 0.6 }, { slope: 14 }, { near: 0.1 }]) {
      await assert.rejects(declare({ ...OURS, ...change }), /is declared with other values/)
    }
  })

  test('eight models at most', async () => {
    const { tenantId: crowded } = await harness.tenantWithKey({ scopes: ['node:*'] })
    for (let i = 1; i <= 8; i++) await declare({ ...OURS, name: `M${i}` }, crowded)
    await assert.rejects(declare({ ...OURS, name: 'M9' }, crowded), /at most 8 models/)
    assert.equal((await declare({ ...OURS, name: 'M8' }, crowded)).isNew, false)
  })

  test('the database refuses what the service would', async () => {
    const insert = `insert into face_models select tenant_id, $1, model_id, $2, identify_min, slope, near_min, consistent_min, replay_min, created_at
      from face_models where tenant_id = $3 and name = $4`
    for (const [name, length] of [
      ['FACE3_3', 256],
      ['face3_x', 256],
      ['a-b', 256],
      ['N127', 127],
      ['N513', 513],
    ]) {
      await assert.rejects(harness.database.query(insert, [name, length, tenantId, NAME]), { code: '23514' })
    }
  })

  test('a model is removed only when nobody is enrolled in it, live or test', async () => {
    await declare({ ...OURS, name: 'BRIEF', length: 300 })
    const face = faces.person(300)
    const puid = await enrol(face, 'BRIEF')
    await assert.rejects(remove('BRIEF'), /is in use/)
    assert.equal((await predict(face, 'BRIEF')).puid, puid)
    assert.deepEqual(await deleteUser(puid, 'BRIEF'), DELETED)
    await remove('BRIEF')
    assert.equal((await predict(face, 'BRIEF')).message, UNKNOWN.message)
    await assert.rejects(remove('BRIEF'), /There is no such model/)
    await assert.rejects(remove('FACE3_3'), /There is no such model/)
    await declare({ ...OURS, name: 'BRIEF', length: 301 })
    await enrol(faces.person(301), 'BRIEF')
  })

  test('a process that still knows a removed model, or the one before it of the same name, enrols nobody', async () => {
    const { models } = harness.wire.biometrics
    const old = { ...OURS, name: 'CHANGED', length: 310 }
    await declare(old)
    const face = faces.person(310)
    assert.equal((await predict(face, 'CHANGED')).message, NOT_ENROLLED)
    await models.remove(tenantId, 'CHANGED')
    const removed = await client.post('plainEnroll', { version: 'CHANGED', features: feature(face) })
    assert.deepEqual([removed.http, removed.body], [400, UNKNOWN])
    await models.declare(tenantId, { ...old, length: 311 })
    const replaced = await client.post('plainEnroll', { version: 'CHANGED', features: feature(face) })
    assert.deepEqual([replaced.http, replaced.body], [400, UNKNOWN])
    passCacheTime()
    await enrol(faces.person(311), 'CHANGED')
  })

  test('enrolments at the moment of the removal: either somebody is enrolled and the model stays, or both are gone', async () => {
    const { models } = harness.wire.biometrics
    for (let round = 0; round < 8; round++) {
      const name = `RACE_${round % 2}`
      await declare({ ...OURS, name, length: 128 })
      await predict(faces.person(128), name)
      const [enrolled, removed] = await Promise.all([
        client.post('plainEnroll', { version: name, features: feature(faces.person(128)) }),
        models.remove(tenantId, name).then(
          () => true,
          () => false,
        ),
      ])
      assert.equal(enrolled.http === 200, !removed, JSON.stringify(enrolled.body))
      if (!removed) {
        assert.deepEqual(await deleteUser(enrolled.body.puid, name), DELETED)
        await models.remove(tenantId, name)
      }
    }
  })
})

describe('how it is stored', () => {
  test('the search copy has 512 entries, the sealed copy stays sealed, statistics and a rebuild know the model', async () => {
    await declare({ ...OURS, name: 'KEPT', length: 384 })
    const face = faces.person(384)
    const puid = await enrol(face, 'KEPT')
    const { rows } = await harness.database.query(
      `select vector_dims(v.embedding) as entries, length(t.sealed_vector) as sealed from face_vectors v
       join face_templates t using (tenant_id, livemode, version, seq) where v.person_id = $1`,
      [puid],
    )
    // Half floats, with nonce and tag.
    assert.deepEqual(rows, [{ entries: 512, sealed: 384 * 2 + 12 + 16 }])
    const stats = await harness.wire.biometrics.vectorPartitions.stats()
    const [space] = stats.filter(({ version }) => version === 'KEPT')
    assert.deepEqual([space?.tenantId, space?.livemode, space?.vectors], [tenantId, false, 1])
    const found = await predict(faces.sample(face, 0.8), 'KEPT')
    await harness.database.query(`delete from face_vectors where version = 'KEPT'`)
    assert.equal((await predict(face, 'KEPT')).message, NOT_ENROLLED)
    const { vectorPartitions } = harness.wire.biometrics
    assert.equal(
      await vectorPartitions.reindex(
        ({ version }) => version === 'KEPT',
        () => {},
      ),
      1,
    )
    assert.deepEqual((await predict(faces.sample(face, 0.8), 'KEPT')).puid, found.puid)
  })

  test('every length: the cosine of the padded vectors is that of the vectors', async () => {
    const { tenantId: id, key } = await harness.tenantWithKey({ scopes: ['node:*'] })
    const other = createClient(harness, key)
    await harness.wire.settings.service.set(id, { nodeScores: 'exact' })
    const lengths = [128, 129, 191, 200, 255, 257, 333, 400, 511, 512]
    for (const length of lengths) {
      const name = `N${length}`
      await declare({ name, length, threshold: 0.4, slope: 10 }, id)
      const [face, someoneElse] = [faces.person(length), faces.person(length)]
      const puid = await enrol(face, name, {}, other)
      const elsewhere = await enrol(someoneElse, name, {}, other)
      assert.notEqual(puid, elsewhere)
      for (const cosine of [0.45, 0.6, 0.85]) {
        const found = await predict(faces.sample(face, cosine), name, {}, other)
        const expected = 1 / (1 + Math.exp(-10 * (cosine - 0.4)))
        assert.equal(found.puid, puid, `${length} entries`)
        assert.ok(Math.abs(found.score - expected) < 0.003, `${length} entries: ${found.score}, not ${expected}`)
      }
      assert.equal((await predict(face, name, {}, other)).replay, true, `${length} entries: sent again`)
      assert.equal((await predict(faces.sample(face, 0.35), name, {}, other)).message, NOT_ENROLLED)
      const deleted = await other.seal('deleteUser', puid, { modelVersion: name })
      assert.deepEqual((await other.post(`${name}/deleteUser`, { puid: deleted })).body, DELETED)
      const left = await other.seal('deleteUser', elsewhere, { modelVersion: name })
      await other.post(`${name}/deleteUser`, { puid: left })
      await harness.wire.biometrics.models.remove(id, name)
    }
  })
})
