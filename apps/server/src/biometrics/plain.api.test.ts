/** The plain endpoints of area E: they take face vectors and answer ids without encryption. sealed.api.test.ts tests the encrypted ones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createHarness } from '../testing/harness.ts'
import { between, createClient, createFaces, feature } from './testing/faces.ts'

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** The whole answer of plainPredict for a face that nobody of the group has. */
const NOT_ENROLLED = { status: -1, statusCode: 200, message: 'User not enrolled', puid: '-1', guid: '-1', score: -1 }
const faces = createFaces(3)
const harness = await createHarness()
const { tenantId, key } = await harness.tenantWithKey({ scopes: ['node:*'] })
const { post } = createClient(harness, key)

/** The answer of plainEnroll. plainPredict adds a score. */
function ok(puid: string, guid: string, message = 'Ok') {
  return { status: 0, statusCode: 200, message, puid, guid, enroll_level: 1 }
}

/** Enrols a face that is not enrolled yet: the message is Ok, not User Already Enrolled. `features` is one Feature object, despite its name. */
async function enrol(face: readonly number[], otherFields: object = {}): Promise<{ puid: string; guid: string }> {
  const { http, body } = await post('plainEnroll', { features: feature(face), ...otherFields })
  const { puid, guid } = body
  assert.deepEqual([http, body], [200, ok(puid, guid)])
  assert.match(puid, ID)
  assert.match(guid, ID)
  return { puid, guid }
}

describe('POST /node/plainEnroll answers 200', () => {
  test('[E-002] [E-005] [E-011] [E-012] [E-018] [E-019] [E-031] [E-055] a new user gets Ok, puid, guid and enroll_level', async () => {
    const body = { api_key: key, version: 'FACE3_3', features: feature(faces.person()) }
    const reply = await post('plainEnroll', body, {})
    const { puid, guid } = reply.body
    assert.deepEqual([reply.http, reply.body], [200, ok(puid, guid)])
    assert.match(puid, ID)
    assert.match(guid, ID)
    assert.notEqual(puid, guid)
    const other = await enrol(faces.person())
    assert.deepEqual([other.guid, other.puid === puid], [guid, false], 'another person of the same group')
  })

  test('[E-030] another picture of an enrolled face gets the ids of the existing user', async () => {
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    const { http, body } = await post('plainEnroll', { features: feature(faces.sample(face, 0.7)) })
    assert.deepEqual([http, body], [200, ok(puid, guid, 'User Already Enrolled')])
  })

  test('[E-025] the default of version is FACE3_3', async () => {
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    for (const version of ['FACE3_3', null]) {
      const { body } = await post('plainEnroll', { version, features: feature(face) })
      assert.deepEqual(body, ok(puid, guid, 'User Already Enrolled'))
    }
    const stored = await harness.database.query('select version from face_templates where person_id = $1', [puid])
    assert.deepEqual(stored.rows, [{ version: 'FACE3_3' }])
  })

  test('[E-003] 128 entries are accepted for FACE3_1 and 512 for FACE3_3, and vectors need not have length 1', async () => {
    const face = faces.person('FACE3_1')
    const { puid, guid } = await enrol(face, { version: 'FACE3_1' })
    const scaled = feature(face.map((value) => value * 1e200))
    const { body } = await post('plainEnroll', { version: 'FACE3_1', features: scaled })
    assert.deepEqual(body, ok(puid, guid, 'User Already Enrolled'))
    await enrol(faces.person('FACE3_3'), { version: 'FACE3_3' })
  })

  test('[E-006] metadata may be there with id, without id, or not at all', async () => {
    await enrol(faces.person(), { metadata: { id: 'staff-1' } })
    await enrol(faces.person(), { metadata: { id: 'x'.repeat(256) } })
    await enrol(faces.person(), { metadata: {} })
    await enrol(faces.person(), { metadata: null })
    await enrol(faces.person())
  })

  test('test keys and live keys see different persons and groups', async () => {
    const wanted = { livemode: true, name: 'live', scopes: ['node:*'], allowedIps: [], usagePlanId: 'unmetered' }
    const live = createClient(harness, (await harness.wire.keys.service.createKey(tenantId, wanted)).api_key)
    const features = feature(faces.person())
    const { puid, guid } = await enrol(features.embedding_vector)
    assert.deepEqual((await live.post('plainPredict', { features })).body, NOT_ENROLLED)
    const { body } = await live.post('plainEnroll', { features })
    assert.deepEqual(body, ok(body.puid, body.guid))
    assert.notEqual(body.puid, puid)
    assert.notEqual(body.guid, guid)
    assert.equal((await post('plainPredict', { features })).body.puid, puid)
    assert.deepEqual((await live.post('plainPredict', { features, user_identifier: puid })).body, NOT_ENROLLED)
  })

  // The specification lists ROT13 for the plain endpoints and does not say where it applies (docs/decisions/0001-spec-gaps.md).
  test('x-encoding rot13 writes puid and guid in ROT13, for a new user and for an existing one', async () => {
    const headers = { 'x-api-key': key, 'x-encoding': 'rot13' }
    const features = feature(faces.person())
    const first = await post('plainEnroll', { features }, headers)
    const { puid, guid } = (await post('plainEnroll', { features })).body
    const [encodedPuid, encodedGuid] = [inRot13(puid), inRot13(guid)]
    assert.notEqual(encodedPuid, puid)
    assert.deepEqual([first.http, first.body], [200, ok(encodedPuid, encodedGuid)])
    const again = await post('plainEnroll', { features }, headers)
    assert.deepEqual(again.body, ok(encodedPuid, encodedGuid, 'User Already Enrolled'))
  })
})

describe('POST /node/plainEnroll binds metadata.id, the caller’s own id for a person', () => {
  /** The puid if this face belongs to the person with this metadata.id, otherwise -1. */
  const identify = (face: readonly number[], user_identifier: string) =>
    post('plainPredict', { features: feature(face), user_identifier }).then(({ body }) => body.puid)

  test('a metadata.id that nobody has is bound to the person who is already enrolled', async () => {
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    assert.equal(await identify(face, 'late-id'), '-1')
    const { body } = await post('plainEnroll', { features: feature(face), metadata: { id: 'late-id' } })
    assert.deepEqual(body, ok(puid, guid, 'User Already Enrolled'))
    assert.equal(await identify(face, 'late-id'), puid)
  })

  test('a person keeps the metadata.id that was bound first, and a metadata.id keeps its person', async () => {
    const [face, other] = [faces.person(), faces.person()]
    const { puid, guid } = await enrol(face, { metadata: { id: 'first-id' } })
    const { puid: otherPuid } = await enrol(other, { metadata: { id: 'id-of-other' } })
    for (const id of ['second-id', 'id-of-other']) {
      const { body } = await post('plainEnroll', { features: feature(face), metadata: { id } })
      assert.deepEqual(body, ok(puid, guid, 'User Already Enrolled'))
      assert.equal(await identify(face, id), '-1')
    }
    assert.equal(await identify(face, 'first-id'), puid)
    assert.equal(await identify(other, 'id-of-other'), otherPuid)
  })

  test('[E-058] another face with a metadata.id in use is refused with 400 and status 152, and is not enrolled', async () => {
    const [face, second] = [faces.person(), faces.person()]
    const { puid } = await enrol(face, { metadata: { id: 'one-face' } })
    const { http, body } = await post('plainEnroll', { features: feature(second), metadata: { id: 'one-face' } })
    const message = 'Face enrollment failed: metadata.id is bound to another face'
    assert.deepEqual([http, body], [400, { status: 152, message }])
    assert.deepEqual((await post('plainPredict', { features: feature(second) })).body, NOT_ENROLLED)
    assert.equal(await identify(face, 'one-face'), puid)
  })

  test('two faces with one metadata.id, one for each model version, are one person', async () => {
    const metadata = { id: 'both-versions' }
    const [small, large] = [faces.person('FACE3_1'), faces.person('FACE3_3')]
    const { puid, guid } = await enrol(small, { version: 'FACE3_1', metadata })
    assert.deepEqual(await enrol(large, { version: 'FACE3_3', metadata }), { puid, guid })
    for (const [version, face] of [
      ['FACE3_1', small],
      ['FACE3_3', large],
    ] as const) {
      const { body } = await post('plainPredict', { version, features: feature(face), user_identifier: metadata.id })
      assert.deepEqual(body, { ...ok(puid, guid), score: body.score, replay: true })
    }
    const stored = 'select version from face_templates where person_id = $1 order by version'
    assert.deepEqual((await harness.database.query(stored, [puid])).rows, [
      { version: 'FACE3_1' },
      { version: 'FACE3_3' },
    ])
  })
})

describe('POST /node/plainPredict answers 200', () => {
  test('[E-012] [E-013] [E-014] [E-021] [E-022] [E-036] [E-055] an enrolled user gets Ok, ids, enroll_level and a numeric score', async () => {
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    const { http, body } = await post('plainPredict', { features: feature(faces.sample(face, 0.8)) })
    assert.deepEqual([http, body], [200, { ...ok(puid, guid), score: 0.9 }])
  })

  test('[E-013] [E-014] [E-038] [E-039] [E-056] an unknown face gets 200 with -1 as status, puid, guid and score', async () => {
    const { http, body } = await post('plainPredict', { features: feature(faces.person()) })
    assert.deepEqual([http, body], [200, NOT_ENROLLED])
  })

  test('[E-025] the default of version is FACE3_3; a person enrolled in one version is not found in the other', async () => {
    const features = feature(faces.person())
    const { puid, guid } = await enrol(features.embedding_vector)
    const { body } = await post('plainPredict', { features })
    assert.deepEqual(body, { ...ok(puid, guid), score: body.score, replay: true })
    assert.deepEqual((await post('plainPredict', { version: 'FACE3_3', features })).body, body)
    const first128 = feature(features.embedding_vector.slice(0, 128))
    assert.deepEqual((await post('plainPredict', { version: 'FACE3_1', features: first128 })).body, NOT_ENROLLED)
  })

  test('[E-007] the default of K is 1, also for null', async () => {
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    const features = feature(faces.sample(face, 0.98))
    const { body } = await post('plainPredict', { features, K: 1 })
    assert.deepEqual(body, { ...ok(puid, guid), score: 0.99 })
    assert.deepEqual((await post('plainPredict', { features })).body, body)
    assert.deepEqual((await post('plainPredict', { features, K: null })).body, body)
  })

  test('[E-037] K above 1 gives PI_list, the best person first, and no ids beside the list', async () => {
    const first = faces.person()
    const second = faces.sample(first, 0.3)
    const [one, two] = [await enrol(first), await enrol(second)]
    const probe = between(first, second, 0.7)
    for (const K of [2, 50]) {
      const { http, body } = await post('plainPredict', { features: feature(probe), K })
      const PI_list = [
        { ...one, score: 0.99 },
        { ...two, score: 0.5 },
      ]
      assert.deepEqual([http, body], [200, { status: 0, statusCode: 200, message: 'Ok', PI_list }])
    }
  })

  test('[E-037] [E-038] [E-039] with K above 1 an unknown face gets -1 as puid, guid and score too, beside an empty PI_list', async () => {
    const { http, body } = await post('plainPredict', { features: feature(faces.person()), K: 3 })
    assert.deepEqual([http, body], [200, { ...NOT_ENROLLED, PI_list: [] }])
  })

  test('[E-008] user_identifier, a puid or a metadata.id, compares the face with that person only', async () => {
    const first = faces.person()
    const second = faces.sample(first, 0.3)
    const one = await enrol(first, { metadata: { id: 'named' } })
    const two = await enrol(second)
    const features = feature(between(first, second, 0.6))
    const recognised = async (otherFields: object) => {
      const { http, body } = await post('plainPredict', { features, ...otherFields })
      assert.deepEqual([http, body], [200, { ...ok(body.puid, one.guid), score: body.score }])
      return body.puid
    }
    assert.equal(await recognised({}), one.puid)
    assert.equal(await recognised({ user_identifier: null }), one.puid)
    assert.equal(await recognised({ user_identifier: one.puid }), one.puid)
    assert.equal(await recognised({ user_identifier: 'named' }), one.puid)
    assert.equal(await recognised({ user_identifier: two.puid }), two.puid)
    for (const user_identifier of ['nobody', 'Named', one.guid]) {
      assert.deepEqual((await post('plainPredict', { features, user_identifier })).body, NOT_ENROLLED)
    }
    const wrongPerson = { features: feature(first), user_identifier: two.puid }
    assert.deepEqual((await post('plainPredict', wrongPerson)).body, NOT_ENROLLED, 'the face of someone else')
  })

  test('x-encoding rot13 writes ids in ROT13, in the list too, and leaves -1 alone', async () => {
    const headers = { 'x-api-key': key, 'x-encoding': 'rot13' }
    const face = faces.person()
    const { puid, guid } = await enrol(face)
    const ids = { puid: inRot13(puid), guid: inRot13(guid) }
    const { body } = await post('plainPredict', { features: feature(face) }, headers)
    assert.deepEqual(body, { ...ok(ids.puid, ids.guid), score: body.score, replay: true })
    const { body: many } = await post('plainPredict', { features: feature(face), K: 2 }, headers)
    assert.deepEqual(many.PI_list, [{ ...ids, score: body.score }])
    assert.deepEqual((await post('plainPredict', { features: feature(faces.person()) }, headers)).body, NOT_ENROLLED)
  })

  test('x-encoding rot13 reads a puid in ROT13 as user_identifier', async () => {
    const headers = { 'x-api-key': key, 'x-encoding': 'rot13' }
    const features = feature(faces.person())
    const { puid } = (await post('plainEnroll', { features }, headers)).body
    const { body } = await post('plainPredict', { features, user_identifier: puid }, headers)
    assert.equal(body.puid, puid)
  })
})

describe('the plain endpoints refuse with 400', () => {
  const refused = async (path: string, body: object, status: number, message: string) => {
    const reply = await post(path, body)
    assert.deepEqual([reply.http, reply.body], [400, { status, message }])
  }

  test('[E-051] [E-057] [E-060] enrol without features', async () => {
    for (const body of [{}, { features: null }, { features: '' }, { version: 'FACE3_1' }]) {
      await refused('plainEnroll', body, -2, 'Enrollment Failed Features not provided.')
    }
  })

  test('[E-057] [E-060] predict without features', async () => {
    for (const body of [{}, { features: null }, { features: '' }, { K: 2 }]) {
      await refused('plainPredict', body, -2, 'Prediction Failed Features not provided.')
    }
  })

  test('[E-002] [E-003] [E-005] [E-060] features is not a Feature object, or its vector does not fit the version', async () => {
    const face = faces.person()
    const ofLength = (count: number) => ({
      type: 'face',
      embedding_vector: Array.from({ length: count }, () => Math.PI),
    })
    const withEntry = (value: unknown) => ({ type: 'face', embedding_vector: [...face.slice(1), value] })
    const cases: [features: unknown, reason: string, version?: string][] = [
      [[feature(face)], 'a Feature is an object'],
      ['face', 'a Feature is an object'],
      [7, 'a Feature is an object'],
      [{ embedding_vector: face }, 'type must be a text'],
      [{ type: 1, embedding_vector: face }, 'type must be a text'],
      [{ type: 'x'.repeat(65), embedding_vector: face }, 'type must be a text'],
      [{ type: 'face' }, 'embedding_vector must be an array of numbers'],
      [{ type: 'face', embedding_vector: 'face' }, 'embedding_vector must be an array of numbers'],
      [ofLength(127), 'embedding_vector must have 128 entries for FACE3_1', 'FACE3_1'],
      [ofLength(129), 'embedding_vector must have 128 entries for FACE3_1', 'FACE3_1'],
      [ofLength(513), 'embedding_vector must have 128 entries for FACE3_1', 'FACE3_1'],
      [ofLength(127), 'embedding_vector must have 512 entries for FACE3_3'],
      [ofLength(511), 'embedding_vector must have 512 entries for FACE3_3'],
      [ofLength(513), 'embedding_vector must have 512 entries for FACE3_3'],
      [withEntry('0.1'), 'embedding_vector must hold finite numbers only'],
      [withEntry(null), 'embedding_vector must hold finite numbers only'],
      [withEntry(true), 'embedding_vector must hold finite numbers only'],
      [feature(face.map(() => 0)), 'embedding_vector must not be all zero'],
    ]
    for (const [features, reason, version = 'FACE3_3'] of cases) {
      for (const path of ['plainEnroll', 'plainPredict']) {
        await refused(path, { version, features }, -2, `Features are not valid: ${reason}`)
      }
    }
  })

  test('[E-032] [E-058] a vector of equal entries is a bad embedding: enrolment is refused with 152; prediction finds nobody', async () => {
    for (const value of [0.5, -0.5]) {
      const features = feature(Array.from({ length: 512 }, () => value))
      await refused('plainEnroll', { features }, 152, 'Face enrollment failed: no feature is usable')
      assert.deepEqual((await post('plainPredict', { features })).body, NOT_ENROLLED)
    }
  })

  test('[E-025] [E-056] [E-060] a version that is not served', async () => {
    const features = feature(faces.person())
    for (const version of ['FACE3_2', 'face3_3', '', 3, {}]) {
      await refused('plainEnroll', { version, features }, -1, 'Unknown model version')
      await refused('plainPredict', { version, features }, -1, 'Unknown model version')
    }
  })

  test('[E-056] [E-060] other fields with wrong values', async () => {
    const features = feature(faces.person())
    const identifier = 'user_identifier must be a text of 1 to 2048 characters'
    const id = 'metadata.id must be a text of 1 to 256 characters'
    const cases: [path: string, otherFields: object, reason: string][] = [
      ...[0, 51, -1, 1.5, '2', true].map((K): [string, object, string] => [
        'plainPredict',
        { K },
        'K must be a whole number from 1 to 50',
      ]),
      ['plainPredict', { user_identifier: '' }, identifier],
      ['plainPredict', { user_identifier: 5 }, identifier],
      ['plainPredict', { user_identifier: 'x'.repeat(2049) }, identifier],
      ['plainEnroll', { metadata: 'id' }, 'metadata must be an object'],
      ['plainEnroll', { metadata: ['id'] }, 'metadata must be an object'],
      ['plainEnroll', { metadata: { id: 'a', name: 'b' } }, 'metadata may hold id only'],
      ['plainEnroll', { metadata: { id: '' } }, id],
      ['plainEnroll', { metadata: { id: 5 } }, id],
      ['plainEnroll', { metadata: { id: 'x'.repeat(257) } }, id],
      ['plainEnroll', { K: 1 }, 'a field is not known here; known are api_key, version, features, metadata'],
      [
        'plainPredict',
        { metadata: {} },
        'a field is not known here; known are api_key, version, features, K, user_identifier',
      ],
    ]
    for (const [path, otherFields, reason] of cases)
      await refused(path, { features, ...otherFields }, -1, `Invalid request: ${reason}`)
  })

  test('an x-encoding other than rot13', async () => {
    const body = { features: feature(faces.person()) }
    for (const path of ['plainEnroll', 'plainPredict']) {
      const reply = await post(path, body, { 'x-api-key': key, 'x-encoding': 'base64' })
      const message = 'Invalid request: x-encoding must be rot13 or absent'
      assert.deepEqual([reply.http, reply.body], [400, { status: -1, message }])
    }
  })
})

/** An id in ROT13. Ids are hexadecimal, so the only letters are a to f. */
function inRot13(id: string): string {
  return id.replace(/[a-f]/g, (letter) => 'nopqrs'['abcdef'.indexOf(letter)] ?? '')
}
