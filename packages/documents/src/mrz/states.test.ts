import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ICAO_CODES, ISO_3166_ALPHA_3, isStateCode, STATE_CODES } from './states.ts'

test('the list has all 249 codes of ISO 3166-1 and none of them twice', () => {
  assert.equal(ISO_3166_ALPHA_3.length, 249)
  assert.equal(STATE_CODES.size, 249 + Object.keys(ICAO_CODES).length)
  for (const code of ISO_3166_ALPHA_3) assert.match(code, /^[A-Z]{3}$/)
})

test('every code counts as it is printed, with fillers behind it', () => {
  for (const code of STATE_CODES) assert.ok(isStateCode(code.padEnd(3, '<')), code)
})

test('a code with one wrong letter, without its fillers or with a filler inside does not count', () => {
  for (const text of ['QNY', 'D', 'D<', '<D<', 'U<O', '<<<', 'GBT', 'DEV', '', 'uto'])
    assert.ok(!isStateCode(text), text)
})
