import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endedWithoutResult } from './build.ts'

test('only a build process that was killed is explained with a lack of memory', () => {
  assert.match(endedWithoutResult(null, 'SIGKILL').message, /was killed by SIGKILL: check .* memory$/)
  assert.match(endedWithoutResult(7, null).message, /ended with exit code 7 and without a result: its error output/)
})
