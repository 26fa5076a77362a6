import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertError, createHarness } from '../testing/harness.ts'
import { createStringsFixture, IS_UNKNOWN, IS_WRONG_KEY, UNKNOWN_ID } from './testing/fixture.ts'

const { harness, key, withKey, create } = await createStringsFixture()
after(() => harness.close())

describe('GET /', () => {
  test('200: the descriptor, also at its well-known place', async () => {
    for (const url of ['/', '/.well-known/service.json']) {
      const response = await harness.inject(url)
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), {
        service: 'ostiary',
        version: '0.1.0',
        endpoints: {
          health: 'GET /health',
          createString: 'POST /strings',
          listStrings: 'GET /strings',
          getString: 'GET /strings/:id',
          deleteString: 'DELETE /strings/:id',
        },
        areas: [
          { name: 'strings', does: 'Stores text records; also the health check.', document: 'docs/api/strings.md' },
          { name: 'sanctions', does: 'Screens people against sanctions lists.', document: 'docs/api/sanctions.md' },
          { name: 'age', does: 'Estimates an age on the end user’s device.', document: 'docs/api/age.md' },
          {
            name: 'verification',
            does: 'Enrols a face and finds its person again, with a passkey if asked for.',
            document: 'docs/api/verification.md',
          },
          {
            name: 'biometrics',
            does: 'Enrols, predicts and deletes face feature vectors.',
            document: 'docs/api/biometrics.md',
          },
        ],
      })
    }
  })
})

describe('GET / and GET /health', () => {
  test('the same under /v1', async () => {
    assert.deepEqual((await harness.inject('/v1')).json(), (await harness.inject('/')).json())
    assert.equal((await harness.inject('/v1/health')).statusCode, 200)
  })

  test('401: a wrong key, though none is needed; a right one is fine', async () => {
    for (const url of ['/', '/health', '/v1/health', '/.well-known/service.json', '/strings']) {
      assertError(await harness.inject({ url, headers: { 'x-api-key': 'wrong' } }), ...IS_WRONG_KEY)
      assert.equal((await harness.inject({ url, headers: withKey() })).statusCode, 200)
    }
    for (const method of ['GET', 'DELETE'] as const) {
      const wrong = { method, url: `/strings/${UNKNOWN_ID}`, headers: { 'x-api-key': 'wrong' } }
      assertError(await harness.inject(wrong), ...IS_WRONG_KEY)
    }
  })
})

describe('GET /health', () => {
  test('200: everything works', async () => {
    const response = await harness.inject('/health')
    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), {
      status: 'ok',
      service: 'ostiary',
      version: '0.1.0',
      uptimeSeconds: 0,
      checks: { store: 'ok' },
    })
  })

  test('[O2] 503: the store is read-only, and the process state says so at once', async () => {
    const broken = await createHarness()
    await broken.database.query(
      `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$;
       select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const health = await broken.inject('/health')
    assert.equal(health.statusCode, 503)
    assert.deepEqual(health.json(), {
      status: 'degraded',
      service: 'ostiary',
      version: '0.1.0',
      uptimeSeconds: 0,
      checks: { store: 'failed' },
      details: { store: 'The database is read-only and stores nothing' },
    })
    const ready = await broken.inject('/readyz')
    assert.deepEqual([ready.statusCode, ready.json()], [503, { status: 'degraded' }])
    const keyed = await broken.inject({ url: '/health', headers: { 'x-api-key': key } })
    assert.equal(keyed.json().status, 'degraded', 'a key that cannot be checked now does not hide the state')
    const live = await broken.inject('/livez')
    assert.deepEqual([live.statusCode, live.json()], [200, { status: 'ok' }])
  })
})

describe('who sees what', () => {
  test('no tenant reads, lists or deletes another’s record, in any mode', async () => {
    const owner = await harness.tenantWithKey()
    const record = (await create({ value: 'mine' }, { 'x-api-key': owner.key })).json()
    const stranger = await harness.tenantWithKey()
    const live = await harness.wire.keys.service.createKey(owner.tenantId, {
      livemode: true,
      name: 'live',
      scopes: ['strings:rw'],
      allowedIps: [],
    })
    const others: Record<string, string>[] = [{ 'x-api-key': stranger.key }, { 'x-api-key': live.api_key }, {}]
    for (const headers of others) {
      for (const prefix of ['', '/v1']) {
        assertError(await harness.inject({ url: `${prefix}/strings/${record.id}`, headers }), ...IS_UNKNOWN)
        assertError(
          await harness.inject({ method: 'DELETE', url: `${prefix}/strings/${record.id}`, headers }),
          ...IS_UNKNOWN,
        )
        const { items } = (await harness.inject({ url: `${prefix}/strings`, headers })).json()
        assert.ok(!items.some((item: { id: string }) => item.id === record.id))
      }
    }
    assert.equal(
      (await harness.inject({ url: `/strings/${record.id}`, headers: { 'x-api-key': owner.key } })).statusCode,
      200,
    )
  })

  test('a live key makes live records', async () => {
    const { key: liveKey } = await harness.tenantWithKey({ livemode: true })
    assert.equal((await create({ value: 'real' }, { 'x-api-key': liveKey })).json().livemode, true)
  })

  test('401: a key in a place where it is not read; what its owner sends is never stored for everybody', async () => {
    const stray = 'Missing API key: it is read from the header x-api-key'
    const misplaced: Record<string, string>[] = [
      { x_api_key: key },
      { authorization: `Bearer ${key}` },
      { authorization: 'Basic dXNlcjpwYXNz' },
      { 'api-key': 'anything' },
      { 'x-api-key': '', x_api_key: key },
    ]
    for (const headers of misplaced) {
      assertError(await create({ value: 'for my eyes' }, headers), 401, 'MISSING_API_KEY', stray)
      assertError(await harness.inject({ url: '/v1/strings', headers }), 401, 'MISSING_API_KEY', stray)
    }
    const inQuery = { method: 'POST', url: `/strings?api_key=${key}`, payload: { value: 'for my eyes' } } as const
    assertError(await harness.inject(inQuery), 401, 'MISSING_API_KEY', stray)
    const { items } = (await harness.inject('/strings')).json()
    assert.ok(!items.some((item: { value: string }) => item.value === 'for my eyes'))
  })

  test('a right key in its place counts, whatever a proxy adds', async () => {
    assert.equal((await create({ value: 'mine' }, withKey({ authorization: 'Basic dXNlcjpwYXNz' }))).statusCode, 201)
  })

  test('with AUTH_REQUIRED_AREAS=A every string route needs a key; descriptor and health do not', async () => {
    const closed = await createHarness({ AUTH_REQUIRED_AREAS: 'A' })
    for (const [method, url] of [
      ['POST', '/strings'],
      ['GET', '/strings'],
      ['GET', `/strings/${UNKNOWN_ID}`],
      ['DELETE', `/strings/${UNKNOWN_ID}`],
      ['GET', '/v1/strings'],
    ] as const) {
      assertError(await closed.inject({ method, url }), 401, 'MISSING_API_KEY', 'Missing API key')
    }
    const { key: goodKey } = await closed.tenantWithKey()
    assert.equal((await closed.inject({ url: '/strings', headers: { 'x-api-key': goodKey } })).statusCode, 200)
    assert.equal((await closed.inject('/')).statusCode, 200)
    assert.equal((await closed.inject('/health')).statusCode, 200)
  })
})

describe('rate limits', () => {
  test('429: anonymous callers get 20 at once and 2 per second, reported in standard headers', async () => {
    const local = await createHarness()
    for (let i = 0; i < 20; i++) {
      const response = await local.inject('/strings')
      assert.equal(response.statusCode, 200)
      assert.equal(response.headers['ratelimit-policy'], '"strings";q=20;w=10')
      assert.equal(response.headers.ratelimit, `"strings";r=${19 - i};t=${Math.ceil((i + 1) / 2)}`)
    }
    const refused = await local.inject('/strings')
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    local.clock.advance(500)
    assert.equal((await local.inject('/strings')).statusCode, 200)
    assert.equal((await local.inject('/strings')).statusCode, 429)
  })

  test('429: test keys get 10, live keys 20, and plans more; one key never uses up another’s', async () => {
    const local = await createHarness()
    for (const [wanted, burst] of [
      [{ livemode: false, usagePlanId: undefined }, 100],
      [{ livemode: true, usagePlanId: 'standard' }, 200],
      [{ livemode: false, usagePlanId: 'plus' }, 1000],
    ] as const) {
      const { key: limited } = await local.tenantWithKey(wanted)
      const statuses = new Map<number, number>()
      for (let i = 0; i < burst + 5; i++) {
        const { statusCode } = await local.inject({ url: `/strings/${UNKNOWN_ID}`, headers: { 'x-api-key': limited } })
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
      }
      assert.deepEqual(
        statuses,
        new Map([
          [404, burst],
          [429, 5],
        ]),
      )
    }
  })
})
