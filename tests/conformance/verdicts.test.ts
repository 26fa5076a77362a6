import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'

const VERDICT = /["']?AGE_(?:ABOVE|AT)_THRESHOLD["']?/.source
/** A verdict beside `==`, `===`, `!=`, `!==` or `=` of a shell's test, in a `case`, or alone in a list that is searched. */
const COMPARED = new RegExp(
  `(?:[=!]==?|\\[ \\S+ =|\\bcase|\\bgrep -q\\w*)\\s*${VERDICT}|${VERDICT}\\s*[=!]==?|[[(]${VERDICT},?[\\])]`,
)

test('[P1] no document, README or example compares with one verdict: isOldEnough knows both', () => {
  const files = globSync(
    [
      '*.md',
      '{apps,clients,deploy,docs,measures,models,packages,tests,tools}/**/*.md',
      '{docs,clients}/**/examples/**/*.{ts,js,py,php}',
      'packages/contract/src/examples/*.ts',
      'tests/acceptance/packages/*.ts',
      'tests/acceptance/generators.test.ts',
    ],
    { cwd: ROOT, exclude: ['**/node_modules/**', 'tests/acceptance/spec-rows.md'] },
  )
  assert.ok(files.length > 60)
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) => (COMPARED.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  )
  assert.deepEqual(found, [])
})

test('[P1] a comparison is seen in every language, and an outcome or a body is none', () => {
  for (const line of [
    "result.status === 'AGE_ABOVE_THRESHOLD' &&",
    'result["status"] == "AGE_ABOVE_THRESHOLD"',
    "$result['status'] === 'AGE_ABOVE_THRESHOLD'",
    "if ('AGE_AT_THRESHOLD' !== status)",
    "case 'AGE_ABOVE_THRESHOLD':",
    "in_array($result['status'], ['AGE_ABOVE_THRESHOLD'], true)",
    'result["status"] in ("AGE_ABOVE_THRESHOLD",)',
    '[ "$STATUS" = AGE_ABOVE_THRESHOLD ]',
  ])
    assert.match(line, COMPARED)
  for (const line of [
    "await ostiary.test.outcome(id, { outcome: 'AGE_ABOVE_THRESHOLD' })",
    '"status": "AGE_ABOVE_THRESHOLD", "flowStatus": "COMPLETED",',
    'in ("AGE_AT_THRESHOLD", "AGE_ABOVE_THRESHOLD")',
    '| `AGE_ABOVE_THRESHOLD` | from 19.0 on |',
  ])
    assert.doesNotMatch(line, COMPARED)
})
