import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { acknowledgementsFile, createLines, openJournal } from './million-journal.ts'
import { slotAt, slotsFor } from './million-plan.ts'

const SLOTS = slotsFor(196)
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const creationOf = (slot: number) => ({ slot, id: Buffer.alloc(16, slot + 1), secret: Buffer.alloc(32, 3) })
const endOf = (slot: number) => ({ slot, ending: slotAt(slot).ending, isRefused: false })

test('the next piece goes on with what is neither ended nor begun, and knows what was begun', async () => {
  const first = await openJournal(folder, SLOTS)
  for (const slot of [0, 1, 2, 4]) await first.create(creationOf(slot))
  for (const slot of [0, 2]) await first.acknowledge(endOf(slot))
  await first.close()
  const second = await openJournal(folder, SLOTS)
  assert.deepEqual([...second.open()].slice(0, 4), [1, 3, 4, 5])
  assert.deepEqual(second.creationOf(1), creationOf(1))
  assert.deepEqual(second.creationOf(4), creationOf(4))
  assert.equal(second.creationOf(2), undefined)
  assert.equal(second.creationOf(3), undefined)
  assert.equal(second.events(), [0, 2].filter((slot) => slotAt(slot).hasEvent).length)
  await second.close()
})

test('several callers share one list of open slots, and each slot is given once', async () => {
  const journal = await openJournal(folder, SLOTS)
  const queue = journal.open()
  const given: number[] = []
  const callers = Array.from({ length: 5 }, async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      given.push(next.value)
      await journal.acknowledge(endOf(next.value))
    }
  })
  await Promise.all(callers)
  assert.deepEqual(given, [...Array(SLOTS).keys()])
  assert.equal(journal.isComplete(), true)
  assert.equal(journal.events(), 196)
  await journal.close()
})

test('a torn acknowledgement does not count, so its slot is played again', async () => {
  const first = await openJournal(folder, SLOTS)
  await first.acknowledge(endOf(0))
  await first.close()
  appendFileSync(acknowledgementsFile(folder), Buffer.alloc(9, 1))
  const second = await openJournal(folder, SLOTS)
  assert.equal([...second.open()][0], 1)
  assert.equal(second.isComplete(), false)
  await second.close()
})

test('lines come back, and a torn one is cut off before the next is written', () => {
  const file = join(folder, 'lines')
  assert.deepEqual(createLines(file).read(), [])
  createLines(file).append({ n: 1 })
  appendFileSync(file, '{"n":')
  const lines = createLines(file)
  lines.append({ n: 2 })
  assert.deepEqual(lines.read(), [{ n: 1 }, { n: 2 }])
})
