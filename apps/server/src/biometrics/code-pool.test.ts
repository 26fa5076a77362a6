import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BLOCK_BYTES, type CodeTable, createCodePool, RECORD_BYTES } from './code-pool.ts'
import { CODE_BYTES, CODES_PER_BLOCK } from './code-scan.ts'

const MANY = 100 * BLOCK_BYTES

/** The same codes in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  }
}

function makeCodes(count: number, seed = 1): Uint8Array[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => Uint8Array.from({ length: CODE_BYTES }, random))
}

function toRecords(codes: readonly Uint8Array[], firstSeq = 1): Uint8Array {
  const records = Buffer.alloc(codes.length * RECORD_BYTES)
  for (const [n, code] of codes.entries()) {
    records.writeBigUInt64BE(BigInt(firstSeq + n), n * RECORD_BYTES)
    records.set(code, n * RECORD_BYTES + 8)
  }
  return records
}

const BITS_OF = Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)
const distance = (a: Uint8Array, b: Uint8Array) =>
  a.reduce((sum, byte, i) => sum + (BITS_OF[byte ^ (b[i] ?? 0)] ?? 0), 0)

/** The distances of the nearest, by comparing one by one. */
function nearestDistances(codes: ReadonlyMap<number, Uint8Array>, probe: Uint8Array, wanted: number): number[] {
  const all = [...codes.values()].map((code) => distance(code, probe)).sort((a, b) => a - b)
  const last = all[Math.min(wanted, all.length) - 1] ?? 0
  return all.filter((one) => one <= last)
}

const scanOne = (table: CodeTable, code: Uint8Array, wanted: number) =>
  table.scan([{ code, wanted, within: 512, sieve: 256 }])[0] ?? []

test('a scan finds exactly the nearest codes, nearest first, over blocks and at their ends', () => {
  const codes = makeCodes(CODES_PER_BLOCK + 1_003)
  const table = createCodePool(MANY).open()
  assert.equal(table.add(toRecords(codes)), true)
  const bySeq = new Map(codes.map((code, n) => [n + 1, code]))
  for (const probe of [...makeCodes(3, 99), codes[0], codes[CODES_PER_BLOCK], codes.at(-1)]) {
    if (!probe) throw new Error('there is no such code')
    const found = scanOne(table, probe, 50)
    const distances = found.map((seq) => distance(bySeq.get(seq) ?? probe, probe))
    assert.deepEqual(distances, nearestDistances(bySeq, probe, 50))
    assert.equal(new Set(found).size, found.length)
  }
})

test('probes that are scanned together get what each gets alone', () => {
  const table = createCodePool(MANY).open()
  table.add(toRecords(makeCodes(5_001)))
  const probes = makeCodes(7, 5).map((code, n) => ({ code, wanted: 1 + n * 3, within: 512, sieve: 256 }))
  assert.deepEqual(
    table.scan(probes),
    probes.map(({ code, wanted }) => scanOne(table, code, wanted)),
  )
})

test('codes that are much further away than the nearest are left out', () => {
  const table = createCodePool(MANY).open()
  const [code = new Uint8Array(CODE_BYTES), ...others] = makeCodes(1_000, 8)
  const near = code.map((byte, i) => (i < 5 ? byte ^ 0xff : byte))
  table.add(toRecords([code, near, ...others]))
  assert.deepEqual(table.scan([{ code, wanted: 10, within: 39, sieve: 256 }]), [[1]])
  assert.deepEqual(table.scan([{ code, wanted: 10, within: 40, sieve: 256 }]), [[1, 2]])
  assert.equal(table.scan([{ code, wanted: 10, within: 512, sieve: 256 }])[0]?.length, scanOne(table, code, 10).length)
})

test('a sieve leaves out codes whose first half is too far away, and no others', () => {
  const table = createCodePool(MANY).open()
  const codes = makeCodes(4_003, 11)
  table.add(toRecords(codes))
  const [probe = new Uint8Array(CODE_BYTES)] = makeCodes(1, 12)
  const found = new Set(table.scan([{ code: probe, wanted: 4_003, within: 512, sieve: 120 }])[0])
  const isNear = (code: Uint8Array) => distance(code.subarray(0, 32), probe.subarray(0, 32)) <= 120
  for (const [n, code] of codes.entries()) if (isNear(code)) assert.ok(found.has(n + 1))
  assert.ok(found.size < 3_000)
})

test('fewer codes than wanted are all found, and an empty table has none', () => {
  const table = createCodePool(MANY).open()
  const [probe = new Uint8Array(CODE_BYTES)] = makeCodes(1, 3)
  assert.deepEqual(scanOne(table, probe, 10), [])
  table.add(toRecords(makeCodes(3)))
  assert.deepEqual(scanOne(table, probe, 10).sort(), [1, 2, 3])
})

test('codes that were added twice are there once', () => {
  const table = createCodePool(MANY).open()
  const codes = makeCodes(30)
  table.add(toRecords(codes.slice(0, 20)))
  table.add(toRecords(codes.slice(10), 11))
  assert.equal(table.count(), 30)
})

test('removed codes are not found, and their memory is zero and used again', () => {
  const pool = createCodePool(3 * BLOCK_BYTES)
  const table = pool.open()
  const codes = makeCodes(CODES_PER_BLOCK * 2 + 10)
  assert.equal(table.add(toRecords(codes)), true)
  assert.equal(pool.bytes(), 3 * BLOCK_BYTES)
  const gone = [1, 2, CODES_PER_BLOCK, CODES_PER_BLOCK + 1, CODES_PER_BLOCK * 2 + 10]
  table.remove([...gone, 999_999])
  assert.equal(table.count(), codes.length - gone.length)
  for (const seq of gone) {
    const code = codes[seq - 1] ?? new Uint8Array(CODE_BYTES)
    assert.equal(scanOne(table, code, 5).includes(seq), false)
  }
  const kept = codes[4_999] ?? new Uint8Array(CODE_BYTES)
  assert.equal(scanOne(table, kept, 1)[0], 5_000)
  table.retain(0, CODES_PER_BLOCK * 2 + 10, [5_000, CODES_PER_BLOCK * 2])
  assert.equal(table.count(), 2)
  assert.equal(pool.bytes(), BLOCK_BYTES, 'blocks that fit into one are joined')
  assert.equal(scanOne(table, kept, 1)[0], 5_000)
  table.drop()
  assert.equal(pool.bytes(), 0)
  const blocks = new Uint8Array(pool.memory.buffer).subarray(-3 * BLOCK_BYTES)
  assert.equal(Buffer.from(blocks).equals(Buffer.alloc(blocks.length)), true, 'nothing of a code is left')
  const again = pool.open()
  assert.equal(again.add(toRecords(codes)), true, 'the memory is free again')
})

test('numbers outside the range of a retain stay', () => {
  const table = createCodePool(MANY).open()
  table.add(toRecords(makeCodes(10)))
  table.retain(3, 6, [5])
  const [probe = new Uint8Array(CODE_BYTES)] = makeCodes(1, 3)
  assert.deepEqual(
    scanOne(table, probe, 10).sort((a, b) => a - b),
    [1, 2, 3, 5, 7, 8, 9, 10],
  )
})

test('a full memory refuses more codes, and another space cannot take what is held', () => {
  const pool = createCodePool(BLOCK_BYTES)
  const table = pool.open()
  assert.equal(table.add(toRecords(makeCodes(CODES_PER_BLOCK))), true)
  assert.equal(table.add(toRecords(makeCodes(1), CODES_PER_BLOCK + 1)), false)
  const other = pool.open()
  assert.equal(other.add(toRecords(makeCodes(1))), false)
  table.drop()
  assert.equal(other.add(toRecords(makeCodes(1))), true)
})

test('a number that does not fit into the memory of numbers is refused', () => {
  const table = createCodePool(BLOCK_BYTES).open()
  assert.equal(table.add(toRecords(makeCodes(1), 2 ** 32)), false)
})
