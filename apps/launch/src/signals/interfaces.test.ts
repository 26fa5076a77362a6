import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isExpected } from './interfaces.ts'

test('an interface is expected from its first version on, engine by engine', () => {
  for (const [name, version, expected] of [
    ['chromium', 97, false],
    ['chromium', 98, true],
    ['gecko', 93, false],
    ['gecko', 94, true],
    ['webkit', 15.3, false],
    ['webkit', 15.4, true],
  ] as const) {
    assert.equal(isExpected('structuredClone', { name, version }), expected, `${name} ${version}`)
  }
  assert.equal(isExpected('somethingElse', { name: 'chromium', version: 200 }), false)
})
