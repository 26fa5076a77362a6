import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import type { Caller } from '../keys/index.ts'
import type { Db } from '../platform/db.ts'
import { createHarness } from '../testing/harness.ts'
import { codeFaces } from './face-codes.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { createFaces } from './testing/faces.ts'
import { moveSpace } from './testing/last-release.ts'
import { normalise } from './vector.ts'

const faces = createFaces(11)
const harness = await createHarness()
const db = harness.wire.platform.cells.all()[0]?.db as Db

async function newCaller(): Promise<Caller> {
  const { tenantId, record } = await harness.tenantWithKey({ scopes: ['node:*'] })
  return { tenantId, livemode: false, keyId: record.id, rateFactor: 1 }
}

const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()
const enrol = (caller: Caller, face: readonly number[]) =>
  harness.wire.biometrics.enrolment.enrol(caller, { model: BUILT_IN_MODELS.FACE3_3, vectors: [unit(face)] })
const predict = async (caller: Caller, face: readonly number[]) => {
  const request = { model: BUILT_IN_MODELS.FACE3_3, vectors: [unit(faces.sample(face, 0.8))], candidates: 1 }
  return (await harness.wire.biometrics.recognition.recognise(caller, request)).candidates[0]?.puid
}
const partitionOf = async ({ tenantId }: Caller): Promise<number> =>
  (await harness.database.query('select shelf from face_spaces where tenant_id = $1', [tenantId])).rows[0].shelf

test('the same face in two tenants and two modes is stored as vectors without a visible relation', async () => {
  const [one, two] = [await newCaller(), await newCaller()]
  const face = faces.person()
  const owners = [one, two, { ...one, livemode: true }]
  const persons = new Set<string>()
  for (const owner of owners) persons.add((await enrol(owner, face)).personId)
  assert.equal(persons.size, 3)
  const { rows } = await harness.database.query(
    `select -(a.embedding <#> b.embedding) as cosine from face_vectors a join face_vectors b on a.person_id < b.person_id
     where a.person_id = any($1) and b.person_id = any($1)`,
    [[...persons]],
  )
  assert.equal(rows.length, 3)
  // Strangers in 512 dimensions: 0.044 is the spread.
  for (const { cosine } of rows) assert.ok(Math.abs(cosine) < 0.25, String(cosine))
  const sealed = await harness.database.query(
    'select t.sealed_vector, p.wrapped_key from face_templates t join face_persons p using (person_id) where person_id = any($1)',
    [[...persons]],
  )
  const starts = sealed.rows
    .flatMap((row) => [row.sealed_vector, row.wrapped_key])
    .map((bytes) => bytes.toString('hex'))
  assert.equal(new Set(starts).size, 6)
})

test('incomplete partitions of a killed process are dropped, and nothing else', async () => {
  await harness.database.query('create table face_vectors_999990 (like face_vectors)')
  await harness.wire.biometrics.vectorPartitions.dropUnused(db)
  const { rows } = await harness.database.query(`select to_regclass('face_vectors_999990') as gone`)
  assert.deepEqual(rows, [{ gone: null }])
})

test('reindex rebuilds a damaged search copy from the sealed templates, in a shared partition and in one of its own', async () => {
  const { reindex } = harness.wire.biometrics.vectorPartitions
  for (const isMoved of [false, true]) {
    const size = 20
    const caller = await newCaller()
    const people: { face: number[]; puid: string }[] = []
    for (let i = 0; i < size; i++) {
      const face = faces.person()
      people.push({ face, puid: (await enrol(caller, face)).personId })
    }
    if (isMoved) await moveSpace(harness.database, caller.tenantId)
    await harness.database.query('delete from face_vectors where tenant_id = $1 and seq % 2 = 0', [caller.tenantId])
    assert.equal(await predict(caller, people[1]?.face ?? []), undefined)
    const seen: number[] = []
    const count = await reindex(
      ({ tenantId }) => tenantId === caller.tenantId,
      ({ done }) => seen.push(done),
    )
    assert.equal(count, 1)
    assert.equal(seen.at(-1), size)
    for (const { face, puid } of people) assert.equal(await predict(caller, face), puid)
    assert.equal((await enrol(caller, faces.person())).isNew, true)
  }
})

test('[E-041] a deleted person is in no table, after the vacuum not in the index file, after a reindex in no file of the partition', async () => {
  await harness.wire.biometrics.vectorPartitions.vacuumDeleted(db)
  const caller = await newCaller()
  for (let i = 0; i < 120; i++) await enrol(caller, faces.person())
  const { personId } = await enrol(caller, faces.person())
  await moveSpace(harness.database, caller.tenantId)
  await codeFaces(db, { ...caller, version: 'FACE3_3' })
  await harness.wire.biometrics.vectorPartitions.vacuumDeleted(db)
  const table = `face_vectors_${await partitionOf(caller)}`
  const { rows } = await harness.database.query(
    `select halfvec_send(v.embedding) as vector, substr(bit_send(c.code), 5) as code, p.wrapped_key as key from face_vectors v join face_persons p using (person_id)
     join face_spaces s on s.tenant_id = v.tenant_id join face_codes c on c.space = s.number and c.seq = v.seq where person_id = $1`,
    [personId],
  )
  // Half floats are little-endian in memory and on disk, and big-endian in PostgreSQL's protocol.
  const vector = Buffer.from(rows[0].vector.subarray(4)).swap16()
  const inFile = async (relation: string, bytes: Buffer) => {
    await harness.database.query('checkpoint')
    const file = await harness.database.query('select pg_read_binary_file(pg_relation_filepath($1)) as bytes', [
      relation,
    ])
    return file.rows[0].bytes.includes(bytes)
  }
  assert.equal(await inFile(table, vector), true, 'the search copy is readable, that is what it is for')
  assert.equal(await inFile(`${table}_hnsw`, vector), true)
  assert.equal(await inFile('face_codes', rows[0].code), true)
  assert.equal(await inFile('face_persons', rows[0].key), true)

  await harness.wire.biometrics.recognition.delete(caller, personId)
  assert.equal(await inFile(`${table}_hnsw`, vector), true, 'PostgreSQL forgets at the vacuum, not before')
  await autovacuumIsAway()
  assert.equal(await harness.wire.biometrics.vectorPartitions.vacuumDeleted(db), 4)
  assert.equal(await inFile(`${table}_hnsw`, vector), false)
  assert.deepEqual((await harness.database.query('select * from face_vacuums_due')).rows, [])
  for (const table of ['face_persons', 'face_templates', 'face_vectors']) {
    const left = await harness.database.query(`select count(*)::int as left from ${table} where person_id = $1`, [
      personId,
    ])
    assert.deepEqual(left.rows, [{ left: 0 }])
  }
  // Free space inside a page may keep old bytes until something new is written there: docs/privacy.md says so.
  await harness.wire.biometrics.vectorPartitions.reindex(
    ({ tenantId }) => tenantId === caller.tenantId,
    () => {},
  )
  assert.equal(await inFile(`face_vectors_${await partitionOf(caller)}`, vector), false)
})

/** The job waits for PostgreSQL's autovacuum as for any other reader, so autovacuum must not run in this test. */
async function autovacuumIsAway(): Promise<void> {
  const working = `select from pg_stat_activity
    where backend_type like 'autovacuum%' and backend_xmin is not null and (datname = current_database() or datname is null)`
  await eventually(async () => (await harness.database.query(working)).rows.length === 0, 'autovacuum does not end')
}

test('a vacuum waits for transactions that can still see the deleted rows', async () => {
  const caller = await newCaller()
  const { personId } = await enrol(caller, faces.person())
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>()
  const reading = db.withDedicatedClient(async (client) => {
    await client.query('begin isolation level repeatable read')
    await client.query('select count(*) from face_persons')
    hasBegun()
    await held
    await client.query('commit')
  })
  await Promise.race([begun, reading])
  await harness.wire.biometrics.recognition.delete(caller, personId)
  assert.equal(await harness.wire.biometrics.vectorPartitions.vacuumDeleted(db), 0)
  release()
  await reading
  await autovacuumIsAway()
  assert.equal(await harness.wire.biometrics.vectorPartitions.vacuumDeleted(db), 3)
})
