import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TokenFormatError } from '@ostiary/token'
import { createJudgements } from './judgements.ts'

const threads = createJudgements()
after(() => threads.stop())

test('what has a bad format is refused as in the main thread, and the thread works on', async () => {
  const none = new Uint8Array(1)
  const input = { token: none, probe: none, evaluation: none, keyShare: none, isEnrolment: false }
  for (let tries = 1; tries <= 2; tries++) await assert.rejects(threads.judge(input), TokenFormatError)
})
