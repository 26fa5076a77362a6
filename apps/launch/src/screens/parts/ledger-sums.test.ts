import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LedgerEntry } from '../../ledger/ledger.ts'
import { bytesOf, sizeText, sumsOf } from './ledger-sums.ts'

const entry = (kind: LedgerEntry['kind'], bytesOut: number): LedgerEntry => ({
  atMs: 0,
  method: 'POST',
  path: '/any',
  bytesOut,
  kind,
})

test('requests are summed by kind, the most personal kind first, without kinds that did not occur', () => {
  const entries = [entry('page', 0), entry('call', 300), entry('submit', 1900), entry('call', 200), entry('page', 0)]
  assert.deepEqual(sumsOf(entries), [
    { kind: 'submit', requests: 1, bytesOut: 1900 },
    { kind: 'call', requests: 2, bytesOut: 500 },
    { kind: 'page', requests: 2, bytesOut: 0 },
  ])
  assert.equal(bytesOf(entries), 2400)
  assert.deepEqual(sumsOf([]), [])
})

test('sizes are formatted for the language', () => {
  assert.equal(sizeText(884, 'en'), '884 bytes')
  assert.equal(sizeText(1934, 'en'), '1.9 kB')
  assert.equal(sizeText(1934, 'de'), '1,9 kB')
})
