// spec-kind: docs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const page = readFileSync(new URL('../../docs/api/biometrics.md', import.meta.url), 'utf8')
const keyRecord = page.slice(page.indexOf('### The key record\n'), page.indexOf('## Feature vectors'))

test('[E-009] the document has one row per field of a key record, with its type', () => {
  const rows = [...keyRecord.matchAll(/^\| (`.+?) \| (.+?) \|/gm)].flatMap(([, names = '', type]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name, type]),
  )
  assert.deepEqual(rows, [
    ['id', 'UUID string'],
    ['api_key', 'string'],
    ['customer_id', 'string, optional'],
    ['api_id', 'string, optional'],
    ['usage_plan_id', 'string, optional'],
    ['product_code', 'string, optional'],
    ['status', 'string'],
    ['when_created', 'timestamp'],
    ['last_updated', 'timestamp'],
  ])
})

test('[E-010] the document says that no two records hold the same key', () => {
  assert.match(keyRecord, /No two records hold the same key\./)
})

test('[E-063] docs/errors.md lists the body statuses with their meanings', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const listed = new Map(
    [...text.matchAll(/^\| (-?\d+) \| (.+) \|$/gm)].map(([, status, meaning]) => [status, meaning]),
  )
  for (const [status, meaning] of [
    ['0', /^Success/],
    ['-1', /^User not enrolled; validation or server errors/],
    ['-2', /^Missing or unusable features, invalid JSON/],
    ['152', /^Face enrollment failed/],
    ['153', /^Face authentication failed/],
    ['400', /^Bad request: invalid format or missing required fields/],
    ['403', /^Forbidden: invalid or inactive API key/],
    ['500', /^Server-side processing error/],
  ] as const) {
    assert.match(listed.get(status) ?? '', meaning, status)
  }
})
