import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMoments } from './kill-moments.ts'

test('a wait ends with the next call of its kind, and not with an earlier or another one', async () => {
  const moments = createMoments<'creation' | 'end'>()
  moments.reach('creation')
  let isReached = false
  const waiting = moments.next('creation', 60_000).then((reached) => {
    isReached = reached
  })
  moments.reach('end')
  await Promise.resolve()
  assert.equal(isReached, false)
  moments.reach('creation')
  await waiting
  assert.equal(isReached, true)
})

test('a wait ends without such a call when its time is over', async () => {
  assert.equal(await createMoments<'end'>().next('end', 1), false)
})
