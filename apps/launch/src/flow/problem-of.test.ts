import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeviceError } from '@ostiary/device'
import { isPassing, problemOf, remedyFor } from './problem-of.ts'

const answer = (status: number, code = 'ANY') => new DeviceError(status, { code })

test('no answer, too many calls and a starting service are retried', () => {
  for (const status of [0, 429, 502, 503, 504]) {
    assert.equal(remedyFor(answer(status)), 'later')
    assert.ok(isPassing(answer(status)))
  }
  assert.equal(problemOf(answer(0)), 'no_network')
  assert.equal(problemOf(answer(503)), 'busy')
})

test('a call in the wrong state makes the page open the session again', () => {
  assert.equal(remedyFor(answer(409, 'SESSION_NOT_OPEN')), 'reopen')
  assert.equal(remedyFor(answer(409, 'CHALLENGE_NOT_VALID')), 'reopen')
  assert.equal(remedyFor(answer(409, 'PAYLOAD_REPLAYED')), 'reopen')
})

test('every other error has a name that the user sees', () => {
  const problems = [
    answer(404),
    answer(400),
    answer(410),
    answer(403, 'DEVICE_MISMATCH'),
    answer(409, 'HANDOFF_REFUSED'),
    answer(401, 'INVALID_DEVICE_PROOF'),
    answer(500),
    new TypeError('not a call at all'),
  ].map(problemOf)
  assert.deepEqual(problems, [
    'unknown_link',
    'unknown_link',
    'gone',
    'other_device',
    'code_refused',
    'other_device',
    'fault',
    'fault',
  ])
})
