import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { constants, inflateRawSync } from 'node:zlib'
import type { MatchedRecord, RowResult } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { systemClock } from '../../platform/clock.ts'
import type { ListedEntity } from '../lists/listed.ts'
import type { SharedList } from './open-list.ts'
import { joinPacked } from './packed-text.ts'
import { createPool, type FileTask, leastServed } from './pool.ts'
import type { RowsAnswer, ScreeningRow } from './rows.ts'
import { openSnapshot, writeSnapshot } from './snapshot.ts'

const FACTS = { version: '1', title: '', licence: '', kind: '', createdAt: '', sources: [], skipped: {} }
const NAMESAKES = 13

let folder = ''
/** On a busy machine any chunk may end by time. Where a test counts chunks, they end with their rows. */
const BY_ROWS = { endChunkAfterMs: Number.POSITIVE_INFINITY }
/** Threads start slowly, so the tests share them. */
const one = createPool(1, systemClock, BY_ROWS)
const three = createPool(3, systemClock, BY_ROWS)
folder = await mkdtemp(join(tmpdir(), 'ostiary-pool-'))
const alike = Array.from({ length: NAMESAKES }, (_, n) => entity(`same-${n}`, 'Zilunde Mabrosk'))
const list = await makeList('invented', [
  entity('one', 'Karvol Vorberg', 19580403),
  entity('two', 'Karvol Mendrik Vorberg'),
  entity('alone', 'Talvostin Quorim'),
  ...alike,
])
for (const pool of [one, three]) pool.open('list', list)
after(async () => {
  await Promise.all([one.stop(), three.stop()])
  await rm(folder, { recursive: true })
})

function entity(id: string, name: string, birth?: number): ListedEntity {
  return {
    id,
    schema: 'Person',
    names: [{ text: name, kind: 'name' }],
    births: birth === undefined ? [] : [{ from: birth, to: birth, circa: false }],
    countries: ['xx'],
    topics: ['sanction'],
    programs: ['VOR-1'],
    sourceUrl: `https://list.example/${id}`,
    datasets: [],
  }
}

async function makeList(dataset: string, entities: readonly ListedEntity[]): Promise<SharedList> {
  const path = join(folder, `${dataset}.snapshot`)
  async function* each() {
    yield* entities
  }
  await writeSnapshot(path, each(), { ...FACTS, dataset, skipped: {} })
  const { index, recordsAt, recordsLength } = await openSnapshot(path)
  return { dataset, version: '1', index, records: { path, at: recordsAt, length: recordsLength } }
}

function row(id: string, firstname: string, lastname: string, more: Partial<ScreeningRow> = {}): ScreeningRow {
  return { line: 2, id, firstname, lastname, dob: '', warnings: [], ...more }
}

/** Rows with distinct names that are not on the list. */
const strangers = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) =>
    row(`${prefix}${n}`, `Hefr${letters(n)}`, `Drostal${letters(n * 7)}`, { line: n + 2 }),
  )
const letters = (n: number) => [...String(n)].map((digit) => 'abdefgikmo'[Number(digit)]).join('')

function task(rows: readonly ScreeningRow[], more: Partial<FileTask> = {}): FileTask {
  const { signal } = new AbortController()
  return { owner: 'tenant', keys: ['list'], dataset: 'invented', threshold: 0.9, rows, signal, ...more }
}

const entries = <T>(answers: readonly RowsAnswer[], part: 'results' | 'records') =>
  JSON.parse(`[${unpacked([...joinPacked(answers.map((answer) => answer[part]))])}]`) as T[]
const unpacked = (texts: readonly Uint8Array[]) =>
  inflateRawSync(Buffer.concat(texts), { finishFlush: constants.Z_SYNC_FLUSH }).toString()
const resultsOf = (answers: readonly RowsAnswer[]) => entries<RowResult>(answers, 'results')
const recordsOf = (answers: readonly RowsAnswer[]) => entries<MatchedRecord>(answers, 'records')

/** Counts how many chunks of a file were sent to a thread. */
function watched(rows: ScreeningRow[]): { rows: readonly ScreeningRow[]; chunks(): number } {
  let count = 0
  const watchedRows = Object.assign([...rows], {
    slice(from?: number, to?: number) {
      count++
      return rows.slice(from, to)
    },
  })
  return { rows: watchedRows, chunks: () => count }
}

describe('files at once', () => {
  test('each file is answered in the order of its rows, at any size', async () => {
    const files = [strangers(1_600, 'a'), strangers(251, 'b'), strangers(901, 'c')]
    for (const [at, rows] of files.entries())
      rows.splice(100 + at, 0, row(`hit${at}`, 'Talvostin', 'Quorim', { line: 7 }))
    const answers = await Promise.all(files.map((rows) => three.run(task(rows))))
    files.forEach((rows, at) => {
      const answer = answers[at] ?? []
      assert.equal(answer.length, Math.ceil(rows.length / 250))
      assert.deepEqual(
        resultsOf(answer).map(({ id }) => id),
        rows.map(({ id }) => id),
      )
      assert.deepEqual(
        recordsOf(answer).map(({ id }) => id),
        [`hit${at}`],
      )
      assert.equal(
        answer.reduce((sum, { matched }) => sum + matched, 0),
        1,
      )
    })
  })

  test('a small file is answered before a large one that arrived first', async () => {
    const finished: string[] = []
    const large = watched(strangers(4_000, 'large'))
    const runs = [one.run(task(large.rows)).then(() => finished.push('large'))]
    runs.push(
      one.run(task(strangers(260, 'small'))).then(() => {
        assert.ok(large.chunks() <= 4, `the large file had ${large.chunks()} chunks before`)
        return finished.push('small')
      }),
    )
    await Promise.all(runs)
    assert.deepEqual(finished, ['small', 'large'])
    assert.equal(large.chunks(), 16)
  })

  test('a file with slow rows gets no more thread time than one with quick rows', () => {
    const costs = new Map([
      ['slow', 900],
      ['quick', 10],
      ['late', 30],
    ])
    const served = (name: string, usedMs: number) => ({ name, usedMs, chunkMs: 0, runningChunks: 0 })
    const files = [served('slow', 0), served('quick', 0)]
    const serve = () => {
      const file = leastServed(files) ?? assert.fail()
      file.chunkMs = costs.get(file.name) ?? 0
      file.usedMs += file.chunkMs
      return file.name
    }
    const turns = Array.from({ length: 182 }, serve)
    assert.deepEqual(
      files.map(({ usedMs }) => usedMs),
      [1_800, 1_800],
    )
    assert.equal(turns.filter((name) => name === 'slow').length, 2)
    files.push(served('late', 1_800))
    const more = Array.from({ length: 121 }, serve)
    assert.deepEqual(
      ['slow', 'quick', 'late'].map((name) => more.filter((one) => one === name).length),
      [1, 90, 30],
      'a later file gets its share from its arrival on',
    )
  })

  test('running chunks count before they end, so that several threads do not all serve one file', () => {
    const busy = { usedMs: 100, chunkMs: 50, runningChunks: 2 }
    const idle = { usedMs: 180, chunkMs: 50, runningChunks: 0 }
    assert.equal(leastServed([busy, idle]), idle)
    assert.equal(leastServed([{ ...busy, runningChunks: 1 }, idle])?.usedMs, 100)
    assert.equal(leastServed([]), undefined)
  })

  test('a file without rows is answered at once, without a thread', async () => {
    assert.deepEqual(await createPool(1, systemClock).run(task([])), [])
  })
})

describe('a chunk that takes too long', () => {
  test('ends before its last row, and the answer of the file stays the same', async (t) => {
    const byTime = createPool(3, systemClock, { endChunkAfterMs: 0 })
    t.after(byTime.stop)
    byTime.open('list', list)
    const rows = strangers(300, 'a')
    for (const at of [0, 1, 130, 299]) rows.splice(at, 1, row(`hit${at}`, 'Karvol', 'Vorberg', { line: at + 2 }))
    const whole = await three.run(task(rows))
    const cut = await byTime.run(task(rows))
    assert.equal(cut.length, 300, 'one row in each chunk')
    assert.deepEqual(resultsOf(cut), resultsOf(whole))
    assert.deepEqual(recordsOf(cut), recordsOf(whole))
  })

  test('does not keep another owner waiting', async () => {
    const long = Array.from({ length: 60 }, (_, n) => `Hefr${letters(n * 997)}`).join(' ')
    const oneChunk = Array.from({ length: 250 }, (_, n) => row(String(n), long, long))
    const firstToEnd = () =>
      Promise.race([
        one.run(task(oneChunk, { threshold: 0.01 })).then(() => 'the long chunk'),
        one.run(task(strangers(1, 'b'), { owner: 'other' })).then(() => 'the other owner'),
      ])
    // The first time the other owner waits: the thread for it is starting.
    await eventually(async () => (await firstToEnd()) === 'the other owner', 'the other owner waits every time')
  })
})

describe('a file that takes too much processor time', () => {
  test('[B-023] [B-024] completes at the default threshold: one that is known to be short has its bound all the same', async (t) => {
    const strict = createPool(1, systemClock, { ...BY_ROWS, fileCpuMs: 0 })
    t.after(strict.stop)
    strict.open('list', list)
    for (const threshold of [0.95, 1]) {
      const rows = strangers(600, `at ${threshold}`)
      assert.equal(resultsOf(await strict.run(task(rows, { threshold }))).length, 600)
      await assert.rejects(strict.run(task(rows, { threshold, cpuMsMax: 0 })), {
        message: 'Comparing these rows took more than 0 s of processor time',
      })
    }
  })

  test('is refused below the default threshold, and what is left of it is not screened', async (t) => {
    const strict = createPool(1, systemClock, { ...BY_ROWS, fileCpuMs: 0 })
    t.after(strict.stop)
    strict.open('list', list)
    const file = watched(strangers(2_000, 'a'))
    await assert.rejects(strict.run(task(file.rows, { threshold: 0.949 })), {
      fault: 'too_large',
      code: 'FILE_TOO_COSTLY',
      message:
        'Comparing these rows took more than 0 s of processor time: below scoreThreshold 0.95 a file may not take more',
    })
    assert.equal(file.chunks(), 1)
    assert.equal(resultsOf(await strict.run(task(strangers(20, 'b')))).length, 20, 'a file that is done is answered')
  })
})

test('an owner with several files gets as much thread time as one with a single file', async (t) => {
  let calls = 0
  const pool = createPool(1, { monotonicMs: () => calls++ }, BY_ROWS)
  t.after(pool.stop)
  pool.open('list', list)
  const many = Array.from({ length: 4 }, (_, n) => watched(strangers(2_500, `many${n}`)))
  const runs = many.map(({ rows }) => pool.run(task(rows, { owner: 'many' })))
  await pool.run(task(strangers(2_500, 'single'), { owner: 'single' }))
  const chunks = many.reduce((sum, file) => sum + file.chunks(), 0)
  assert.ok(chunks > 0 && chunks <= 25, `${chunks} chunks beside the ten of the other owner`)
  await Promise.all(runs)
})

describe('an aborted file', () => {
  test('is stopped, and the threads are free for others', async () => {
    const controller = new AbortController()
    const large = watched(strangers(20_000, 'large'))
    const run = three.run(task(large.rows, { signal: controller.signal }))
    await three.run(task(strangers(10, 'first')))
    controller.abort(new Error('the caller has gone'))
    await assert.rejects(run, /the caller has gone/)
    const before = large.chunks()
    assert.ok(before > 0 && before < 80, `${before} chunks`)
    assert.equal(resultsOf(await three.run(task(strangers(600, 'next')))).length, 600)
    assert.equal(large.chunks(), before)
  })

  test('does not start when its caller has already gone', async () => {
    const file = watched(strangers(10, 'a'))
    await assert.rejects(one.run(task(file.rows, { signal: AbortSignal.abort(new Error('gone')) })), /gone/)
    assert.equal(file.chunks(), 0)
  })

  test('keeps its answer when the abort comes after it', async () => {
    const controller = new AbortController()
    const answers = await one.run(task(strangers(3, 'a'), { signal: controller.signal }))
    controller.abort()
    assert.equal(resultsOf(answers).length, 3)
  })
})

describe('a list that fails', () => {
  test('rejects only the file that needs it', async () => {
    one.open('missing', { ...list, records: { ...list.records, path: join(folder, 'nowhere') } })
    const [bad, good] = await Promise.allSettled([
      one.run(task(strangers(600, 'bad'), { keys: ['list', 'missing'] })),
      one.run(task(strangers(600, 'good'))),
    ])
    assert.ok(bad?.status === 'rejected' && /does not have this list/.test(String(bad.reason)))
    assert.ok(good?.status === 'fulfilled' && resultsOf(good.value).length === 600)
  })

  test('also rejects a file with a match whose record cannot be read', async () => {
    const path = join(folder, 'empty')
    await writeFile(path, '')
    one.open('cut', { ...list, records: { ...list.records, path } })
    await assert.rejects(one.run(task([row('1', 'Karvol', 'Vorberg')], { keys: ['cut'] })), /cut off/)
    assert.equal(recordsOf(await one.run(task([row('1', 'Karvol', 'Vorberg')]))).length, 1)
  })

  test('a closed list is no longer available', async () => {
    one.open('closed', list)
    const file = task(strangers(1, 'a'), { keys: ['closed'] })
    assert.equal((await one.run(file)).length, 1)
    one.close('closed')
    await assert.rejects(one.run(file), /does not have this list/)
    one.open('closed', list)
    assert.equal((await one.run(file)).length, 1)
  })

  test('a list opened later reaches threads that already run', async () => {
    await three.run(task(strangers(1_000, 'a')))
    three.open('later', await makeList('later', [entity('new', 'Hefrim Drostalin')]))
    const answers = await three.run(task([row('1', 'Hefrim', 'Drostalin')], { keys: ['list', 'later'] }))
    assert.deepEqual(
      recordsOf(answers)[0]?.matches.map(({ entityId, dataset }) => [entityId, dataset]),
      [['new', 'later']],
    )
  })
})

describe('the answer for a row', () => {
  const answer = async (row: ScreeningRow) => {
    const answers = await one.run(task([row]))
    return { result: resultsOf(answers)[0], record: recordsOf(answers)[0], answers }
  }

  test('a match has the row as written in the file, and the listed entry with its explanation', async () => {
    const { result, record } = await answer(row(' 17', ' Karvol', 'VORBERG ', { dob: '1958-04-03', line: 5 }))
    assert.deepEqual(result, {
      id: ' 17',
      firstname: ' Karvol',
      lastname: 'VORBERG ',
      dob: '1958-04-03',
      match: 'true',
      score: 1,
      warnings: [],
    })
    assert.equal(record?.line, 5)
    assert.equal(record?.dataset, 'invented')
    const [best, second] = record?.matches ?? []
    assert.deepEqual(
      [best?.entityId, best?.name, best?.score, best?.birthDate],
      ['one', 'Karvol Vorberg', 1, ['1958-04-03']],
    )
    assert.deepEqual([best?.listVersion, best?.sourceUrl, best?.programs], ['1', 'https://list.example/one', ['VOR-1']])
    assert.equal(best?.explanation.dob.kind, 'same_day')
    assert.equal(second?.entityId, 'two')
    assert.ok((second?.score ?? 0) < 1)
    assert.equal('moreMatches' in (record ?? {}), false)
  })

  test('a row without a match has no score and no record', async () => {
    const { result, record, answers } = await answer(row('1', 'Hefrim', 'Drostal'))
    assert.deepEqual([result?.match, result?.score, record], ['false', null, undefined])
    assert.deepEqual([answers[0]?.matched, answers[0]?.warned, answers[0]?.shortened], [0, 0, false])
  })

  test('a contradicting birth date moves the entry below the threshold', async () => {
    const { record } = await answer(row('1', 'Karvol', 'Vorberg', { dob: '1931-11-27' }))
    assert.deepEqual(
      record?.matches.map(({ entityId }) => entityId),
      ['two'],
    )
  })

  test('warnings are passed on and counted, and an invalid birth date is ignored', async () => {
    const odd = row('1', 'Karvol', 'Vorberg', { dob: '31.12.1958', warnings: ['INVALID_DOB'] })
    const { result, record, answers } = await answer(odd)
    assert.deepEqual(result?.warnings, ['INVALID_DOB'])
    assert.equal(answers[0]?.warned, 1)
    assert.equal(record?.matches[0]?.explanation.dob.kind, 'unknown')
  })

  test('at most ten matches are shown, with the number of further ones', async () => {
    const { record, answers } = await answer(row('1', 'Zilunde', 'Mabrosk'))
    assert.equal(record?.matches.length, 10)
    assert.equal(record?.moreMatches, NAMESAKES - 10)
    assert.deepEqual(
      record?.matches.map(({ entityId }) => entityId),
      Array.from({ length: 10 }, (_, n) => `same-${n}`),
    )
    assert.equal(answers[0]?.shortened, false)
  })

  const except = (entityId: string) => ({
    entityId,
    exceptionId: `ex-${entityId}`,
    reason: 'another person',
    expiresAt: '2030-01-01T00:00:00.000Z',
  })

  test('an exception silences its entry and is reported, while other entries still match', async () => {
    const { result, record } = await answer(
      row('1', 'Karvol', 'Vorberg', { exceptions: [except('one'), except('nobody')] }),
    )
    assert.deepEqual(
      record?.matches.map(({ entityId }) => entityId),
      ['two'],
    )
    assert.deepEqual(result?.silenced, [{ ...except('one'), score: 1 }])
    assert.equal(result?.match, 'true')
    assert.equal(result?.score, record?.score)
    assert.ok((result?.score ?? 1) < 1)
  })

  test('a row whose every match is silenced does not match, and keeps its score', async () => {
    const { result, record, answers } = await answer(row('1', 'Talvostin', 'Quorim', { exceptions: [except('alone')] }))
    assert.deepEqual([result?.match, result?.score, record, answers[0]?.matched], ['false', 1, undefined, 0])
    assert.deepEqual(result?.silenced, [{ ...except('alone'), score: 1 }])
  })

  test('of several lists the best match comes first', async () => {
    one.open('other', await makeList('other', [entity('better', 'Karvol Mendrik Vorberg', 19580403)]))
    const rows = [row('1', 'Karvol Mendrik', 'Vorberg', { dob: '1958-04-03' })]
    const [record] = recordsOf(await one.run(task(rows, { keys: ['list', 'other'], dataset: 'both', threshold: 0.8 })))
    assert.equal(record?.dataset, 'both')
    const scores = record?.matches.map(({ score }) => score) ?? []
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.deepEqual(new Set(record?.matches.map(({ entityId }) => entityId)), new Set(['better', 'two', 'one']))
  })
})

test('once 5,000 rows of a file have matched, further rows show one match and say how many more', async () => {
  const rows = Array.from({ length: 5_300 }, (_, n) => row(String(n), 'Karvol', 'Vorberg'))
  const answers = await one.run(task(rows))
  const records = recordsOf(answers)
  assert.equal(records.length, 5_300)
  records.forEach(({ matches, moreMatches }, at) => {
    assert.deepEqual([matches.length, moreMatches], at < 5_000 ? [2, undefined] : [1, 1], `row ${at}`)
    assert.equal(matches[0]?.entityId, 'one')
  })
  assert.deepEqual(
    answers.map(({ shortened }) => shortened),
    Array.from({ length: 22 }, (_, piece) => piece >= 20),
  )
})

describe('stopping', () => {
  test('rejects the files that are not answered yet', async () => {
    const pool = createPool(1, systemClock)
    pool.open('list', list)
    const run = pool.run(task(strangers(20_000, 'a')))
    const rejected = assert.rejects(run, /stopping/)
    await pool.stop()
    await rejected
  })

  test('refuses later files', async () => {
    const pool = createPool(1, systemClock)
    pool.open('list', list)
    await pool.run(task(strangers(1, 'a')))
    await pool.stop()
    const late = pool.run(task(strangers(1, 'b'))).then(
      () => 'answered',
      () => 'refused',
    )
    assert.equal(await late, 'refused')
  })
})
