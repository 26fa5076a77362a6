import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOfId, readStatements } from './cell-statements.ts'

/** Buckets 0 and 1023 of 1,024: the first and the last cell. */
const FIRST = '0198c5d2-3f77-7000-9b7e-3a5d5f0c1a2b'
const LAST = '0198c5d2-3f77-7ffc-9b7e-3a5d5f0c1a2b'

test('an id leads to the cell of its bucket', () => {
  assert.deepEqual([cellOfId(FIRST, 16), cellOfId(LAST, 16), cellOfId(LAST, 1)], [0, 15, 0])
})

test('statements are counted per cell, and one that names an id of another cell is found, in its text or in its values', () => {
  const log = [
    '|cells|a|LOG:  execute find: select *',
    '\tfrom sessions where id = $1',
    `|cells|a|DETAIL:  parameters: $1 = '${FIRST}'`,
    '|cells|elsewhere|LOG:  statement: select 1',
    `|cells|b|LOG:  statement: select 1 -- ${LAST}`,
    '|cells|b|LOG:  execute x: select $1',
    `|cells|b|DETAIL:  parameters: $1 = '{${LAST},${FIRST}}'`,
  ].join('\n')
  const { count, ids, perCell, foreign } = readStatements(log, ['a', 'b'])
  assert.deepEqual(
    [count, ids, [...perCell]],
    [
      3,
      4,
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
  )
  assert.equal(foreign.length, 1)
  assert.match(foreign[0] ?? '', /^b: DETAIL/)
})
