import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBirth, readExpiry, readIssueMonth } from './dates.ts'

const TODAY = '2026-11-17'

test('a birth date falls into the latest century that does not put it into the future', () => {
  assert.equal(readBirth('261117', TODAY), '2026-11-17')
  assert.equal(readBirth('261118', TODAY), '1926-11-18')
  assert.equal(readBirth('261201', TODAY), '1926-12-01')
  assert.equal(readBirth('000101', TODAY), '2000-01-01')
  assert.equal(readBirth('991231', TODAY), '1999-12-31')
  assert.equal(readBirth('270101', TODAY), '1927-01-01')
})

test('the century rule holds at both ends of a century', () => {
  assert.equal(readBirth('991231', '2099-12-31'), '2099-12-31')
  assert.equal(readBirth('991231', '2099-12-30'), '1999-12-31')
  assert.equal(readBirth('000101', '2100-01-01'), '2100-01-01')
  assert.equal(readBirth('000102', '2100-01-01'), '2000-01-02')
  assert.equal(readBirth('991231', '2000-01-01'), '1999-12-31')
})

test('no birth date is in the future or more than 100 years ago, on any day', () => {
  for (let year = 0; year < 100; year += 1)
    for (const rest of ['0101', '0228', '1117', '1118', '1231', '<<<<', '0000', '12<<']) {
      const birth = readBirth(`${String(year).padStart(2, '0')}${rest}`, TODAY) ?? ''
      assert.ok(birth <= TODAY && birth > '1926-11-17', `${year} ${rest} ${birth}`)
    }
})

test('29 February is a birthday in leap years only', () => {
  assert.equal(readBirth('040229', TODAY), '2004-02-29')
  assert.equal(readBirth('000229', TODAY), '2000-02-29')
  assert.equal(readBirth('050229', TODAY), undefined)
  assert.equal(readBirth('000229', '1999-06-01'), undefined)
})

test('an unknown day or month makes the person as young as they can be', () => {
  assert.equal(readBirth('0802<<', TODAY), '2008-02-29')
  assert.equal(readBirth('080200', TODAY), '2008-02-29')
  assert.equal(readBirth('08<<<<', TODAY), '2008-12-31')
  assert.equal(readBirth('080000', TODAY), '2008-12-31')
  assert.equal(readBirth('26<<<<', TODAY), TODAY)
  assert.equal(readBirth('2611<<', TODAY), TODAY)
  assert.equal(readBirth('2612<<', TODAY), '1926-12-31')
})

test('without a year, or with a day of no known month, there is no birth date', () => {
  for (const text of ['<<<<<<', '<<1117', '08<<17', '080017', '081317', '080431', '', '0811170', 'ABCDEF'])
    assert.equal(readBirth(text, TODAY), undefined, text)
})

test('an expiry lies at most fifty years ahead, otherwise in the century before', () => {
  assert.equal(readExpiry('261116', TODAY), '2026-11-16')
  assert.equal(readExpiry('761231', TODAY), '2076-12-31')
  assert.equal(readExpiry('770101', TODAY), '1977-01-01')
  assert.equal(readExpiry('991231', TODAY), '1999-12-31')
  assert.equal(readExpiry('050101', '2099-12-31'), '2105-01-01')
})

test('an expiry without day counts from the first, an empty one means no expiry, another text is no date', () => {
  assert.equal(readExpiry('2707<<', TODAY), '2027-07-01')
  assert.equal(readExpiry('27<<<<', TODAY), '2027-01-01')
  assert.equal(readExpiry('<<<<<<', TODAY), 'none')
  assert.equal(readExpiry('000000', TODAY), 'none')
  for (const text of ['271301', '270230', '<<0101', '']) assert.equal(readExpiry(text, TODAY), undefined, text)
})

test('a month of issue is not in the future', () => {
  assert.equal(readIssueMonth('2611', TODAY), '2026-11-01')
  assert.equal(readIssueMonth('2612', TODAY), '1926-12-01')
  assert.equal(readIssueMonth('8806', TODAY), '1988-06-01')
  assert.equal(readIssueMonth('8813', TODAY), undefined)
})
