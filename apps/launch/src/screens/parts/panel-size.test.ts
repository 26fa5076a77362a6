import assert from 'node:assert/strict'
import { test } from 'node:test'
import { staysInView } from './panel-size.ts'

test('a panel stays in view while it takes at most 45 percent of the height', () => {
  assert.equal(staysInView(333, 740), true)
  assert.equal(staysInView(334, 740), false)
  assert.equal(staysInView(200, 256), false)
})
