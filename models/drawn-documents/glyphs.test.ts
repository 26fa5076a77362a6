import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MRZ_CHARACTERS } from '@ostiary/documents'
import { AS_CUT, coverageOf, loadCuts } from './glyphs.ts'

const inkOf = (data: Float32Array) => data.reduce((sum, value) => sum + value, 0)

test('every character of both cuts has ink, inside its cell', () => {
  for (const cut of loadCuts())
    for (const character of MRZ_CHARACTERS) {
      const { width, height, data } = coverageOf(cut, character, { pitch: 20 })
      assert.ok(inkOf(data) > 25, `${cut.name} ${character}`)
      const border = data.filter((_, at) => at < width || at >= width * (height - 1) || at % width === 0)
      assert.equal(inkOf(border), 0, `${cut.name} ${character} reaches the border`)
    }
})

test('a heavier print has more ink, a narrower one less width', () => {
  const [cut] = loadCuts()
  assert.ok(cut)
  const plain = coverageOf(cut, 'H', { pitch: 30 })
  const heavy = coverageOf(cut, 'H', { pitch: 30, morph: { ...AS_CUT, weight: 0.03 } })
  assert.ok(inkOf(heavy.data) > inkOf(plain.data) * 1.3)
  const narrow = coverageOf(cut, 'H', { pitch: 30, morph: { ...AS_CUT, width: 0.8 } })
  const columnsWithInk = ({ width, data }: typeof plain) =>
    Array.from({ length: width }, (_, x) => data.some((value, at) => at % width === x && value > 0.5)).filter(Boolean)
      .length
  assert.ok(columnsWithInk(narrow) < columnsWithInk(plain) - 2)
})
