import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MatchedRecord, ScreenReply } from '@ostiary/contract'
import { createMerging } from './merge.ts'

function reply(runId: string, score: number, change: Partial<ScreenReply['summary']> = {}): ScreenReply {
  const row = { id: 'x', firstname: '', lastname: '', dob: '' }
  const record: MatchedRecord = { ...row, score, match: 'true', dataset: 'demo', line: 4, matches: [] }
  return {
    summary: {
      total: 2,
      matched: { count: 1, records: [record] },
      dataset: 'demo',
      version: 'v1',
      scorerVersion: '1',
      scoreThreshold: 0.95,
      runId,
      warnings: 1,
      stale: runId === 'one',
      ...change,
    },
    results: [{ ...row, match: 'false', score: null, warnings: ['EMPTY_NAME'] }],
  }
}

test('the replies for several parts are merged, with the line numbers of the file and the best match first', () => {
  const merging = createMerging('people.csv', false)
  assert.equal(merging.version(), undefined)
  merging.add(reply('one', 0.96), 0)
  merging.add(reply('two', 0.99), 100)
  assert.equal(merging.version(), 'v1')
  const merged = merging.end()
  assert.deepEqual([merged.total, merged.runIds, merged.warnedRows, merged.results], [4, ['one', 'two'], 2, undefined])
  assert.deepEqual(
    merged.matched.map(({ score, line }) => [score, line]),
    [
      [0.99, 104],
      [0.96, 4],
    ],
  )
  assert.deepEqual([...merged.warnings], [['EMPTY_NAME', ['x', 'x']]])
  assert.equal(merged.stale, true, 'one part says so')
  assert.throws(() => merging.add(reply('three', 1, { scorerVersion: '2' }), 0), /between two parts/)
})

test('every row is kept only when the caller asks for it', () => {
  const merging = createMerging('people.csv', true)
  merging.add(reply('one', 1), 0)
  assert.equal(merging.end().results?.length, 1)
})
