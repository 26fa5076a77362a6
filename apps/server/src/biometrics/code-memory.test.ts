import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodeMemory } from './code-memory.ts'
import { BLOCK_BYTES, RECORD_BYTES } from './code-pool.ts'
import type { CodeOrder } from './code-thread.ts'

const CODE = Uint8Array.from({ length: 64 }, (_, i) => i)

function record(seq: number): Uint8Array {
  const bytes = Buffer.alloc(RECORD_BYTES)
  bytes.writeBigUInt64BE(BigInt(seq))
  bytes.set(CODE, 8)
  return bytes
}

const SCAN = { kind: 'scan', probe: { code: CODE, wanted: 10, within: 512, sieve: 256 } } as const

test('tables do not see each other, and their memory has one limit', async () => {
  const memory = createCodeMemory(BLOCK_BYTES, () => assert.fail('the thread has ended'))
  try {
    const added = await memory.ask(1, { kind: 'add', records: record(7) })
    assert.deepEqual([added.done, added.count, added.bytes], [true, 1, BLOCK_BYTES])
    assert.equal((await memory.ask(2, { kind: 'add', records: record(8) })).done, false)
    assert.deepEqual((await memory.ask(2, SCAN)).seqs, [])
    assert.deepEqual((await memory.ask(1, SCAN)).seqs, [7])
    assert.equal((await memory.ask(1, { kind: 'drop' })).bytes, 0)
    assert.equal((await memory.ask(2, { kind: 'add', records: record(8) })).done, true)
  } finally {
    await memory.stop()
  }
})

test('what comes after the drop of a table leaves nothing in memory', async () => {
  const memory = createCodeMemory(BLOCK_BYTES, () => assert.fail('the thread has ended'))
  try {
    await memory.ask(1, { kind: 'add', records: record(7) })
    await memory.ask(1, { kind: 'drop' })
    for (const order of [SCAN, { kind: 'remove', seqs: [7] }, { kind: 'retain', from: 0, to: 9, seqs: [7] }] as const) {
      const { done, count, bytes } = await memory.ask(1, order)
      assert.deepEqual([done, count, bytes], [true, 0, 0], order.kind)
    }
    assert.deepEqual((await memory.ask(1, SCAN)).seqs, [])
  } finally {
    await memory.stop()
  }
})

test('scans that are asked for together are each answered', async () => {
  const memory = createCodeMemory(4 * BLOCK_BYTES, () => {})
  try {
    await Promise.all([1, 2, 3].map((table) => memory.ask(table, { kind: 'add', records: record(table * 10) })))
    const scans = [1, 2, 3, 2, 1].map((table) => memory.ask(table, SCAN))
    assert.equal(memory.scanning(), 5)
    assert.deepEqual(
      (await Promise.all(scans)).map(({ seqs }) => seqs),
      [[10], [20], [30], [20], [10]],
    )
    assert.equal(memory.scanning(), 0)
  } finally {
    await memory.stop()
  }
})

test('when the thread dies, what waits fails, its owner hears of it, and the next order starts an empty one', async () => {
  let lost = 0
  const memory = createCodeMemory(BLOCK_BYTES, () => lost++)
  try {
    await memory.ask(1, { kind: 'add', records: record(7) })
    const broken = { kind: 'add' } as unknown as CodeOrder
    await assert.rejects(memory.ask(1, broken))
    assert.equal(lost, 1)
    assert.deepEqual((await memory.ask(1, SCAN)).seqs, [])
  } finally {
    await memory.stop()
  }
  await assert.rejects(memory.ask(1, SCAN), /stopping/)
})
