import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDigit } from '../mrz/check-digits.ts'
import type { MrzRead } from '../types.ts'
import { ACCEPTANCE, acceptReads } from './accept.ts'

const withDigit = (text: string) => text + checkDigit(text)

function passport({
  code = 'P<',
  state = 'UTO',
  wrongDigit = false,
  confidence = 0.99,
  leastConfidence = 0.9,
  leastUnchecked = 0.9,
  isSteady = true,
} = {}): MrzRead {
  const birth = withDigit('900412')
  const second = `${withDigit('X1234567<')}UTO${wrongDigit ? `900412${(Number(birth[6]) + 1) % 10}` : birth}F${withDigit('331130')}${'<'.repeat(15)}`
  const composite = checkDigit(second.slice(0, 10) + second.slice(13, 20) + second.slice(21))
  return {
    format: 'TD3',
    lines: [`${code}${state}OSKVAN<<YLORIL`.padEnd(44, '<'), second + composite],
    confidence,
    leastConfidence,
    leastUnchecked,
    isSteady,
    corners: [corner, corner, corner, corner],
    pixelsPerCharacter: 20,
  }
}
const corner = { x: 0, y: 0 }
const times = (count: number, read: MrzRead) => Array.from({ length: count }, () => read)

test('one frame is not enough, two equal ones are', () => {
  assert.equal(acceptReads([passport()]).state, 'searching')
  assert.deepEqual(acceptReads(times(2, passport())), { state: 'accepted', read: passport(), equalFrames: 2 })
})

test('two frames that differ in one letter of the name are not equal', () => {
  const other = passport()
  const changed = { ...other, lines: [other.lines[0]?.replace('OSKVAN', 'QSKVAN') ?? '', other.lines[1] ?? ''] }
  assert.equal(acceptReads([passport(), changed]).state, 'searching')
  assert.equal(acceptReads([passport(), changed, passport()]).state, 'accepted')
})

test('frames below any of the three confidences, or with a character that looks different from beside, do not count', () => {
  const dim = passport({ confidence: ACCEPTANCE.confidenceMin - 0.01 })
  const smudged = passport({ leastConfidence: ACCEPTANCE.leastConfidenceMin - 0.01 })
  const doubtfulName = passport({ leastUnchecked: ACCEPTANCE.leastUncheckedMin - 0.01 })
  const unsteady = passport({ isSteady: false })
  const frames = [dim, dim, smudged, smudged, doubtfulName, doubtfulName, unsteady, unsteady, passport()]
  assert.equal(acceptReads(frames).state, 'searching')
})

test('a failed check digit is believed after four certain frames, not after three', () => {
  const tampered = passport({ wrongDigit: true })
  assert.equal(acceptReads(times(3, tampered)).state, 'searching')
  assert.equal(acceptReads(times(4, tampered)).state, 'digit_failed')
  const unsure = passport({ wrongDigit: true, leastConfidence: ACCEPTANCE.failedDigit.leastConfidenceMin - 0.01 })
  assert.equal(acceptReads(times(9, unsure)).state, 'searching')
})

test('a document code or a state that no list has is never accepted', () => {
  assert.equal(acceptReads(times(5, passport({ code: 'F<' }))).state, 'searching')
  assert.equal(acceptReads(times(5, passport({ state: 'QNY' }))).state, 'searching')
})
