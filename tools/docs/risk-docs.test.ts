// spec-kind: docs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { INDICATOR_PATHS, RISK_FLAG_CODES, RISK_FLAGS, SESSION_CODE_NAMES, SESSION_CODES } from '@ostiary/contract'
import { ROOT } from '@ostiary/testkit/run'
import { riskFlagsDocument, sessionCodesDocument } from './risk-docs.ts'

const rowsOf = (document: string, pattern: RegExp) => document.split('\n').filter((line) => pattern.test(line))

test('[X-008] the document says what each recommendation means and that it is the primary field', () => {
  const document = riskFlagsDocument()
  assert.match(document, /`recommendation` is the primary field for access decisions/)
  assert.match(document, /`ALLOW` means proceed, `REVIEW` means manual review, `BLOCK` means deny/)
})

test('the documents say that the outcome comes before the recommendation, and what one without signals is', () => {
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ')
  const first = /\*\*The outcome comes first\.\*\* .*flowStatus.*COMPLETED.*SUCCESS/
  assert.match(plain(riskFlagsDocument()), first)
  for (const [page, outcome] of [
    ['age', 'flowStatus'],
    ['verification', 'status'],
  ] as const) {
    const text = plain(readFileSync(`${ROOT}docs/api/${page}.md`, 'utf8'))
    assert.match(text, new RegExp(`\\*\\*First \`${outcome}\``), page)
    assert.match(text, /[Ww]here all `signals` are null nothing was evaluated/, page)
  }
})

test('the document of risk flags has one row per flag, with its weight and floor', () => {
  const rows = rowsOf(riskFlagsDocument(), /^\| `(BR|BH|HO|NW|DO)_/)
  assert.deepEqual(
    rows
      .map((row) => row.split(' | ').map((cell) => cell.replaceAll(/[`|¹]/g, '').trim()))
      .map((row) => [row[0], row[2], row[3]]),
    RISK_FLAG_CODES.map((code) => [code, String(RISK_FLAGS[code].weight), String(RISK_FLAGS[code].floor || '-')]),
  )
})

test('the document of risk flags says of every indicator what the page looks at', () => {
  const rows = rowsOf(riskFlagsDocument(), /^\| `(headless|virtualCamera|browserAnomalies)\./)
  assert.deepEqual(
    rows.map((row) => /^\| `([\w.]+)` \| .+ \| .+ \|$/.exec(row)?.[1]),
    INDICATOR_PATHS,
  )
})

test('the document of risk flags shows the levels without gap', () => {
  assert.deepEqual(rowsOf(riskFlagsDocument(), /^\| \d+ to \d+ /), [
    '| 0 to 29 | `LOW` | `ALLOW` |',
    '| 30 to 59 | `MEDIUM` | `REVIEW` |',
    '| 60 to 84 | `HIGH` | `REVIEW` |',
    '| 85 to 100 | `CRITICAL` | `BLOCK` |',
  ])
})

test('a circumstance that softens a flag stands in its row', () => {
  const [row] = rowsOf(riskFlagsDocument(), /^\| `BR_VCAM_LABEL`/)
  assert.equal(
    row,
    '| `BR_VCAM_LABEL` | The name of the camera looks like a virtual one. `virtualCamera.suspiciousLabels` | 50 | 60 | ' +
      'A phone that serves as a webcam. Weight 20 when the camera is a phone that serves as a webcam (Continuity Camera, DroidCam). |',
  )
})

test('the document of session codes has one row per code, and marks what a device may report', () => {
  const rows = rowsOf(sessionCodesDocument(), /^\| -?\d+ \| /)
  assert.deepEqual(
    rows.map((row) => row.match(/^\| (-?\d+) \| `(\w+)`/)?.slice(1)),
    SESSION_CODE_NAMES.map((name) => [String(SESSION_CODES[name].code), name]),
  )
  assert.equal(rows.filter((row) => row.includes('¹')).length, 17)
  assert.equal(
    rows.find((row) => row.startsWith('| -7 ')),
    '| -7 | `CAMERA_FAIL` ¹ | ends after the last try | The camera could not start, or stopped. `errorDetails` gives the reason. | Offer another device. | Camera failure |',
  )
})

test('the retired number is explained and has no row', () => {
  const document = sessionCodesDocument()
  assert.match(document, /^- -13 is never sent\. Systems of this kind used it for -8 `SESSION_EXPIRED`\.$/m)
  assert.doesNotMatch(document, /^\| -13 /m)
})

test('no cell of the tables breaks its row', () => {
  for (const document of [riskFlagsDocument(), sessionCodesDocument()]) {
    let columns = 0
    for (const line of document.split('\n')) {
      if (!line.startsWith('|')) columns = 0
      else {
        const here = line.split('|').length
        assert.equal(here, columns || here, line)
        columns = here
      }
    }
  }
})
