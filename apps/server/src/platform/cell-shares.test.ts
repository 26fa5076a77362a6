import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decideDuty, isServed, type Situation, shareCells } from './cell-shares.ts'

const named = (count: number, prefix = 'cell') => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
const ids = (count: number) => Array.from({ length: count }, () => randomUUID())
const heldBy = (shares: Map<string, Set<string>>, worker: string) =>
  [...shares].filter(([, holders]) => holders.has(worker)).map(([cell]) => cell)

describe('cells are shared', () => {
  test('evenly, whatever the numbers, and everybody computes the same', () => {
    for (const [workers, cells] of [
      [1, 16],
      [2, 16],
      [3, 16],
      [5, 16],
      [16, 16],
      [17, 16],
      [40, 16],
      [3, 1],
      [7, 5],
    ] as const) {
      const [all, names] = [ids(workers), named(cells)]
      const shares = shareCells(all, names)
      const perWorker = all.map((worker) => heldBy(shares, worker).length)
      const perCell = names.map((cell) => shares.get(cell)?.size ?? 0)
      const what = `${workers} workers, ${cells} cells: ${perWorker}; ${perCell}`
      assert.ok(Math.max(...perWorker) - Math.min(...perWorker) <= 1, what)
      assert.ok(Math.max(...perCell) - Math.min(...perCell) <= 1, what)
      assert.ok(Math.min(...perWorker) >= 1 && Math.min(...perCell) >= 1, what)
      assert.deepEqual(shareCells(all.toReversed(), names.toReversed()), shares)
    }
  })

  test('so that few move when a worker comes or goes', () => {
    const names = named(16)
    let moved = 0
    const rounds = 50
    for (let round = 0; round < rounds; round++) {
      const before = ids(8)
      const [shares, fewer] = [shareCells(before, names), shareCells(before.slice(1), names)]
      moved += names.filter(
        (cell) => [...(shares.get(cell) ?? [])].join() !== [...(fewer.get(cell) ?? [])].join(),
      ).length
    }
    // Two of the 16 must move; taking turns by number would move 14.
    assert.ok(moved / rounds < 8, `${moved / rounds} of 16 moved`)
  })
})

describe('a worker decides', () => {
  const [low = '', high = ''] = ids(2).toSorted()
  const situation = (over: Partial<Situation>): Situation => ({
    workerId: low,
    cell: 'cell-0',
    cells: named(1),
    others: [],
    isOverloaded: false,
    unserved: 0,
    ...over,
  })
  const cells = named(2)
  const shares = shareCells([low, high], cells)
  const [ofOther = ''] = heldBy(shares, high)
  const beside = (over: Partial<Situation['others'][number]> = {}) => ({
    cells,
    cell: ofOther,
    others: [{ workerId: high, duty: 'own' as const, needsHelp: false, ...over }],
  })

  test('to serve what its share has, and everything when it is alone', () => {
    assert.equal(decideDuty(situation({})), 'own')
    for (const cell of named(16)) assert.equal(decideDuty(situation({ cell, cells: named(16) })), 'own')
    assert.equal(decideDuty(situation(beside())), 'off')
  })

  test('to help where help is asked for, unless it needs help itself', () => {
    assert.equal(decideDuty(situation(beside({ needsHelp: true }))), 'help')
    assert.equal(decideDuty(situation({ ...beside({ needsHelp: true }), isOverloaded: true })), 'off')
  })

  test('to stand in for a worker that should serve a cell and does not', () => {
    assert.equal(decideDuty(situation({ ...beside({ duty: 'off' }), unserved: 1 })), 'off')
    assert.equal(decideDuty(situation({ ...beside({ duty: 'off' }), unserved: 2 })), 'standby')
  })

  test('that a cell is served by an owner, or by one that stands in with a lower id', () => {
    const other = (workerId: string, duty: 'own' | 'standby' | 'off' | 'help') => [{ workerId, duty, needsHelp: false }]
    assert.equal(isServed(low, other(high, 'own')), true)
    assert.equal(isServed(low, other(high, 'standby')), false, 'both stand in: the lower id stays')
    assert.equal(isServed(high, other(low, 'standby')), true)
    for (const duty of ['off', 'help'] as const) assert.equal(isServed(low, other(high, duty)), false)
  })
})
