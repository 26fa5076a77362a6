import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createHarness } from '../testing/harness.ts'
import { createClient, createFaces, feature } from './testing/faces.ts'

const DELETED = [200, { status: 200, message: 'delete successful' }]
const FAILED = [400, { status: 400, message: 'delete failed' }]
const STRANGER = { status: -1, message: 'User not enrolled', puid: '-1', guid: '-1', score: '-1' }
const faces = createFaces(11)
const unusable = (reason: string) => [400, { status: -2, message: `PUID could not be used: ${reason}` }]
const harness = await createHarness()
const tenant = await harness.tenantWithKey({ scopes: ['node:*'] })
const tenantId = tenant.tenantId
const client = createClient(harness, tenant.key)

/** Enrols pictures of a new person; returns the ids as the reply gave them. */
async function enrol(pictures: readonly (readonly number[])[], metadata?: object) {
  const features = await client.sealed('enroll', pictures)
  const { http, body } = await client.post('FACE3_1/enroll', { features, ...(metadata && { metadata }) })
  assert.deepEqual([http, body.message], [200, 'Ok'])
  return body as { puid: string; guid: string }
}

async function remove(body: object, path = 'FACE3_1/deleteUser') {
  const reply = await client.post(path, body)
  return [reply.http, reply.body]
}

const predict = async (face: readonly number[]) =>
  (await client.post('FACE3_1/predict', { features: await client.sealed('predict', [face]) })).body

/** Every row of every table that holds faces, as the text in which PostgreSQL would dump it. */
async function dump(): Promise<string[]> {
  const tables = await harness.database.query(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname like 'face\\_%'`,
  )
  const names: string[] = tables.rows.map(({ relname }) => relname)
  assert.ok(names.includes('face_persons') && names.includes('face_templates_0') && names.includes('face_vectors_0'))
  const rows = await Promise.all(
    names.map((name) => harness.database.query(`select '${name} ' || t::text as line from ${name} t`)),
  )
  return rows.flatMap((result) => result.rows.map(({ line }) => line)).sort()
}

/** Everything that the store holds of a person, in the form of a dump. */
async function traces(puid: string): Promise<string[]> {
  const found = await harness.database.query(
    `select p.person_id::text as id, p.wrapped_key::text as key, p.external_ref::text as ref,
       array(select sealed_vector::text from face_templates t where t.person_id = p.person_id) as sealed,
       array(select embedding::text from face_vectors v where v.person_id = p.person_id) as embeddings
     from face_persons p where p.person_id = $1`,
    [puid],
  )
  const { id, key, ref, sealed, embeddings } = found.rows[0]
  assert.ok(sealed.length > 0 && sealed.length === embeddings.length)
  return [id, key, ref, ...sealed, ...embeddings].map((text) => text.replace(/^\\/, ''))
}

describe('POST /node/{version}/deleteUser answers 200', () => {
  test('[E-023] [E-040] [E-052] [E-055] with the puid as a reply gave it, the user is gone', async () => {
    const face = faces.person('FACE3_1')
    const { puid } = await enrol([face])
    assert.equal((await predict(face)).status, 0)
    assert.deepEqual(await remove({ api_key: client.key, puid }), DELETED)
    assert.deepEqual(await predict(face), STRANGER)
    const plain = await client.post('plainPredict', { version: 'FACE3_1', features: feature(face) })
    assert.deepEqual([plain.http, plain.body], [200, { ...STRANGER, statusCode: 200, score: -1 }])
  })

  test('[E-023] [E-040] with the puid of a prediction, however old, and with one encrypted for the deletion', async () => {
    const [first, second] = [faces.person('FACE3_1'), faces.person('FACE3_1')]
    await enrol([first])
    const { puid } = await predict(first)
    const id = await client.open('puid', (await enrol([second])).puid)
    harness.clock.advance(400 * 86_400_000)
    assert.deepEqual(await remove({ puid }), DELETED)
    assert.deepEqual(await remove({ puid: await client.seal('deleteUser', id) }), DELETED)
    assert.deepEqual([await predict(first), await predict(second)], [STRANGER, STRANGER])
  })

  test('[E-041] nothing of the user is left in any table, and nothing else changes', async () => {
    const [face, other] = [faces.person('FACE3_1'), faces.person('FACE3_1')]
    const kept = await client.open('puid', (await enrol([other, faces.sample(other)], { id: 'kept' })).puid)
    const keptTraces = await traces(kept)
    const { puid } = await enrol(
      Array.from({ length: 5 }, () => faces.sample(face, 0.99)),
      { id: 'gone' },
    )
    const id = await client.open('puid', puid)
    const gone = await traces(id)
    assert.equal(gone.length, 3 + 5 + 5)
    const before = await dump()
    for (const trace of gone)
      assert.ok(
        before.some((line) => line.includes(trace)),
        'the dump shows what is there',
      )

    assert.deepEqual(await remove({ puid }), DELETED)
    const after = await dump()
    for (const trace of gone) assert.ok(!after.some((line) => line.includes(trace)), 'no trace is left')
    const changing = /^face_(spaces|vacuums_due) /
    const rest = before.filter((line) => !changing.test(line) && !line.includes(id))
    assert.deepEqual(
      after.filter((line) => !changing.test(line)),
      rest,
    )
    assert.deepEqual(await traces(kept), keptTraces)
    const spaces = await harness.database.query(
      `select vectors::int, (select count(*)::int from face_vectors v where v.tenant_id = $1) as found from face_spaces where tenant_id = $1`,
      [tenantId],
    )
    assert.deepEqual(spaces.rows, [{ vectors: 2, found: 2 }], 'the space counts what it has')
    assert.equal(await client.open('puid', (await predict(other)).puid), kept)
  })

  test('[E-041] the user is deleted in every model version, whichever the path names', async () => {
    const [small, large] = [faces.person('FACE3_1'), faces.person('FACE3_3')]
    const metadata = { id: 'in-both' }
    for (const path of ['FACE3_1/deleteUser', 'FACE3_3/deleteUser', 'deleteUser']) {
      const { puid } = await enrol([small], metadata)
      const { body } = await client.post('plainEnroll', { features: feature(large), metadata })
      const id = await client.open('puid', puid)
      assert.equal(body.puid, id)
      const gone = await traces(id)
      assert.equal(gone.length, 3 + 2 + 2)
      assert.deepEqual(await remove({ puid }, path), DELETED)
      const after = await dump()
      for (const trace of gone) assert.ok(!after.some((line) => line.includes(trace)))
      assert.deepEqual(await predict(small), STRANGER)
      const plain = await client.post('plainPredict', { features: feature(large) })
      assert.deepEqual(plain.body, { ...STRANGER, statusCode: 200, score: -1 })
      assert.deepEqual(await remove({ puid }), FAILED)
    }
  })

  test('a user of the plain endpoint, whose puid came in clear, once it is encrypted for the deletion', async () => {
    const face = faces.person('FACE3_3')
    const { body } = await client.post('plainEnroll', { features: feature(face) })
    assert.deepEqual(await remove({ puid: body.puid }), FAILED, 'in clear it is no puid')
    assert.deepEqual(await remove({ puid: await client.seal('deleteUser', String(body.puid)) }), DELETED)
    const { status } = (await client.post('plainPredict', { features: feature(face) })).body
    assert.equal(status, -1)
  })

  test('[E-040] the face may be enrolled again as someone new, and the name given to another face', async () => {
    const face = faces.person('FACE3_1')
    const metadata = { id: 'reused' }
    const { puid } = await enrol([face], metadata)
    assert.deepEqual(await remove({ puid }), DELETED)
    const named = await enrol([faces.person('FACE3_1')], metadata)
    const again = await enrol([face])
    const ids = await Promise.all([puid, named.puid, again.puid].map((one) => client.open('puid', one)))
    assert.equal(new Set(ids).size, 3)
  })
})

describe('POST /node/{version}/deleteUser answers 400', () => {
  test('[E-048] [E-053] for a deleted user, one who never existed, and a text that is not a puid of this key', async () => {
    const { puid, guid } = await enrol([faces.person('FACE3_1')])
    const id = await client.open('puid', puid)
    const { key } = await harness.tenantWithKey({ scopes: ['node:*'] })
    const before = await dump()
    for (const wrong of [
      await client.seal('deleteUser', '019a0000-0000-7000-8000-000000000000'),
      await client.seal('deleteUser', 'nobody'),
      await client.seal('deleteUser', ''),
      await client.seal('enroll', id),
      await client.seal('predict', id),
      await createClient(harness, key).seal('deleteUser', id),
      guid,
      id,
      'garbage',
      puid.slice(0, -1),
      5,
      [puid],
      { puid },
    ]) {
      assert.deepEqual(await remove({ puid: wrong }), FAILED, JSON.stringify(wrong))
    }
    assert.deepEqual(await dump(), before)
    assert.deepEqual(await remove({ puid }), DELETED)
    assert.deepEqual(await remove({ puid }), FAILED)
  })

  test('[E-060] for an envelope that was made for a deletion long ago, or for another path: not as for an unknown user', async () => {
    const small = await client.open('puid', (await enrol([faces.person('FACE3_1')])).puid)
    const now = Math.floor(harness.clock.now().getTime() / 1000)
    for (const issuedAt of [now - 301, now + 301]) {
      const late = unusable('the envelope was made more than 5 minutes from now')
      assert.deepEqual(await remove({ puid: await client.seal('deleteUser', small, { issuedAt }) }), late)
    }
    const other = { modelVersion: 'FACE3_3' }
    const elsewhere = unusable('the envelope is for another model version')
    assert.deepEqual(await remove({ puid: await client.seal('deleteUser', small, other) }), elsewhere)
    assert.deepEqual(await remove({ puid: await client.seal('deleteUser', small) }, 'FACE3_3/deleteUser'), elsewhere)
    const envelope = await client.seal('deleteUser', small, { ...other, issuedAt: now - 300 })
    assert.deepEqual(await remove({ puid: envelope }, 'FACE3_3/deleteUser'), DELETED)
  })

  test('for the same person id with the other mode of the same tenant', async () => {
    const { puid } = await enrol([faces.person('FACE3_1')])
    const id = await client.open('puid', puid)
    const wanted = { livemode: true, name: 'live', scopes: ['node:*'], allowedIps: [] }
    const live = createClient(harness, (await harness.wire.keys.service.createKey(tenantId, wanted)).api_key)
    const { http, body } = await live.post('deleteUser', { puid: await live.seal('deleteUser', id) })
    assert.deepEqual([http, body], FAILED)
    assert.deepEqual(await remove({ puid }), DELETED)
  })

  test('of two deletions at once one succeeds', async () => {
    const { puid } = await enrol([faces.person('FACE3_1')])
    const replies = await Promise.all([remove({ puid }), remove({ puid })])
    assert.deepEqual(replies.sort(), [DELETED, FAILED])
  })

  test('[E-056] [E-060] for a field that is not known', async () => {
    const message = 'Invalid request: a field is not known here; known are api_key, puid, metadata'
    assert.deepEqual(await remove({ puid: 'x', features: 'y' }), [400, { status: -1, message }])
  })
})

describe('POST /node/{version}/deleteUser by the host’s own name', () => {
  test('deletes that user and no other; a puid counts where both are given', async () => {
    const named = (id: string) => client.post('plainEnroll', { features: feature(faces.person()), metadata: { id } })
    const [first, second] = [(await named('by-name-1')).body.puid, (await named('by-name-2')).body.puid]
    assert.ok(first && second && first !== second)
    const missing = [400, { status: 400, message: 'delete failed' }]
    assert.deepEqual(await remove({ metadata: { id: 'nobody has it' } }), missing)
    assert.deepEqual(await remove({ metadata: { id: 'by-name-1' } }), DELETED)
    assert.deepEqual(await remove({ metadata: { id: 'by-name-1' } }), missing)
    const both = { puid: await client.seal('deleteUser', second), metadata: { id: 'by-name-1' } }
    assert.deepEqual(await remove(both), DELETED)
    assert.deepEqual(await remove({ metadata: { id: 'by-name-2' } }), missing)
  })
})

describe('POST /node/{version}/deleteUser answers 500', () => {
  test('[E-054] [E-062] without puid, as the specification says', async () => {
    for (const body of [{}, { puid: null }, { puid: '' }, { metadata: {} }, { puid: null, metadata: { id: null } }]) {
      assert.deepEqual(await remove(body), [500, { status: -2, message: 'Missing PUID.' }])
    }
  })
})
