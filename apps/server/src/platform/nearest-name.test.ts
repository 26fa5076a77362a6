import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateSessionBody, CreateVerificationBody } from '@ostiary/contract'
import { editDistance, nearestName } from './nearest-name.ts'

test('the distance counts letters that are inserted, deleted, replaced or swapped', () => {
  for (const [one, other, distance] of [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['ageTreshold', 'ageThreshold', 1],
    ['valeu', 'value', 1],
    ['cat', 'cut', 1],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
  ] as const) {
    assert.equal(editDistance(one, other), distance, `${one} ${other}`)
    assert.equal(editDistance(other, one), distance, `${other} ${one}`)
  }
})

test('a misspelt field of a creation has its name', () => {
  const [age, verification] = [CreateSessionBody, CreateVerificationBody].map(({ properties }) =>
    Object.keys(properties),
  )
  for (const [written, meant] of [
    ['ageTreshold', 'ageThreshold'],
    ['agethreshold', 'ageThreshold'],
    ['age_threshold', 'ageThreshold'],
    ['redirectURL', 'redirectUrl'],
    ['redirecturi', 'redirectUrl'],
    ['calback', 'callback'],
    ['metdata', 'metadata'],
    ['requirement', 'requirements'],
    ['stepUpEnable', 'stepUpEnabled'],
    ['facematchthreshhold', 'faceMatchThreshold'],
  ] as const)
    assert.equal(nearestName(written, age ?? []), meant)
  assert.equal(nearestName('transactionId', verification ?? []), 'transactionID')
  assert.equal(nearestName('tpye', verification ?? []), 'type')
})

test('a name that resembles none, or is too short or too long to tell, gets no suggestion', () => {
  const names = Object.keys(CreateSessionBody.properties)
  for (const written of ['', 'x', 'id', 'age', 'colour', 'webhook', '__proto__', 'constructor', 'a'.repeat(10_000)])
    assert.equal(nearestName(written, names), undefined, written.slice(0, 20))
  assert.equal(nearestName('value', []), undefined)
})

test('of two names the nearer one is suggested, of two equally near the first', () => {
  assert.equal(nearestName('limits', ['limited', 'limit']), 'limit')
  assert.equal(nearestName('since', ['sinse', 'singe']), 'sinse')
})
