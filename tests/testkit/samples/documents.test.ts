import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitChecks, parseAamva, parseMrz } from '@ostiary/documents'
import { cardZone, inventHolder, licenceText, passportZone } from './documents.ts'

const HOLDER = inventHolder({ birth: '1987-03-09', expiry: '2031-10-24', seed: 2 })
const { familyName, givenNames, number, birth, expiry } = HOLDER
const TODAY = '2026-11-17'

for (const [format, zone] of [
  ['TD3', passportZone],
  ['TD1', cardZone],
] as const)
  test(`the zone of a ${format} says who holds the document, and one check digit fails if it is to`, () => {
    const text = parseMrz(format, zone(HOLDER), TODAY)
    assert.ok(text)
    assert.deepEqual(
      [text.familyName, text.givenNames, text.number, text.birth, text.expiry],
      [familyName, givenNames, number, birth, expiry],
    )
    assert.ok(digitChecks(format, zone(HOLDER)).every(({ holds }) => holds))
    const failing = digitChecks(format, zone(HOLDER, { failingDigit: true })).filter(({ holds }) => !holds)
    assert.deepEqual(
      failing.map(({ of }) => of),
      ['birth'],
    )
  })

test('the barcode of a licence says who holds it', () => {
  const text = parseAamva(licenceText(HOLDER))
  assert.ok(text)
  assert.deepEqual(
    [text.familyName, text.givenNames, text.number, text.birth, text.expiry],
    [familyName, givenNames, number, birth, expiry],
  )
})

test('another seed is another person', () => {
  const other = inventHolder({ birth, expiry, seed: 3 })
  assert.notEqual(other.familyName, familyName)
  assert.notEqual(other.number, number)
})
