import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseThreshold, countErrors, halfOf, type PortraitPair } from './portrait-pairs.ts'

const pair = (one: string, other: string, score: number): PortraitPair => ({
  kind: 'any',
  people: [one, other],
  score,
  yearsApart: one === other ? 1 : undefined,
})

test('a genuine pair at the threshold is not refused, and a pair of two people at it passes', () => {
  const pairs = [
    pair('a', 'a', 0.42),
    pair('a', 'a', 0.41),
    pair('a', 'b', 0.42),
    pair('b', 'a', 0.6),
    pair('a', 'b', 0.1),
  ]
  assert.deepEqual(countErrors(pairs, 0.42), {
    refused: 1,
    refusedPeople: 1,
    genuine: 2,
    genuinePeople: 1,
    passed: 2,
    passedPeople: 1,
    others: 3,
  })
})

test('the halves share no person, and pairs across them are in neither', () => {
  const people = ['a', 'b', 'c', 'd', 'e', 'f']
  const pairs = people.flatMap((one) =>
    // The last two have one portrait each: they are in no genuine pair.
    people.filter((other) => one !== other || one < 'e').map((other) => pair(one, other, 0.5)),
  )
  const halves = [halfOf(pairs, 0), halfOf(pairs, 1)].map((half) => [...new Set(half.flatMap((each) => each.people))])
  assert.deepEqual(halves, [
    ['a', 'c', 'e'],
    ['b', 'd', 'f'],
  ])
})

test('the lowest threshold is chosen that few enough other pairs pass, as far as their number can say', () => {
  const many = Array.from({ length: 8000 }, () => pair('a', 'b', 0.1))
  const passing = (count: number) => Array.from({ length: count }, () => pair('a', 'b', 0.41))
  assert.equal(chooseThreshold(many), 0.35)
  assert.equal(chooseThreshold([...many, ...passing(1)]), 0.35)
  assert.equal(chooseThreshold([...many, ...passing(9)]), 0.42)
  assert.equal(chooseThreshold(many.slice(0, 100)), undefined)
})
