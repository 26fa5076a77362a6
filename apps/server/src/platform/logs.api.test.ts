import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS } from '@ostiary/contract'
import type { InjectOptions } from 'fastify'
import { createHarness } from '../testing/harness.ts'

// Each is a value that must never be in a log: one marker per kind of place it can be sent in.
const MARK = 'MARKED7f3a'
const harness = await createHarness()
const { key } = await harness.tenantWithKey()

function attempts(method: string, path: string): InjectOptions[] {
  const url = path.replace(/:[a-z]+/g, `${MARK}-path`)
  const headers = {
    'x-api-key': key,
    authorization: `Bearer ${MARK}-bearer`,
    cookie: `session=${MARK}-cookie`,
    'user-agent': `${MARK}-agent`,
    'idempotency-key': `${MARK}-idempotency`,
    'x-forwarded-for': `${MARK}-address`,
    'x-request-id': `${MARK} not a plain id`,
    referer: `https://${MARK}.example`,
  }
  const payloads: (object | string)[] = [
    {
      value: `${MARK}-value`,
      metadata: {
        firstName: `${MARK}-name`,
        dateOfBirth: `${MARK}-1990-01-01`,
        vector: [0.1, 0.2],
        image: `${MARK}-jpeg`,
      },
    },
    { value: 5, [`${MARK}-field`]: `${MARK}-wrong` },
    `{"value": "${MARK}-broken`,
  ]
  const wrongKeys = ['wrong', `ost_live_${MARK}`]
  const base = { method: method as 'GET', url, headers }
  return [
    base,
    { ...base, url: `${url}?q=${MARK}-query&limit=${MARK}` },
    { ...base, url: `${url}/${MARK}-deeper` },
    ...wrongKeys.map((wrong) => ({ ...base, headers: { ...headers, 'x-api-key': `${wrong}-${MARK}` } })),
    ...payloads.map((payload) => ({ ...base, payload, headers: { ...headers, 'content-type': 'application/json' } })),
    { ...base, payload: `${MARK}-text`, headers: { ...headers, 'content-type': 'text/plain' } },
  ]
}

test('marked secrets and personal values sent through every route are in no log line', async () => {
  let sent = 0
  for (const { method, path } of [
    ...OPERATIONS,
    { method: 'GET', path: '/openapi.json' },
    { method: 'GET', path: '/nothing' },
    { method: 'POST', path: '/v1/strings' },
  ]) {
    for (const attempt of attempts(method, path)) {
      await harness.inject(attempt)
      sent++
    }
  }
  const log = harness.logged()
  assert.ok(log.split('\n').length > sent, 'every request has its line')
  assert.match(log, /"operation":"createString","status":201/)
  assert.ok(
    !log.includes(MARK),
    log.split('\n').find((line) => line.includes(MARK)),
  )
  assert.ok(!log.includes(key) && !log.includes(key.slice(12, 40)))
})

test('values in errors of the database stay out of the log', async () => {
  const local = await createHarness()
  await local.database.query(`alter table strings add constraint none check (value <> '${MARK}-value')`)
  const response = await local.inject({ method: 'POST', url: '/strings', payload: { value: `${MARK}-value` } })
  assert.equal(response.statusCode, 500)
  assert.match(local.logged(), /"errorCode":"INTERNAL < 23514"/)
  assert.ok(!local.logged().includes(MARK))
})
