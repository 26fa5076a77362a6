import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readDob } from '../dob.ts'
import { openList } from '../engine/open-list.ts'
import { describeMatch, findMatches } from '../engine/screen.ts'
import { openSnapshot } from '../engine/snapshot.ts'
import { readPerson } from '../names/tokens.ts'
import { demoVersion, ensureDemo } from './demo.ts'
import { createDatasetFiles, type DatasetFiles, type DatasetId } from './files.ts'
import { setUp, tamper } from './testing/lists.ts'

const DEMO: DatasetId = { name: 'demo', tenantId: null }
const PEOPLE = new URL('../../../demo/people.csv', import.meta.url)

/** What the documentation quotes: row, best score and entry. All other rows match no entry. */
const EXPECTED: readonly (readonly [id: string, score: number, entityId: string])[] = [
  ['1', 1, 'demo-01'],
  ['2', 1, 'demo-02'],
  ['3', 0.99, 'demo-03'],
  ['4', 0.96, 'demo-04'],
  ['5', 0.94, 'demo-05'],
  ['6', 1, 'demo-06'],
  ['7', 0.67, 'demo-07'],
  ['8', 1, 'demo-08'],
  ['9', 0.99, 'demo-09'],
  ['10a', 0.9925, 'demo-10'],
  ['10b', 1, 'demo-10'],
  ['11', 0.53, 'demo-11'],
  ['12a', 1, 'demo-12'],
  ['12b', 0.8, 'demo-12'],
  ['13a', 1, 'demo-13'],
  ['13b', 0.8, 'demo-13'],
  ['14', 1, 'demo-14'],
  ['15', 1, 'demo-15'],
  ['16', 0.9941, 'demo-16'],
  ['17', 0.9717, 'demo-17'],
  ['18', 0.9925, 'demo-18'],
  ['19', 0.99, 'demo-19'],
  ['20', 0.965, 'demo-20'],
  ['21', 0.916, 'demo-21'],
  ['22', 0.4408, 'demo-22'],
  ['23', 0.4408, 'demo-23'],
  ['24', 1, 'demo-24'],
  ['25', 1, 'demo-25'],
  ['26', 1, 'demo-26'],
  ['27', 0.99, 'demo-27'],
]

test('the demo list gives the scores that the documentation quotes', async (t) => {
  const { files, clock, ids } = setUp()
  await ensureDemo(files, { clock, ids })
  const { facts, index, path, recordsAt, recordsLength } = await openSnapshot(files.pathOf(DEMO, demoVersion()))
  assert.equal(facts.entries, 40)
  const list = openList({
    dataset: 'demo',
    version: facts.version,
    index,
    records: { path, at: recordsAt, length: recordsLength },
  })
  t.after(() => list.close())
  const rows = readFileSync(PEOPLE, 'utf8').trim().split('\n').slice(1)
  for (const row of rows) {
    const [id = '', firstname = '', lastname = '', dob = ''] = row.split(',')
    const name = readPerson(firstname, lastname)
    const span = readDob(dob)
    const birth = span === undefined || span === 'invalid' ? null : { ...span, circa: false }
    const [best] = findMatches(list, name, birth, 0.3).sort((a, b) => b.score - a.score)
    const [, score, entityId] = EXPECTED.find(([expected]) => expected === id) ?? []
    assert.equal(best && describeMatch(best, name, birth).entityId, entityId, row)
    if (best) assert.ok(Math.abs(best.score - (score ?? 0)) <= 0.005, `${row}: ${best.score}, not ${score}`)
  }
  assert.equal(rows.length, EXPECTED.length + 3)
})

test('the demo list is built once, rebuilt when it is broken, and replaces an older one', async () => {
  const { files, clock, ids, dir } = setUp()
  await ensureDemo(files, { clock, ids })
  const path = files.pathOf(DEMO, demoVersion())
  const before = readFileSync(path)
  clock.advance(1_000)
  await ensureDemo(files, { clock, ids })
  assert.deepEqual(readFileSync(path), before)
  tamper(path).flip(100)
  writeFileSync(join(dir, 'demo/current.json'), JSON.stringify({ version: 'older' }))
  await ensureDemo(files, { clock, ids })
  assert.equal(await files.current(DEMO), demoVersion())
  assert.equal((await openSnapshot(path)).facts.createdAt, '2026-11-15T12:00:01.000Z')
  await Promise.all([1, 2, 3].map(() => ensureDemo(createDatasetFiles(`${dir}-fresh`), { clock, ids })))
})

test('the demo list is served from a temporary folder where the folder of the datasets is not writable', async (t) => {
  const { clock, ids, dir, files } = setUp()
  let isMoved = false
  const closed: DatasetFiles = {
    ...files,
    async draftOf(...args) {
      if (!isMoved) throw Object.assign(new Error('read-only file system'), { code: 'EROFS' })
      return files.draftOf(...args)
    },
    relocate(...args) {
      isMoved = true
      files.relocate(...args)
    },
  }
  await ensureDemo(closed, { clock, ids })
  const place = dirname(dirname(files.pathOf(DEMO, demoVersion())))
  t.after(() => rmSync(place, { recursive: true }))
  assert.notEqual(place, dir)
  assert.deepEqual(await files.names(null), ['demo'])
  assert.equal(await files.current(DEMO), demoVersion())
})
