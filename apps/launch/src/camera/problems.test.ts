import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CAMERA_PROBLEMS } from './camera-types.ts'
import { isTooPicky, problemBefore, problemOf } from './problems.ts'

const WELL = { secure: true, hasApi: true, policyAllows: true }
const named = (name: string) => Object.assign(new Error('no'), { name })

describe('every error name of a browser maps to a reason of code -7:', () => {
  const cases = [
    ['NotAllowedError', 'permission_denied'],
    ['PermissionDeniedError', 'permission_denied'],
    ['SecurityError', 'permission_denied'],
    ['NotFoundError', 'not_found'],
    ['DevicesNotFoundError', 'not_found'],
    ['NotReadableError', 'in_use'],
    ['TrackStartError', 'in_use'],
    ['AbortError', 'in_use'],
    ['OverconstrainedError', 'constraints'],
    ['TypeError', 'constraints'],
    ['SomethingNewError', 'in_use'],
  ] as const
  for (const [name, problem] of cases) {
    test(`${name} is ${problem}`, () => assert.equal(problemOf(named(name), WELL), problem))
  }
  test('a rejection that is not an Error counts as a camera in use', () =>
    assert.equal(problemOf('no', WELL), 'in_use'))
})

test('a permissions policy of the embedding page is not reported as a refusal of the user', () => {
  assert.equal(problemOf(named('NotAllowedError'), { ...WELL, policyAllows: false }), 'policy_blocked')
  assert.equal(problemOf(named('NotAllowedError'), { ...WELL, policyAllows: undefined }), 'permission_denied')
})

test('a known obstacle is reported without asking the browser', () => {
  assert.equal(problemBefore({ secure: false, hasApi: false, policyAllows: undefined }), 'insecure_context')
  assert.equal(problemBefore({ ...WELL, hasApi: false }), 'not_found')
  assert.equal(problemBefore({ ...WELL, policyAllows: false }), 'policy_blocked')
  assert.equal(problemBefore({ ...WELL, policyAllows: undefined }), undefined)
  assert.equal(problemBefore(WELL), undefined)
})

test('the page asks again without constraints only when the camera could not meet them', () => {
  assert.equal(isTooPicky(named('OverconstrainedError')), true)
  assert.equal(isTooPicky(named('NotAllowedError')), false)
  assert.equal(isTooPicky(undefined), false)
})

test('every reason is covered, except a camera that stops later', () => {
  const found = new Set([
    ...['NotAllowedError', 'NotFoundError', 'NotReadableError', 'OverconstrainedError'].map((name) =>
      problemOf(named(name), WELL),
    ),
    problemBefore({ ...WELL, secure: false }),
    problemBefore({ ...WELL, policyAllows: false }),
  ])
  assert.deepEqual(
    CAMERA_PROBLEMS.filter((problem) => !found.has(problem)),
    ['track_ended'],
  )
})
