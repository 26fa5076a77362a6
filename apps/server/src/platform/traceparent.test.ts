import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTraceparent } from './traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a traceparent is read by the rules of the W3C, and anything else is left out', () => {
  const whole = `00-${TRACE}-${SPAN}-01`
  assert.deepEqual(readTraceparent(whole), { traceId: TRACE, spanId: SPAN, isSampled: true, traceparent: whole })
  assert.equal(readTraceparent(`00-${TRACE}-${SPAN}-fe`)?.traceparent, `00-${TRACE}-${SPAN}-00`)
  assert.equal(readTraceparent(`cc-${TRACE}-${SPAN}-01-later`)?.traceparent, whole)
  for (const wrong of [
    undefined,
    '',
    [whole, whole],
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    ` ${whole}`,
    `${whole}\n`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(200)}`,
  ])
    assert.equal(readTraceparent(wrong), undefined)
})
