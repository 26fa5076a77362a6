import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hitsTable, type Look, progressLine, silencedTable } from './hits-table.ts'
import type { SilencedRow } from './screening.ts'
import { aMatch, aRecord } from './testing/screening.ts'
import { displayWidth, harmless, truncate, wrap } from './text-width.ts'

const look = (width?: number): Look => ({ width, paint: (_style, text) => text })

const RECORDS = [
  aRecord(),
  aRecord({ id: '12', firstname: '拟甫', lastname: '虚', matches: [aMatch({ name: '虚拟甫', score: 0.96 })] }),
  aRecord({ id: '7', firstname: 'محمد', lastname: 'القشماري', matches: [aMatch({ name: 'محمد القشماري' })] }),
  aRecord({
    id: '8',
    firstname: '',
    lastname: '\u001b[31mred\u001b[0m\n',
    matches: [aMatch({ name: 'x'.repeat(300) })],
  }),
]

test('in a pipe every hit is one whole line', () => {
  assert.equal(
    hitsTable(RECORDS.slice(0, 2), look()),
    `ROW  SCORE   NAME                LISTED NAME        LIST, ENTRY   WHY
3    0.9900  Tormund Valshakken  Tormund Valshaken  demo demo-03  typo in 'valshakken'~'valshaken'; born on the same day, 1958-02-11
12   0.9600  拟甫 虚             虚拟甫             demo demo-03  typo in 'valshakken'~'valshaken'; also listed as 'Tormund Valshaken'; born on the same day, 1958-02-11`,
  )
})

test('at a terminal no line is wider than it, whatever is in the names, and nothing commands it', () => {
  for (const width of [30, 40, 63, 64, 80, 100, 140, 250]) {
    const drawn = hitsTable(RECORDS, look(width))
    for (const line of drawn.split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`)
    assert.ok(!drawn.includes('\u001b'))
    assert.match(drawn.replace(/\s+/g, ' '), /typo in 'valshakken'~'valshaken'/)
  }
})

test('columns stand below each other with wide and right-to-left names', () => {
  const lines = hitsTable(RECORDS.slice(0, 3), look(100)).split('\n')
  const starts = lines
    .filter((line) => line.includes('demo demo-03'))
    .map((line) => displayWidth(line.slice(0, line.indexOf('demo demo-03'))))
  assert.equal(new Set(starts).size, 1)
  const arabic = lines.find((line) => line.includes('محمد')) ?? ''
  assert.match(arabic, /^\u200e7 .*\u2068محمد القشماري\u2069/, 'the line keeps its direction, the names theirs')
})

test('the reason stands beside where there is room, and below where there is not', () => {
  assert.match(hitsTable(RECORDS.slice(0, 1), look(120)), /WHY\n3 .*demo demo-03 {2}typo in/)
  assert.match(hitsTable(RECORDS.slice(0, 1), look(80)), /LIST, ENTRY\n3 .*demo demo-03\n {5}typo in/)
  assert.match(hitsTable(RECORDS.slice(0, 1), look(40)), /^3 {2}0.9900 {2}Tormund Valshakken\n {2}Tormund Valshaken\n/)
})

test('entries beyond those shown are counted', () => {
  assert.match(hitsTable([aRecord({ moreMatches: 12 })], look()), /; and 12 more entries for this row$/)
})

test('silenced entries say why and until when', () => {
  const row: SilencedRow = {
    id: '3',
    firstname: 'Tormund',
    lastname: 'Valshakken',
    dob: '',
    match: 'false',
    score: 0.99,
    warnings: [],
    silenced: [
      {
        entityId: 'demo-03',
        score: 0.99,
        exceptionId: '01a1de25-6281-7fcc-8000-b61e85f1d1e4',
        reason: 'Passport seen',
        expiresAt: '2027-10-01T00:00:00.000Z',
      },
    ],
  }
  assert.equal(
    silencedTable([row], look()),
    `ROW  SCORE   NAME                ENTRY    UNTIL       REASON
3    0.9900  Tormund Valshakken  demo-03  2027-10-01  Passport seen`,
  )
})

test('widths: wide letters take two cells, marks none', () => {
  const widths = ['Ana', '虚拟甫', '한국', 'ﾊﾝｶｸ', 'e\u0301', 'مُحَمَّد', '👩‍👩‍👧', '（）'].map(displayWidth)
  assert.deepEqual(widths, [3, 6, 4, 4, 1, 4, 2, 4])
  assert.equal(truncate('虚拟甫', 3), '虚')
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrap('abcdefgh i', 3, 2), ['abc', 'de…'])
  assert.equal(harmless('a\u202eb\t\u0007c '), 'a b c')
})

test('the progress line counts rows, says why it waits, and fits', () => {
  const progress = { rows: 50_000, totalRows: 100_000, part: 2, parts: 2 }
  assert.equal(
    progressLine('people.csv', progress, 200),
    '████████████░░░░░░░░░░░░ 50,000 of 100,000 rows, part 2 of 2  people.csv',
  )
  const waiting = { ...progress, pause: { seconds: 42, reason: 'rate limit reached' } }
  assert.match(progressLine('people.csv', waiting, 200), /part 2 of 2: rate limit reached, going on in 42 s/)
  assert.ok(displayWidth(progressLine('虚'.repeat(90), waiting, 60)) < 60)
})
