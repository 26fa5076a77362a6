import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { after, test } from 'node:test'
import { TokenFormatError } from '@ostiary/token'
import { createEvaluations } from './evaluations.ts'

const threads = createEvaluations()
after(() => threads.stop())

test('what has a bad format is refused as in the main thread, and the thread works on', async () => {
  const none = new Uint8Array(1)
  const input = { token: none, publicKey: none, matcherShare: none, probe: none, secret: none, isEnrolment: false }
  for (let tries = 1; tries <= 2; tries++) await assert.rejects(threads.evaluate('a tenant', input), TokenFormatError)
})

test('[U3] of one tenant twenty may wait, and another tenant is answered before them', async () => {
  const none = new Uint8Array(1)
  const input = { token: none, publicKey: none, matcherShare: none, probe: none, secret: none, isEnrolment: false }
  const ended: string[] = []
  const evaluate = (owner: string) =>
    threads.evaluate(owner, input).catch((error) => void ended.push(`${owner} ${error.name}`))
  const many = Array.from({ length: availableParallelism() + 22 }, () => evaluate('busy'))
  await evaluate('other')
  const before = ended.indexOf('other TokenFormatError')
  assert.ok(ended.includes('busy AppError'), 'the last one is refused')
  assert.ok(before - ended.filter((each) => each === 'busy AppError').length <= availableParallelism(), ended.join())
  await Promise.all(many)
})

test('[U3] who finds the queue full learns it before anything is counted, and a place that is left is free', () => {
  const places = Array.from({ length: 20 + Math.max(1, availableParallelism() - 1) }, () => threads.enter('full'))
  assert.throws(() => threads.enter('full'), /Too many tokens of this account wait/)
  threads.enter('another')()
  places[0]?.()
  places[0]?.()
  threads.enter('full')()
  for (const leave of places) leave()
})
