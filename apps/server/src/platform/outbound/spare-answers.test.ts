import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPooledOutbound } from './pooled.ts'
import { postForSpareAnswers, SPARE_ANSWERS_OPTIONS } from './testing/spare-answers.ts'

const POSTS = 800
const outbound = createPooledOutbound({ ...SPARE_ANSWERS_OPTIONS, timeoutMs: 60_000 })
after(() => outbound.close())

test('a receiver’s second answer, up to 6 ms after the first, is never taken for the answer to the next message', async () => {
  const { wrong, failed, connections } = await postForSpareAnswers(outbound, POSTS)
  assert.deepEqual({ wrong, failed }, { wrong: 0, failed: 0 })
  // Without a spare answer a connection is used again: else this test would show nothing.
  assert.ok(connections < POSTS / 2, `${connections} connections`)
})
