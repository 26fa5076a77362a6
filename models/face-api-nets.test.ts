import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertAgeNet, convertFaceNet } from './face-api-nets.ts'

// That the nets compute what they should is the matter of parity.test.ts, on the real weights.
test('weights that lack a layer are refused by its name', () => {
  assert.throws(() => convertAgeNet(new Map()), /no weight named entry_flow\/conv_in\/filters/)
  assert.throws(() => convertFaceNet(new Map()), /no weight named conv32_down\/conv\/filters/)
})
