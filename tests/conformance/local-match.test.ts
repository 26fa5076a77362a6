import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCAL_MATCH_MIN } from '@ostiary/launch/browser-conformance'
import { THRESHOLDS } from '@ostiary/server/conformance'

test('the page takes two faces for the same person from the threshold of the service on', () => {
  assert.equal(LOCAL_MATCH_MIN, THRESHOLDS.FACE3_3.identifyMin)
})
