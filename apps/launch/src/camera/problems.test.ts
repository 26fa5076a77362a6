import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CAMERA_PROBLEMS } from './camera-types.ts'
import { isTooPicky, problemBefore, problemOf } from './problems.ts'

const WELL = { secure: true, hasApi: true, policyAllows: true }
const named = (name: string) => Object.assign(new Error('no'), { name })

describe('a refusal of the browser is told as a reason of code -7:', () => {
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
  test('what is no error at all is a camera that does not come', () => assert.equal(problemOf('no', WELL), 'in_use'))
})

test('a policy of the embedding page is told from a refusal of the user', () => {
  assert.equal(problemOf(named('NotAllowedError'), { ...WELL, policyAllows: false }), 'policy_blocked')
  assert.equal(problemOf(named('NotAllowedError'), { ...WELL, policyAllows: undefined }), 'permission_denied')
})

test('what is known beforehand is not asked of the browser', () => {
  assert.equal(problemBefore({ secure: false, hasApi: false, policyAllows: undefined }), 'insecure_context')
  assert.equal(problemBefore({ ...WELL, hasApi: false }), 'not_found')
  assert.equal(problemBefore({ ...WELL, policyAllows: false }), 'policy_blocked')
  assert.equal(problemBefore({ ...WELL, policyAllows: undefined }), undefined)
  assert.equal(problemBefore(WELL), undefined)
})

test('only a camera that could not do what was asked is asked again without outputs', () => {
  assert.equal(isTooPicky(named('OverconstrainedError')), true)
  assert.equal(isTooPicky(named('NotAllowedError')), false)
  assert.equal(isTooPicky(undefined), false)
})

test('every reason but a camera that stops later can be found here', () => {
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
