import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf } from '../commands/exceptions.ts'
import { marked } from './report-alignment.ts'
import { csvCell, csvReport } from './report-csv.ts'
import { htmlReport } from './report-html.ts'
import { screenedAt } from './screening.ts'
import { aMatch, aRecord, aScreening, RUN_ID } from './testing/screening.ts'

test('CSV: one line per match, for spreadsheets', () => {
  const two = aRecord({ matches: [aMatch(), aMatch({ entityId: 'demo-04', sourceUrl: null, score: 0.95 })] })
  const lines = csvReport({ matched: [two] }).split('\r\n')
  assert.equal(lines.length, 4)
  assert.match(lines[0] ?? '', /^\ufeff"row id","line","firstname"/)
  assert.equal(
    lines[1],
    `"3","4","Tormund","Valshakken","1958-02-11","0.9900","demo-03","Tormund Valshaken","Tormund Valshaken","demo","392a6256-1","1958-02-11","no; xb","A programme","https://lists.example/demo-03","typo in 'valshakken'~'valshaken'; born on the same day, 1958-02-11"`,
  )
  assert.equal(lines[3], '')
})

test('CSV: text that a spreadsheet would take for a formula gets an apostrophe', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n', '＝']) {
    assert.equal(csvCell(`${start}1+1`), `"'${start}1+1"`)
  }
  assert.equal(csvCell('=HYPERLINK("http://x","y")'), `"'=HYPERLINK(""http://x"",""y"")"`)
  assert.deepEqual(['', 'a=b', "O'Neil", 'a"b'].map(csvCell), ['""', '"a=b"', '"O\'Neil"', '"a""b"'])
  const report = csvReport({ matched: [aRecord({ id: '-1', firstname: '=cmd|x', matches: [aMatch({ name: '@x' })] })] })
  assert.match(report, /"'-1","4","'=cmd\|x"/)
  assert.match(report, /"'@x"/)
})

const EVIL = `"><script>alert('x')</script>&`

test('HTML: all text from outside is escaped, and the report loads nothing and runs no script', () => {
  const { explanation } = aMatch()
  const match = aMatch({
    entityId: EVIL,
    name: EVIL,
    matchedName: `${EVIL}2`,
    birthDate: [EVIL],
    countries: [EVIL],
    topics: [EVIL],
    programs: [EVIL],
    sourceUrl: `https://x.example/${EVIL}`,
    dataset: EVIL,
    listVersion: EVIL,
    explanation: {
      ...explanation,
      name: [{ query: EVIL, listed: `${EVIL}2`, kind: EVIL as 'edit', similarity: 0.9 }],
      unmatchedQuery: [EVIL],
      unmatchedListed: [EVIL],
      notes: [EVIL],
      dob: { effect: 0, kind: EVIL, text: EVIL },
    },
  })
  const row = { id: EVIL, firstname: EVIL, lastname: EVIL, dob: EVIL }
  const exception = { entityId: EVIL, score: 1, exceptionId: EVIL, reason: EVIL, expiresAt: EVIL }
  const page = htmlReport(
    aScreening({
      fileName: EVIL,
      dataset: EVIL,
      version: EVIL,
      scorerVersion: EVIL,
      runIds: [EVIL],
      matched: [aRecord({ ...row, matches: [match] }), aRecord()],
      silenced: [{ ...row, match: 'false', score: 1, warnings: [], silenced: [exception] }],
      warnings: new Map([['INVALID_DOB', [EVIL]]]),
      warnedRows: 1,
    }),
  )
  assert.doesNotMatch(page, /<script|<\/script|alert\('/)
  assert.doesNotMatch(page, /<(img|link|iframe|object|base|form)\b|@import|url\(|\ssrc=/i)
  assert.match(page, /default-src 'none'/)
  const tags = [...page.matchAll(/<(\/?)([a-z0-9]+)\b[^>]*>/g)].filter(
    ([, , tag]) => !['meta', 'br'].includes(tag ?? ''),
  )
  const open: string[] = []
  for (const [, slash, tag] of tags) {
    if (slash === '') open.push(tag ?? '')
    else assert.equal(open.pop(), tag)
  }
  assert.deepEqual(open, [], 'every element is closed where it should be')
})

test('HTML: only http and https addresses become links', () => {
  const page = (sourceUrl: string | null) =>
    htmlReport(aScreening({ matched: [aRecord({ matches: [aMatch({ sourceUrl })] })] }))
  assert.match(page('https://lists.example/a?b=1&c'), /href="https:\/\/lists\.example\/a\?b=1&amp;c"/)
  for (const url of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '//x.example',
  ]) {
    assert.doesNotMatch(page(url), /href="(?!#)/, url)
  }
})

test('HTML: the report says what was checked, when, against which list, and with which result', () => {
  const page = htmlReport(aScreening())
  for (const fact of [
    'people.csv',
    '392a6256-1',
    RUN_ID,
    '2026-11-15',
    '0.95',
    'Valshaken',
    'Norway, XB',
    '1958-02-11',
  ]) {
    assert.ok(page.includes(fact), fact)
  }
  assert.match(page, /typo 0\.90/)
  assert.match(htmlReport(aScreening({ matched: [] })), /No row reached 0\.95/)
})

test('letters that only one word has are marked, unless the words have little in common', () => {
  assert.deepEqual(marked('valshakken', 'valshaken'), ['valshak<mark>k</mark>en', 'valshaken'])
  assert.deepEqual(marked('<b>', '<c>'), ['&lt;<mark>b</mark>&gt;', '&lt;<mark>c</mark>&gt;'])
  assert.deepEqual(marked('bob', 'robert'), ['bob', 'robert'])
})

test('the time of a screening is that of its first run id', () => {
  assert.equal(screenedAt(aScreening())?.toISOString(), '2026-11-15T07:39:26.028Z')
  assert.equal(screenedAt({ runIds: ['none'] }), undefined)
})

test('the end of an exception is a day that exists', () => {
  assert.equal(endOf('2027-01-01'), '2027-01-01T00:00:00.000Z')
  assert.equal(endOf('2027-01-01T12:00:00+02:00'), '2027-01-01T10:00:00.000Z')
  for (const wrong of ['2027-02-30', '2027-13-01', '01/02/2027', 'soon', '2027', '2027-01-01T12:00']) {
    assert.throws(() => endOf(wrong), /--expires must be a day/, wrong)
  }
})

test('a formula inside a cell, where a spreadsheet may begin another cell, is no formula either', () => {
  const cases = {
    "a;=cmd|'/C calc'!A0;b": "a;'=cmd|'/C calc'!A0;b",
    'a\t+1': "a\t'+1",
    'a; -1': "a;' -1",
    ' =1': "' =1",
    '\u00a0@x': "'\u00a0@x",
    '\ta': "'\ta",
    'Jean-Luc; Ana=1': 'Jean-Luc; Ana=1',
  }
  for (const [text, shown] of Object.entries(cases)) assert.equal(csvCell(text), `"${shown}"`)
})
