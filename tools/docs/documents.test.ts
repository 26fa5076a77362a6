// spec-kind: docs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  HIT_BUDGET,
  INDICATOR_PATHS,
  LAUNCH_RATES,
  PRIVACY_TOOL_MAX,
  RETIRED_SESSION_CODES,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  RISK_POLICY_VERSION,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  TENANT_SETTINGS_DEFAULTS,
} from '@ostiary/contract'
import { ROOT } from '@ostiary/testkit/run'

const read = (name: string) => readFileSync(`${ROOT}docs/${name}.md`, 'utf8')
const riskFlags = read('risk-flags')
const sessionCodes = read('session-codes')
const configuration = read('configuration')
const rowsOf = (document: string, pattern: RegExp) => document.split('\n').filter((line) => pattern.test(line))

test('[X-008] the document says what each recommendation means and that it is the primary field', () => {
  assert.match(riskFlags, /`recommendation` is the primary field for access decisions/)
  assert.match(riskFlags, /`ALLOW` means proceed, `REVIEW` means manual review, `BLOCK` means deny/)
})

test('the documents say that the outcome comes before the recommendation, and what one without signals is', () => {
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ')
  const first = /\*\*The outcome comes first\.\*\* .*flowStatus.*COMPLETED.*SUCCESS/
  assert.match(plain(riskFlags), first)
  for (const [page, outcome] of [
    ['age', 'flowStatus'],
    ['verification', 'status'],
  ] as const) {
    const text = plain(read(`api/${page}`))
    assert.match(text, new RegExp(`\\*\\*First \`${outcome}\``), page)
    assert.match(text, /[Ww]here all `signals` are null nothing was evaluated/, page)
  }
})

test('the document of risk flags has one row per flag, with its weight and floor', () => {
  const rows = rowsOf(riskFlags, /^\| `(BR|BH|HO|NW|DO)_/)
  assert.deepEqual(
    rows
      .map((row) => row.split(' | ').map((cell) => cell.replaceAll(/[`|¹]/g, '').trim()))
      .map((row) => [row[0], row[2], row[3]]),
    RISK_FLAG_CODES.map((code) => [code, String(RISK_FLAGS[code].weight), String(RISK_FLAGS[code].floor || '-')]),
  )
})

test('the document of risk flags says of every indicator what the page looks at', () => {
  const rows = rowsOf(riskFlags, /^\| `(headless|virtualCamera|browserAnomalies)\./)
  assert.deepEqual(
    rows.map((row) => /^\| `([\w.]+)` \| .+ \| .+ \|$/.exec(row)?.[1]),
    INDICATOR_PATHS,
  )
})

test('the document of risk flags shows the levels without gap', () => {
  assert.deepEqual(rowsOf(riskFlags, /^\| \d+ to \d+ /), [
    '| 0 to 29 | `LOW` | `ALLOW` |',
    '| 30 to 59 | `MEDIUM` | `REVIEW` |',
    '| 60 to 84 | `HIGH` | `REVIEW` |',
    '| 85 to 100 | `CRITICAL` | `BLOCK` |',
  ])
})

test('a circumstance that softens a flag stands in its row', () => {
  const [row] = rowsOf(riskFlags, /^\| `BR_VCAM_LABEL`/)
  assert.equal(
    row,
    '| `BR_VCAM_LABEL` | The name of the camera looks like a virtual one. `virtualCamera.suspiciousLabels` | 50 | 60 | ' +
      'A phone that serves as a webcam. Weight 20 when the camera is a phone that serves as a webcam (Continuity Camera, DroidCam). |',
  )
})

test('the document of session codes has one row per code, and marks what a device may report', () => {
  const rows = rowsOf(sessionCodes, /^\| -?\d+ \| /)
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
  for (const [code, name] of Object.entries(RETIRED_SESSION_CODES)) {
    assert.ok(sessionCodes.includes(`- ${code} is never sent.`))
    assert.ok(sessionCodes.includes(`used it for ${SESSION_CODES[name].code} \`${name}\`.`))
    assert.ok(!sessionCodes.includes(`\n| ${code} |`))
  }
})

test('the prose around the tables names the numbers of the contract', () => {
  const { hour, day } = HIT_BUDGET
  const comparisons = TENANT_SETTINGS_DEFAULTS.failedComparisonsPerHour.toLocaleString('en')
  for (const [document, text] of [
    [sessionCodes, `## Reasons of ${SESSION_CODES.CAMERA_FAIL.code} \`CAMERA_FAIL\``],
    [riskFlags, `version \`${RISK_POLICY_VERSION}\``],
    [riskFlags, `with code ${SESSION_CODES.POLICY_BLOCKED.code} (`],
    [riskFlags, `at most ${PRIVACY_TOOL_MAX},`],
    [riskFlags, `All ${INDICATOR_PATHS.length} are evaluated`],
    [configuration, `the ${comparisons} of \`failed-comparisons\``],
    [configuration, `From ${hour.alarm} an hour or ${day.alarm} a day`],
    [configuration, `${hour.most} in any hour or ${day.most} in any day`],
    [
      configuration,
      `${LAUNCH_RATES.address.perSecond} calls a second per address and ${LAUNCH_RATES.session.perSecond} per session`,
    ],
  ] as const)
    assert.ok(document.includes(text), text)
})

test('no cell of the tables breaks its row', () => {
  for (const document of [riskFlags, sessionCodes, configuration, read('errors')]) {
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
