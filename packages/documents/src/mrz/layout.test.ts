import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MRZ_CHARACTERS, MRZ_FORMATS, MRZ_SHAPES } from '../types.ts'
import { allowedAt, fitsLayout, MRZ_LAYOUTS, type MrzSpan } from './layout.ts'

for (const format of MRZ_FORMATS) {
  const { masks, fields, checks } = MRZ_LAYOUTS[format]
  const { lines, columns } = MRZ_SHAPES[format]

  test(`${format} has a mask for every character`, () => {
    assert.deepEqual(
      masks.map((mask) => mask.length),
      Array.from({ length: lines }, () => columns),
    )
    for (let line = 0; line < lines; line += 1)
      for (let column = 0; column < columns; column += 1)
        for (const character of allowedAt(format, line, column)) assert.ok(MRZ_CHARACTERS.includes(character))
  })

  test(`${format} has fields that do not overlap and stay inside the lines`, () => {
    const { issued: _partOfNumber, ...apart } = fields
    const seen = new Set<string>()
    for (const { line, start, end } of Object.values<MrzSpan>(apart)) {
      assert.ok(line < lines && start < end && end <= columns)
      for (let column = start; column < end; column += 1) {
        const place = `${line}:${column}`
        assert.ok(!seen.has(place), place)
        seen.add(place)
      }
    }
  })

  test(`${format} allows only digits, or also a filler, where a check digit stands`, () => {
    for (const { digit } of checks) {
      assert.equal(digit.end - digit.start, 1)
      assert.match(allowedAt(format, digit.line, digit.start), /^0123456789<?$/)
    }
  })
}

test('a line that is too short, a letter in a date and a digit in a name do not fit', () => {
  const lines = ['I<UTOD231458907<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<']
  const [first = '', second = '', third = ''] = lines
  assert.ok(fitsLayout('TD1', lines))
  assert.ok(!fitsLayout('TD1', [first, second, third.slice(1)]))
  assert.ok(!fitsLayout('TD1', [first, `74O8122${second.slice(7)}`, third]))
  assert.ok(!fitsLayout('TD1', [first, second, third.replace('ANNA', 'ANN4')]))
  assert.ok(!fitsLayout('TD1', [first, second]))
})
