import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Guidance } from '@ostiary/faces'
import { createPlacement, PLACED_MS, SEARCH_MS_MAX } from './placement.ts'

/** Repeats the same guidance every 100 ms and returns the last answer. */
function say(placement: ReturnType<typeof createPlacement>, guidance: Guidance, fromMs: number, forMs: number) {
  let last = placement.note(guidance, fromMs)
  for (let ms = 100; ms <= forMs && last.is === 'searching'; ms += 100) last = placement.note(guidance, fromMs + ms)
  return last
}

test('a face counts as placed when it has stayed in the oval for a moment', () => {
  const placement = createPlacement()
  assert.deepEqual(say(placement, 'in_oval', 0, PLACED_MS - 100), { is: 'searching' })
  assert.deepEqual(say(placement, 'too_far', PLACED_MS, 0), { is: 'searching' })
  assert.deepEqual(say(placement, 'in_oval', 1000, PLACED_MS - 100), { is: 'searching' })
  assert.deepEqual(say(placement, 'in_oval', 1000 + PLACED_MS, 0), { is: 'placed' })
})

test('the code of a failed search is that of the problem that lasted longest', () => {
  const placement = createPlacement()
  say(placement, 'no_face', 0, 15_000)
  say(placement, 'too_dark', 15_100, 10_000)
  assert.deepEqual(say(placement, 'backlit', 25_200, 30_000), { is: 'given_up', code: -10 })
})

test('pose and sharpness share one code: quality', () => {
  const placement = createPlacement()
  say(placement, 'no_face', 0, 16_000)
  say(placement, 'move_left', 16_100, 10_000)
  say(placement, 'blurry', 26_200, 10_000)
  assert.deepEqual(say(placement, 'look_straight', 36_300, 20_000), { is: 'given_up', code: -39 })
})

for (const [guidance, code, reason] of [
  ['too_far', -39, 'too_far'],
  ['too_close', -39, 'too_close'],
  ['eyes_hidden', -31, 'eyes_hidden'],
  ['remove_mask', -31, 'mask'],
] as const)
  test(`a search that ends because of ${guidance} says so`, () => {
    const placement = createPlacement()
    say(placement, 'blurry', 0, 10_000)
    assert.deepEqual(say(placement, guidance, 10_100, SEARCH_MS_MAX), { is: 'given_up', code, reason })
  })

test('time without looks does not count against the user', () => {
  const placement = createPlacement()
  placement.note('no_face', 0)
  assert.deepEqual(placement.note('no_face', 10 * SEARCH_MS_MAX), { is: 'searching' })
  assert.deepEqual(say(placement, 'no_face', 10 * SEARCH_MS_MAX + 100, SEARCH_MS_MAX), { is: 'given_up', code: -12 })
})
