import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TokenFormatError } from '@ostiary/token'
import { createEvaluations } from './evaluations.ts'

const threads = createEvaluations()
after(() => threads.stop())

test('what has a bad format is refused as in the main thread, and the thread works on', async () => {
  const none = new Uint8Array(1)
  const input = { token: none, publicKey: none, matcherShare: none, probe: none, secret: none, isEnrolment: false }
  for (let tries = 1; tries <= 2; tries++) await assert.rejects(threads.evaluate(input), TokenFormatError)
})
