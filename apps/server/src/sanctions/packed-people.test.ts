import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from './csv.ts'
import { createPackedPeople } from './packed-people.ts'

const person = (n: number): Person => ({
  line: 2 + n * (1 + (n % 4)),
  id: `00${n}`,
  firstname: n % 3 === 0 ? '"Zoë" \u0001\ud83d\ude00' : '',
  lastname: ` Lee,\n${n}`,
  dob: '1990-05',
  warnings: n % 2 === 0 ? [] : ['EMPTY_NAME', 'PARTIAL_DOB'],
})

test('rows come back as they were, from any place, also those that are not packed yet', () => {
  const people = createPackedPeople()
  const all = Array.from({ length: 1_234 }, (_, n) => person(n))
  assert.deepEqual([people.length, people.slice(0, 10)], [0, []])
  for (const each of all) people.push(each)
  assert.equal(people.length, all.length)
  const spans = [
    [0, 1_234],
    [0, 250],
    [249, 251],
    [250, 250],
    [300, 900],
    [999, 1_001],
    [1_230, 9_999],
    [1_234, 1_500],
  ]
  for (const [from = 0, to = 0] of spans)
    assert.deepEqual(people.slice(from, to), all.slice(from, to), `${from} to ${to}`)
})
