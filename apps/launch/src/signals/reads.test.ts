import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INDICATOR_PATHS } from '@ostiary/contract'
import { EXPECTED_INTERFACES } from './interfaces.ts'
import { TIMER_MS } from './probes.ts'
import { SIGNAL_READINGS } from './reads.ts'

test('every indicator is explained, in the order of the contract', () => {
  assert.deepEqual(Object.keys(SIGNAL_READINGS), INDICATOR_PATHS)
})

test('the numbers in the explanations are those of the code', () => {
  assert.match(SIGNAL_READINGS['headless.timing'].suspicious, new RegExp(`a timer of ${TIMER_MS} ms`))
  assert.equal(Object.keys(EXPECTED_INTERFACES).length, 10)
})
