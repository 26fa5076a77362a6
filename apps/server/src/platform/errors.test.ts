import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, outageBehind } from './errors.ts'

test('an outage that has another room’s code is found, and every other error stays what it is', () => {
  const outage = new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again')
  const wrapped = new AppError('internal', 'NODE_ENROLL_FAILED', 'Face enrollment failed', { cause: outage })
  const broken = new AppError('internal', 'NODE_ENROLL_FAILED', 'Face enrollment failed', { cause: new Error('x') })
  const plain = new Error('y', { cause: outage })
  assert.equal(outageBehind(wrapped), outage)
  for (const error of [outage, broken, plain, undefined]) assert.equal(outageBehind(error), error)
})
