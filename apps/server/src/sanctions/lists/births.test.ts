import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { birthsInRemarks, parseBirthText, parseIsoBirth, parseUnBirth } from './births.ts'

const span = (from: number, to: number, circa = false) => ({ from, to, circa })

describe('parseIsoBirth', () => {
  test('takes every precision', () => {
    assert.deepEqual(parseIsoBirth('1962'), span(19620101, 19621231))
    assert.deepEqual(parseIsoBirth('1962-02'), span(19620201, 19620228))
    assert.deepEqual(parseIsoBirth('1964-02'), span(19640201, 19640229))
    assert.deepEqual(parseIsoBirth(' 1962-03-04 '), span(19620304, 19620304))
    assert.deepEqual(parseIsoBirth('1962-03-04T00:00:00Z'), span(19620304, 19620304))
    assert.deepEqual(parseIsoBirth('2000-02-29 12:30'), span(20000229, 20000229))
  })

  test('drops what cannot be', () => {
    const impossible = [
      '',
      'unknown',
      '62',
      '1962-13',
      '1962-00',
      '1962-03-00',
      '1962-02-29',
      '1900-02-29',
      '1962-04-31',
      '1385',
      '2510-01-01',
      '0000',
      '1962-3-4',
      '04-03-1962',
      '1962-03-04x',
      '19620304',
    ]
    for (const text of impossible) assert.equal(parseIsoBirth(text), null, text)
  })
})

describe('parseBirthText', () => {
  const cases: [string, ReturnType<typeof span>][] = [
    ['12 Mar 1962', span(19620312, 19620312)],
    ['1 September 1962', span(19620901, 19620901)],
    ['Sept. 1962', span(19620901, 19620930)],
    ['Feb 1964', span(19640201, 19640229)],
    ['1962', span(19620101, 19621231)],
    ['circa 1962', span(19620101, 19621231, true)],
    ['circa 12 Mar 1962', span(19620312, 19620312, true)],
    ['approximately 1962', span(19620101, 19621231, true)],
    ['1958 to 1962', span(19580101, 19621231)],
    ['circa 1958-1962', span(19580101, 19621231, true)],
    ['1958 – 1962', span(19580101, 19621231)],
    ['circa 1958 to circa 1962', span(19580101, 19621231, true)],
    ['between 1958 and 1962', span(19580101, 19621231)],
    ['12 Mar 1962 to 4 Apr 1963', span(19620312, 19630404)],
    ['Mar 1962 to Apr 1962', span(19620301, 19620430)],
    ['1962-03-04', span(19620304, 19620304)],
    ['1962.', span(19620101, 19621231)],
  ]
  for (const [text, expected] of cases) test(text, () => assert.deepEqual(parseBirthText(text), expected))

  test('drops what it does not understand', () => {
    const strange = [
      '31 Feb 1962',
      '12 Foo 1962',
      '1962 to 1958',
      '1962 to',
      'between 1958',
      '12/03/1382 (Hijri)',
      '45-50 years old',
      '12 Mar 19',
    ]
    for (const text of strange) assert.equal(parseBirthText(text), null, text)
  })
})

describe('birthsInRemarks', () => {
  test('finds all of them among other remarks', () => {
    const remarks =
      'nationality Freedonia; DOB 12 Mar 1962; alt. DOB circa 1963; POB Dobtown; Passport 1962 (Freedonia); (from a second paper: Alt. DOB: 10 October 1969; Linked To: CORDOBA 1970.'
    assert.deepEqual(birthsInRemarks(remarks), [
      span(19620312, 19620312),
      span(19630101, 19631231, true),
      span(19691010, 19691010),
    ])
  })

  test('finds none in none', () => {
    assert.deepEqual(birthsInRemarks(''), [])
    assert.deepEqual(birthsInRemarks('SWIFT/BIC DOBAXX22; DOB unknown.'), [])
  })
})

describe('parseUnBirth', () => {
  const none = { type: '', date: '', year: '', fromYear: '', toYear: '', note: '' }

  test('reads its three types', () => {
    assert.deepEqual(parseUnBirth({ ...none, type: 'EXACT', date: '1962-03-04' }), span(19620304, 19620304))
    assert.deepEqual(parseUnBirth({ ...none, type: 'EXACT', year: '1962' }), span(19620101, 19621231))
    assert.deepEqual(parseUnBirth({ ...none, type: 'APPROXIMATELY', year: '1962' }), span(19620101, 19621231, true))
    assert.deepEqual(
      parseUnBirth({ ...none, type: 'BETWEEN', fromYear: '1958', toYear: '1962' }),
      span(19580101, 19621231),
    )
  })

  test('reads what the note adds', () => {
    assert.deepEqual(parseUnBirth({ ...none, type: 'EXACT', note: 'Nov. 1962' }), span(19621101, 19621130))
    assert.deepEqual(
      parseUnBirth({ ...none, type: 'BETWEEN', fromYear: '1958', toYear: '1962', note: 'Approximately' }),
      span(19580101, 19621231, true),
    )
    assert.deepEqual(parseUnBirth({ ...none, year: '1962', note: 'Sep.' }), span(19620101, 19621231))
  })

  test('guesses nothing', () => {
    assert.equal(parseUnBirth(none), null)
    assert.equal(parseUnBirth({ ...none, type: 'BETWEEN', fromYear: '1962', toYear: '1958' }), null)
    assert.equal(parseUnBirth({ ...none, type: 'BETWEEN', fromYear: '1962' }), null)
    assert.equal(parseUnBirth({ ...none, date: '1962-02-30', note: '1963' }), null)
    assert.equal(parseUnBirth({ ...none, type: 'EXACT', note: '12/03/1382 (Hijri Calendar)' }), null)
  })
})
