import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { loadConfig } from '../config.ts'
import type { Caller } from '../keys/index.ts'
import type { Db } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { createHarness, type Harness, TEST_MASTER_KEY } from '../testing/harness.ts'
import { createWire, type Wire } from '../wire.ts'
import { BLOCK_BYTES } from './code-pool.ts'
import { codeStore } from './code-store.ts'
import { codeOf, readMiddle } from './face-code.ts'
import { purgeDeletions } from './face-codes.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { partitionTable } from './store.ts'
import { createFaces } from './testing/faces.ts'
import { normalise } from './vector.ts'

const SETTINGS = { NODE_EXACT_SEARCH_MAX: '100', NODE_CODES_MEMORY_MB: '8' }
const PEOPLE = 120
const faces = createFaces(57)
let harness: Harness
/** Another process on the same database. */
let other: Wire
let db: Db
before(async () => {
  harness = await createHarness(SETTINGS)
  db = harness.wire.platform.cells.all()[0]?.db as Db
  other = startOther()
})
after(async () => {
  await other.close()
  await harness.close()
})

function startOther(settings: Record<string, string> = SETTINGS): Wire {
  const env = { DATABASE_URL: harness.database.url, MASTER_KEY: TEST_MASTER_KEY, ...TEST_LIMITS, ...settings }
  const log = createLog('silent', { write: () => {} })
  return createWire(loadConfig(env), { role: 'test', log })
}

const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()
const enrol = (wire: Wire, caller: Caller, face: readonly number[]) =>
  wire.biometrics.enrolment.enrol(caller, { model: BUILT_IN_MODELS.FACE3_3, vectors: [unit(face)] })
const predict = async (wire: Wire, caller: Caller, face: readonly number[], cosine = 0.8) => {
  const vectors = [unit(cosine < 1 ? faces.sample(face, cosine) : face)]
  const request = { model: BUILT_IN_MODELS.FACE3_3, vectors, candidates: 1 }
  return (await wire.biometrics.recognition.recognise(caller, request)).candidates[0]?.puid
}
const read = async (wire: Wire, line: string) =>
  Number(
    (await wire.platform.metrics.text())
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.split(' ')[1] ?? 0,
  )
const codesOf = (wire: Wire) => read(wire, 'ostiary_node_codes')
const byCodes = (wire: Wire) => read(wire, 'ostiary_node_search_seconds_count{purpose="predict",kind="codes"}')
const byIndex = (wire: Wire) => read(wire, 'ostiary_node_search_seconds_count{purpose="predict",kind="hnsw"}')

/** A large space, and the faces in it. */
async function newSpace(): Promise<{ caller: Caller; people: { face: number[]; puid: string }[] }> {
  const { tenantId, record } = await harness.tenantWithKey({ scopes: ['node:*'] })
  const caller: Caller = { tenantId, livemode: false, keyId: record.id, rateFactor: 1 }
  const people: { face: number[]; puid: string }[] = []
  for (let i = 0; i < PEOPLE; i++) {
    const face = faces.person()
    people.push({ face, puid: (await enrol(harness.wire, caller, face)).personId })
  }
  await harness.wire.biometrics.vectorPartitions.arrange(db)
  return { caller, people }
}

/** Searches until the codes of the space answer. */
async function untilCoded(wire: Wire, caller: Caller): Promise<void> {
  await eventually(async () => {
    const before = await byCodes(wire)
    await predict(wire, caller, faces.person())
    return (await byCodes(wire)) > before
  }, 'no search was answered by codes')
}

const first = <T>(list: readonly T[]): T => {
  const [one] = list
  if (one === undefined) throw new Error('the list is empty')
  return one
}

test('PostgreSQL and the process compute the same codes', async () => {
  const { caller } = await newSpace()
  const id = { tenantId: caller.tenantId, livemode: false, version: 'FACE3_3' } as const
  const { partition } = first(await codeStore.findSpaces(db, [id]))
  const middle = await codeStore.findMiddle(db, id, partition)
  const { records } = await codeStore.listCodes(db, id, { partition, middle, after: 0, upTo: PEOPLE, limit: PEOPLE })
  const { rows: vectors } = await harness.database.query(
    `select halfvec_send(embedding) as embedding from ${partitionTable(partition)} order by seq`,
  )
  const computed = vectors.map(({ embedding }, n) => {
    const seq = Buffer.alloc(8)
    seq.writeBigUInt64BE(BigInt(n + 1))
    return Buffer.concat([seq, codeOf(embedding, readMiddle(middle))])
  })
  assert.equal(Buffer.concat(computed).equals(records), true)
  assert.equal(records.length, PEOPLE * 72)
})

test('the index answers until the codes are loaded; then they find everyone enrolled and no stranger', async () => {
  const { caller, people } = await newSpace()
  const process = startOther()
  try {
    assert.equal(await predict(process, caller, first(people).face), first(people).puid)
    assert.deepEqual([await byIndex(process), await byCodes(process)], [1, 0])
    await untilCoded(process, caller)
    assert.equal(await codesOf(process), PEOPLE)
    const before = await byCodes(process)
    for (const { face, puid } of people) assert.equal(await predict(process, caller, face, 0.6), puid)
    assert.equal(await predict(process, caller, faces.person()), undefined)
    assert.equal(await byCodes(process), before + PEOPLE + 1)
  } finally {
    await process.close()
  }
})

test('who was enrolled by another process is found at once, and is not enrolled a second time', async () => {
  const { caller } = await newSpace()
  await untilCoded(other, caller)
  for (let i = 0; i < 20; i++) {
    const face = faces.person()
    const { personId } = await enrol(harness.wire, caller, face)
    const before = await byCodes(other)
    assert.equal(await predict(other, caller, face), personId)
    assert.equal(await byCodes(other), before + 1, 'the codes answered')
    const again = await enrol(other, caller, faces.sample(face, 0.9))
    assert.deepEqual([again.personId, again.isNew], [personId, false])
  }
})

test('who was deleted is never found, and their codes leave the memory of every process', async () => {
  const { caller, people } = await newSpace()
  const processes = [startOther(), startOther()]
  try {
    for (const wire of processes) await untilCoded(wire, caller)
    const gone = people.splice(10, 5)
    for (const { face, puid } of gone) {
      assert.equal(await harness.wire.biometrics.recognition.delete(caller, puid), true)
      // Both processes may still hold the code.
      for (const wire of processes) assert.equal(await predict(wire, caller, face, 1), undefined)
    }
    for (const wire of processes) {
      await eventually(async () => (await codesOf(wire)) === PEOPLE - gone.length, 'the codes are still there')
      assert.equal(await read(wire, 'ostiary_node_codes_compared_total{what="all"}'), 0)
      for (const { face, puid } of people) assert.equal(await predict(wire, caller, face), puid)
    }
  } finally {
    for (const wire of processes) await wire.close()
  }
})

test('a space whose codes cannot be read delays no deletion in another', async () => {
  const [broken, whole] = [await newSpace(), await newSpace()]
  const process = startOther()
  try {
    for (const { caller } of [broken, whole]) await untilCoded(process, caller)
    const id = { tenantId: broken.caller.tenantId, livemode: false, version: 'FACE3_3' } as const
    const table = partitionTable(first(await codeStore.findSpaces(db, [id])).partition)
    await enrol(harness.wire, broken.caller, faces.person())
    await harness.database.query(`alter table ${table} rename to ${table}_away`)
    const gone = whole.people.splice(0, 3)
    for (const { puid } of gone) await harness.wire.biometrics.recognition.delete(whole.caller, puid)
    const before = await codesOf(process)
    await eventually(async () => (await codesOf(process)) <= before - gone.length, 'the codes are still there')
    await harness.database.query(`alter table ${table}_away rename to ${table}`)
  } finally {
    await process.close()
  }
})

test('a reindex while codes are loading leaves none of them behind', async () => {
  const { caller, people } = await newSpace()
  const process = startOther()
  try {
    for (let turn = 0; turn < 3; turn++) {
      // The first search begins to load.
      await predict(process, caller, first(people).face)
      await harness.wire.biometrics.vectorPartitions.reindex(
        (space) => space.tenantId === caller.tenantId,
        () => {},
      )
    }
    await untilCoded(process, caller)
    assert.equal(await read(process, 'ostiary_node_codes_bytes'), BLOCK_BYTES)
  } finally {
    await process.close()
  }
})

test('deletions by a process of the last release, which notes none, are followed too', async () => {
  const { caller, people } = await newSpace()
  const process = startOther()
  try {
    await untilCoded(process, caller)
    const [gone] = people.splice(3, 1)
    await db.transaction(async (tx) => {
      await harness.wire.biometrics.recognition.forgetVectors(caller, gone?.puid ?? '', 'FACE3_3', tx)
      const forget = { name: '', text: 'delete from face_deletions where tenant_id = $1' }
      assert.equal(await tx.run(forget, [caller.tenantId]), 1)
    })
    assert.equal(await predict(process, caller, gone?.face ?? [], 1), undefined)
    await eventually(async () => (await codesOf(process)) === PEOPLE - 1, 'the code is still there')
    assert.equal(await read(process, 'ostiary_node_codes_compared_total{what="all"}'), 1)
    for (const { face, puid } of people) assert.equal(await predict(process, caller, face), puid)
  } finally {
    await process.close()
  }
})

test('a reindex gives the space other vectors, and the codes are loaded again', async () => {
  const { caller, people } = await newSpace()
  await untilCoded(other, caller)
  const { tenantId } = caller
  await harness.wire.biometrics.vectorPartitions.reindex(
    (space) => space.tenantId === tenantId,
    () => {},
  )
  assert.equal(await predict(other, caller, first(people).face), first(people).puid)
  await untilCoded(other, caller)
  for (const { face, puid } of people) assert.equal(await predict(other, caller, face), puid)
})

test('a space that does not fit into the memory is searched through its index', async () => {
  const { caller, people } = await newSpace()
  const process = startOther({ ...SETTINGS, NODE_CODES_MEMORY_MB: '1' })
  try {
    const refused = 'ostiary_node_codes_missing_total{reason="memory"}'
    await eventually(async () => {
      assert.equal(await predict(process, caller, first(people).face), first(people).puid)
      return (await read(process, refused)) > 0
    })
    assert.deepEqual([await codesOf(process), await byCodes(process)], [0, 0])
  } finally {
    await process.close()
  }
})

test('after the database was away, numbers that it gave to others meanwhile have their new codes', async () => {
  const { caller, people } = await newSpace()
  const { wire } = harness
  await untilCoded(wire, caller)
  const failed = () => harness.logged().split('could not be kept up').length
  const before = failed()
  await harness.database.query('alter table face_spaces rename to face_spaces_away')
  await eventually(() => failed() > before, 'the process did not notice')
  const rotate = (await wire.biometrics.groups.find(caller))?.rotation('FACE3_3')
  const changed = people.slice(-10).map(({ puid }) => ({ puid, face: faces.person() }))
  for (const { puid, face } of changed) {
    const values = JSON.stringify([...(rotate?.(unit(face)) ?? [])])
    await harness.database.query('update face_vectors set embedding = $2 where person_id = $1', [puid, values])
  }
  await harness.database.query('alter table face_spaces_away rename to face_spaces')
  await eventually(async () => {
    const found = await Promise.all(changed.map(({ face }) => predict(wire, caller, face)))
    return found.every((puid, n) => puid === changed[n]?.puid)
  }, 'the old codes are still there')
})

test('notes of deletions are purged after 15 minutes', async () => {
  const { caller, people } = await newSpace()
  assert.equal(await harness.wire.biometrics.recognition.delete(caller, first(people).puid), true)
  const count = async () => {
    const text = 'select count(*)::int as count from face_deletions where tenant_id = $1'
    return first((await harness.database.query(text, [caller.tenantId])).rows).count
  }
  const now = harness.clock.now().getTime()
  await purgeDeletions(db, new Date(now + 14 * 60_000))
  assert.equal(await count(), 1)
  await purgeDeletions(db, new Date(now + 16 * 60_000))
  assert.equal(await count(), 0)
})
