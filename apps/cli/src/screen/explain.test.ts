import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NAME_MATCH_KINDS } from '@ostiary/contract'
import { explainShort, signed } from './explain.ts'
import { aMatch } from './testing/screening.ts'

const { explanation } = aMatch()

test('the short explanation names what differs, then the birth date', () => {
  assert.equal(explainShort(aMatch()), "typo in 'valshakken'~'valshaken'; born on the same day, 1958-02-11")
})

test('names that agree in all words say so, and in what they differ all the same', () => {
  const name = [{ query: 'nifu', listed: 'nifu', kind: 'exact' as const, similarity: 1 }]
  const notes = ['The words stand in another order']
  const dob = { effect: 0, kind: 'unknown', text: 'The row has no birth date' }
  assert.equal(
    explainShort(aMatch({ name: '虚拟甫', matchedName: 'Xu Nifu', explanation: { ...explanation, name, notes, dob } })),
    "the same words; the words stand in another order; also listed as 'Xu Nifu'; the row has no birth date",
  )
})

test('words without a partner are named by side', () => {
  const alone = { ...explanation, name: [], unmatchedQuery: ['junior'], unmatchedListed: ['ibn', 'brenk'] }
  assert.match(
    explainShort(aMatch({ explanation: alone })),
    /^only in the row: 'junior'; only in the list: 'ibn', 'brenk';/,
  )
})

test('every kind but the exact one has words of its own', () => {
  const said = NAME_MATCH_KINDS.map((kind) =>
    explainShort(
      aMatch({ explanation: { ...explanation, name: [{ query: 'a', listed: 'b', kind, similarity: 0.9 }] } }),
    ),
  )
  assert.equal(new Set(said).size, NAME_MATCH_KINDS.length)
  for (const text of said.slice(1)) assert.match(text, /'a'~'b'/)
})

test('effects have a sign', () => {
  assert.deepEqual([0.03, -0.04, 0, 0.1 + 0.2].map(signed), ['+0.03', '−0.04', '±0', '+0.3'])
})
