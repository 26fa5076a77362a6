import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelVersion } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Db } from '../platform/db.ts'
import { createHarness } from '../testing/harness.ts'
import { codeFaces } from './face-codes.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { createFaces } from './testing/faces.ts'
import { copyToOwnPartition, moveSpace } from './testing/last-release.ts'
import { normalise } from './vector.ts'

const PEOPLE = 120
const faces = createFaces(57)
const harness = await createHarness()
const db = harness.wire.platform.cells.all()[0]?.db as Db

const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()
const enrol = (caller: Caller, face: readonly number[], version: 'FACE3_1' | 'FACE3_3' = 'FACE3_3') =>
  harness.wire.biometrics.enrolment.enrol(caller, { model: BUILT_IN_MODELS[version], vectors: [unit(face)] })
/** The ids of the people who are found, best first. */
async function predict(
  caller: Caller,
  face: readonly number[],
  { candidates = 1, version = 'FACE3_3' as 'FACE3_1' | 'FACE3_3' } = {},
) {
  const request = { model: BUILT_IN_MODELS[version], vectors: [unit(face)], candidates }
  return (await harness.wire.biometrics.recognition.recognise(caller, request)).candidates.map(({ puid }) => puid)
}
async function searches(kind: 'codes' | 'exact'): Promise<number> {
  const line = new RegExp(`search_seconds_count\\{purpose="predict",kind="${kind}"\\} (\\d+)`)
  return Number(line.exec(await harness.wire.platform.metrics.text())?.[1] ?? 0)
}
const spaceOf = ({ tenantId, livemode }: Caller, version: ModelVersion = 'FACE3_3') => ({ tenantId, livemode, version })
const code = (caller: Caller, version?: ModelVersion) => codeFaces(db, spaceOf(caller, version))
/** Vectors and codes of a tenant, and whether each vector up to the last one coded has its code. */
async function counts({ tenantId }: Caller): Promise<{ vectors: number; codes: number; coded: number }> {
  const { rows } = await harness.database.query(
    `select count(v.seq)::int as vectors, count(c.seq)::int as codes, s.coded_seq::int as coded
     from face_spaces s left join face_vectors v on v.tenant_id = s.tenant_id and v.shelf = s.shelf
     full join face_codes c on c.space = s.number and c.seq = v.seq where s.tenant_id = $1 group by s.coded_seq`,
    [tenantId],
  )
  return rows[0]
}

async function newCaller(): Promise<Caller> {
  const { tenantId, record } = await harness.tenantWithKey({ scopes: ['node:*'] })
  return { tenantId, livemode: false, keyId: record.id, rateFactor: 1 }
}

interface Person {
  face: number[]
  puid: string
}
async function add(caller: Caller, people: Person[], count = PEOPLE): Promise<void> {
  for (let i = 0; i < count; i++) {
    const face = faces.person()
    people.push({ face, puid: (await enrol(caller, face)).personId })
  }
}
/** A space as a large one is: its vectors have codes. */
async function codedSpace(): Promise<{ caller: Caller; people: Person[] }> {
  const caller = await newCaller()
  const people: Person[] = []
  await add(caller, people)
  await code(caller)
  return { caller, people }
}

test('with codes everybody at the threshold is found, and no stranger', async () => {
  const { caller, people } = await codedSpace()
  assert.deepEqual(await counts(caller), { vectors: PEOPLE, codes: PEOPLE, coded: PEOPLE })
  const before = await searches('codes')
  // A vector is stored with half precision.
  for (const { face, puid } of people) assert.deepEqual(await predict(caller, faces.sample(face, 0.505)), [puid])
  for (let i = 0; i < 20; i++) assert.deepEqual(await predict(caller, faces.person()), [])
  assert.equal(await searches('codes'), before + PEOPLE + 20)
})

test('codes tell people apart where a model gathers all faces in a narrow cone, thanks to the middle', async () => {
  const caller = await newCaller()
  const axis = faces.person('FACE3_1')
  const people: Person[] = []
  for (let i = 0; i < PEOPLE; i++) {
    // Two people then have a cosine around 0.88, as strangers have in this model.
    const face = faces.sample(axis, 0.94)
    people.push({ face, puid: (await enrol(caller, face, 'FACE3_1')).personId })
  }
  await code(caller, 'FACE3_1')
  for (const { face, puid } of people) {
    assert.deepEqual(await predict(caller, faces.sample(face, 0.9455), { version: 'FACE3_1' }), [puid])
  }
  const { rows } = await harness.database.query(
    `select avg(a.code <~> b.code) as bits from face_codes a join face_codes b using (space) join face_spaces s on s.number = a.space
     where s.tenant_id = $1 and a.seq < b.seq`,
    [caller.tenantId],
  )
  assert.ok(rows[0].bits > 230, `strangers differ in ${rows[0].bits} of 512 bits`)
})

test('as many people as asked for are found by codes', async () => {
  const caller = await newCaller()
  const face = faces.person()
  const alike: string[] = []
  // People who resemble the probe and not each other.
  for (let i = 0; i < 30; i++) alike.push((await enrol(caller, faces.sample(face, 0.6))).personId)
  await add(caller, [], 40)
  await code(caller)
  const found = await predict(caller, face, { candidates: 50 })
  assert.deepEqual(found.toSorted(), alike.toSorted())
  assert.equal((await predict(caller, face, { candidates: 7 })).length, 7)
})

test('who was enrolled after the codes were made is found at once, and is not enrolled a second time', async () => {
  const { caller, people } = await codedSpace()
  await add(caller, people, 20)
  assert.deepEqual(await counts(caller), { vectors: PEOPLE + 20, codes: PEOPLE, coded: PEOPLE })
  for (const { face, puid } of people) {
    const again = await enrol(caller, faces.sample(face, 0.6))
    assert.deepEqual([again.personId, again.isNew], [puid, false])
  }
  await code(caller)
  assert.deepEqual(await counts(caller), { vectors: PEOPLE + 20, codes: PEOPLE + 20, coded: PEOPLE + 20 })
  for (const { face, puid } of people) assert.deepEqual(await predict(caller, faces.sample(face, 0.6)), [puid])
})

test('codes are made while people enrol and are deleted: each vector has one, and nobody else', async () => {
  const caller = await newCaller()
  const people: Person[] = []
  await add(caller, people, 30)
  const making = [code(caller), code(caller)]
  const [gone] = people.splice(5, 1)
  const deleting = harness.wire.biometrics.recognition.delete(caller, gone?.puid ?? '')
  await add(caller, people, 10)
  await Promise.all([...making, deleting])
  await code(caller)
  assert.deepEqual(await counts(caller), { vectors: people.length, codes: people.length, coded: 40 })
})

test('a deletion takes the codes with it, in this release and in the last one', async () => {
  const { caller, people } = await codedSpace()
  const [ours, theirs] = people.splice(10, 2)
  assert.equal(await harness.wire.biometrics.recognition.delete(caller, ours?.puid ?? ''), true)
  // The statements of the last release, which knows no codes.
  await harness.database.query('delete from face_templates where tenant_id = $1 and person_id = $2', [
    caller.tenantId,
    theirs?.puid,
  ])
  await harness.database.query('delete from face_vectors where tenant_id = $1 and person_id = $2', [
    caller.tenantId,
    theirs?.puid,
  ])
  assert.deepEqual(await counts(caller), { vectors: people.length, codes: people.length, coded: PEOPLE })
  for (const gone of [ours, theirs]) assert.deepEqual(await predict(caller, gone?.face ?? []), [])
  const due = await harness.database.query(`select table_name from face_vacuums_due where table_name = 'face_codes'`)
  assert.equal(due.rows.length, 1, 'the remains of the codes are vacuumed')
})

test('a space that a process of the last release moves is found in the same moment, with codes and without', async () => {
  for (const hasCodes of [true, false]) {
    const caller = await newCaller()
    const people: Person[] = []
    await add(caller, people, 60)
    if (hasCodes) await code(caller)
    const { attach } = await copyToOwnPartition(harness.database, caller.tenantId)
    // Searches before, under and after the move.
    let isMoved = false
    const searching = (async () => {
      for (let n = 0; !isMoved || n < 2 * people.length; n++) {
        const { face, puid } = people[n % people.length] as Person
        assert.deepEqual(await predict(caller, faces.sample(face, 0.6)), [puid])
      }
    })()
    await attach()
    isMoved = true
    await searching
    await add(caller, people, 5)
    for (const { face, puid } of people) {
      assert.deepEqual(await predict(caller, faces.sample(face, 0.6)), [puid])
      assert.equal((await enrol(caller, faces.sample(face, 0.6))).personId, puid)
    }
    const [gone] = people
    assert.equal(await harness.wire.biometrics.recognition.delete(caller, gone?.puid ?? ''), true)
    assert.deepEqual(await predict(caller, gone?.face ?? []), [])
    const notes = await harness.database.query('select seqs from face_deletions where tenant_id = $1', [
      caller.tenantId,
    ])
    assert.deepEqual(notes.rows, [{ seqs: ['1'] }], 'processes of the last release follow these notes')
  }
})

test('a code without its vector is a fault, and not an unknown face', async () => {
  const { caller, people } = await codedSpace()
  const [first] = people
  await harness.database.query('delete from face_vectors where tenant_id = $1', [caller.tenantId])
  await assert.rejects(predict(caller, first?.face ?? []), { code: 'NODE_PREDICT_FAILED' })
})

test('a reindex gives the space new codes', async () => {
  const { caller, people } = await codedSpace()
  await harness.database.query('delete from face_vectors where tenant_id = $1 and seq % 2 = 0', [caller.tenantId])
  await harness.database.query(
    'delete from face_codes c using face_spaces s where s.number = c.space and s.tenant_id = $1 and c.seq % 2 = 0',
    [caller.tenantId],
  )
  await harness.wire.biometrics.vectorPartitions.reindex(
    ({ tenantId }) => tenantId === caller.tenantId,
    () => {},
  )
  assert.deepEqual(await counts(caller), { vectors: PEOPLE, codes: PEOPLE, coded: PEOPLE })
  for (const { face, puid } of people) assert.deepEqual(await predict(caller, faces.sample(face, 0.6)), [puid])
})

test('notes for processes of the last release are purged after 15 minutes', async () => {
  const { caller, people } = await codedSpace()
  await moveSpace(harness.database, caller.tenantId)
  assert.equal(await harness.wire.biometrics.recognition.delete(caller, people[0]?.puid ?? ''), true)
  const purge = harness.wire.biometrics.jobs.find(({ name }) => name === 'purge-face-deletions')
  const left = async () =>
    (await harness.database.query('select 1 from face_deletions where tenant_id = $1', [caller.tenantId])).rows.length
  const inMinutes = (minutes: number) => new Date(harness.clock.now().getTime() + minutes * 60_000)
  await purge?.run(db, inMinutes(14))
  assert.equal(await left(), 1)
  await purge?.run(db, inMinutes(16))
  assert.equal(await left(), 0)
})
