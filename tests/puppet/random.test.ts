import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from './random.ts'

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 5 }, random)
  }
  assert.deepEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
})

test('numbers are spread evenly from 0 to 1', () => {
  const random = createRandom(0)
  const counts = new Array<number>(10).fill(0)
  for (let draw = 0; draw < 20_000; draw++) {
    const tenth = Math.floor(random() * 10)
    counts[tenth] = (counts[tenth] ?? 0) + 1
  }
  assert.equal(counts.length, 10)
  assert.ok(
    counts.every((count) => Math.abs(count - 2000) < 200),
    counts.join(' '),
  )
})
