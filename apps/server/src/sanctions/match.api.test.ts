/** `POST /v2/open-sanctions/match/:dataset`: people in JSON, with the answer of a file. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PROCESSOR_BUDGETS, type ScreenReply } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { createScreening, HEADER, SANCTIONS_KEY } from './testing/screening.ts'

const server = await createScreening()
const key = (await server.tenantWithKey(SANCTIONS_KEY)).key

const VARDO = { id: '0017', firstname: 'Vardo', lastname: 'Quellmar', dob: '1961-04-17' }
const NOBODY = { id: '0018', firstname: 'Ana', lastname: 'Example', dob: '1990-05-04' }

interface Call {
  dataset?: string
  query?: string
  /** `''` for no key. */
  apiKey?: string
}

const match = (payload: unknown, { dataset = 'demo', query = '', apiKey = key }: Call = {}) =>
  server.inject({
    method: 'POST',
    url: `/v2/open-sanctions/match/${dataset}${query}`,
    headers: { 'content-type': 'application/json', ...(apiKey !== '' && { 'x-api-key': apiKey }) },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  })

async function answer(people: object[], call?: Call): Promise<ScreenReply> {
  const response = await match({ people }, call)
  assert.equal(response.statusCode, 200, response.body)
  assert.match(String(response.headers['content-type']), /^application\/json/)
  return response.json<ScreenReply>()
}

test('429 for a key that has used up its processor time, before the work; what it then uses is paid afterwards', async () => {
  const own = await server.tenantWithKey({ ...SANCTIONS_KEY, usagePlanId: 'standard' })
  const { platform, config } = server.wire
  const payer = { keyId: own.record.id, rateFactor: 1 }
  const time = platform.processorTimeOf('screening', payer, { processors: config.sanctions.threads })
  await answer([VARDO], { apiKey: own.key })
  assert.ok(platform.limiter.owed(`screening/${own.record.id}`, platform.clock.monotonicMs()) > 0)
  time.spend(60_000 * config.sanctions.threads)
  const refused = await match({ people: [VARDO] }, { apiKey: own.key })
  assert.deepEqual([refused.statusCode, refused.json().code], [429, 'RATE_LIMITED'])
  assert.equal(Math.round(Number(refused.headers['retry-after']) / 10), 6)
})

test('[U2] a file that is accepted is finished, whatever it costs; the next one is refused before it is read', async () => {
  const own = await server.tenantWithKey({ ...SANCTIONS_KEY, usagePlanId: 'standard' })
  const { platform } = server.wire
  const processors = server.wire.config.sanctions.threads
  const { cores, burstSeconds } = PROCESSOR_BUDGETS.screening
  const time = platform.processorTimeOf('screening', { keyId: own.record.id, rateFactor: 1 }, { processors })
  time.spend(burstSeconds * 1000 * cores * processors)
  const { results } = await server.screen(HEADER + '1,Ana,Example,1990-05-04\n'.repeat(2_000), { key: own.key })
  assert.equal(results.length, 2_000)
  const refused = await server.send(HEADER, { key: own.key })
  assert.deepEqual([refused.statusCode, refused.json().code], [429, 'RATE_LIMITED'])
})

describe('200', () => {
  test('one person, and many, get the answer that a file with these rows gets', async () => {
    const people = [
      VARDO,
      NOBODY,
      { id: '3', firstname: 'Tormund', lastname: 'Valshakken', dob: '' },
      { id: '4', firstname: '', lastname: '', dob: '17.04.1961' },
      { id: '5', firstname: 'J.', lastname: '', dob: '1961' },
    ]
    const csv = HEADER + people.map((each) => `${Object.values(each).join(',')}\n`).join('')
    for (const query of ['', '?scoreThreshold=0.6']) {
      const ofFile = await server.screen(csv, { query, key })
      const ofMatch = await answer(people, { query })
      const sameRun = { runId: ofFile.summary.runId }
      // A file has its header in line 1.
      for (const record of ofMatch.summary.matched.records) record.line++
      assert.deepEqual({ ...ofMatch, summary: { ...ofMatch.summary, ...sameRun } }, ofFile)
      assert.ok(ofMatch.summary.matched.count >= 2)
    }
    const one = await answer([VARDO])
    assert.deepEqual([one.summary.total, one.results.length, one.summary.matched.records[0]?.line], [1, 1, 1])
    assert.equal(one.results[0]?.match, 'true')
  })

  test('fields may be missing: they are empty', async () => {
    const { results } = await answer([{ firstname: 'Vardo', lastname: 'Quellmar' }, { id: '2' }])
    assert.deepEqual(
      results.map(({ id, dob, match, warnings }) => [id, dob, match, warnings]),
      [
        ['', '', 'true', []],
        ['2', '', 'false', ['EMPTY_NAME']],
      ],
    )
  })

  test('100 people in one call, in their order', async () => {
    const people = Array.from({ length: 100 }, (_, n) => ({ ...(n === 99 ? VARDO : NOBODY), id: `p${n}` }))
    const { summary, results } = await answer(people)
    assert.deepEqual([summary.total, summary.matched.count, summary.matched.records[0]?.line], [100, 1, 100])
    assert.deepEqual(
      results.map(({ id }) => id),
      people.map(({ id }) => id),
    )
  })

  test('an exception silences an entry as it does in a file', async () => {
    const { key: own } = await server.tenantWithKey(SANCTIONS_KEY)
    const { id: recordId, ...person } = VARDO
    const created = await server.inject({
      method: 'POST',
      url: '/v2/open-sanctions/exceptions',
      headers: { 'x-api-key': own },
      payload: { recordId, ...person, entityId: 'demo-01', reason: 'Passport seen', expiresAt: '2026-12-31T00:00:00Z' },
    })
    assert.equal(created.statusCode, 201, created.body)
    const { results } = await answer([VARDO], { apiKey: own })
    assert.deepEqual([results[0]?.match, results[0]?.silenced?.[0]?.reason], ['false', 'Passport seen'])
    assert.equal((await answer([VARDO])).results[0]?.match, 'true', 'another tenant')
  })

  test('no key is needed where the area is open; a tenant’s own list needs its key', async () => {
    assert.equal((await answer([VARDO], { apiKey: '' })).summary.matched.count, 1)
    const { tenantId, key: own } = await server.tenantWithKey(SANCTIONS_KEY)
    await server.importCsv('custom_own', 'id,name,dob\no-1,Karvol Vorberg,1958-04-03\n', { tenantId })
    await server.look()
    const people = [{ firstname: 'Karvol', lastname: 'Vorberg' }]
    const call = { dataset: 'custom_own', apiKey: own }
    assert.equal((await answer(people, call)).summary.matched.count, 1)
    assert.equal((await match({ people }, { dataset: 'custom_own' })).statusCode, 404)
  })
})

describe('refused', () => {
  test('400: no people, more than 100, other fields, long or odd texts, no JSON', async () => {
    const long = 'x'.repeat(1_001)
    const bodies = [
      {},
      { people: [] },
      { people: Array.from({ length: 101 }, () => NOBODY) },
      { people: [{ ...NOBODY, name: 'Ana Example' }] },
      { people: [{ ...NOBODY, dob: 1990 }] },
      { people: [{ ...NOBODY, lastname: long }] },
      { people: NOBODY },
      [NOBODY],
    ]
    const { key: own } = await server.tenantWithKey(SANCTIONS_KEY)
    for (const body of bodies) {
      const { statusCode, json } = await match(body, { apiKey: own })
      assert.deepEqual([statusCode, json().code], [400, 'VALIDATION_FAILED'], JSON.stringify(body).slice(0, 80))
    }
    for (const text of ['{"people":[{"lastname":"a\\u0000b"}]}', '{"people":[{"lastname":"\\ud800"}]}', '{']) {
      const { statusCode, json } = await match(text, { apiKey: own })
      assert.deepEqual([statusCode, json().code], [400, 'INVALID_JSON'], text)
    }
  })

  test('400 and 404: the threshold, a version, the dataset', async () => {
    const body = { people: [VARDO] }
    const threshold = 'scoreThreshold must be between 0 and 1'
    for (const value of ['0', '1.1', 'x', '']) {
      const response = await match(body, { query: `?scoreThreshold=${value}` })
      assert.deepEqual([response.statusCode, response.json().message], [400, threshold], value)
    }
    assert.equal((await match(body, { query: '?version=1' })).statusCode, 400, 'an earlier version is for files')
    for (const dataset of ['nobody_has_this', 'NO-NAME']) {
      const response = await match(body, { dataset })
      assert.deepEqual([response.statusCode, response.json().code], [404, 'UNKNOWN_DATASET'], dataset)
    }
  })

  test('429: its rate is its own, and the refusal of a file says how many and where single people go', async () => {
    const { key: own } = await server.tenantWithKey({ ...SANCTIONS_KEY, livemode: true, usagePlanId: 'standard' })
    const file = () => server.send(`${HEADER}1,Ana,Example,\n`, { key: own })
    for (let n = 0; n < 6; n++) assert.equal((await file()).statusCode, 200)
    const refused = await file()
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', {
      retryAfter: refused.json().retryAfter,
      details: [
        {
          pointer: '',
          message:
            'Files: 6 a minute with a live key, 3 with a test key, 1 without a key; single people go to /v2/open-sanctions/match/{dataset}, 10 calls a second',
        },
      ],
    })
    for (let n = 0; n < 20; n++) assert.equal((await answer([NOBODY], { apiKey: own })).summary.total, 1)
    assert.match(String((await match({ people: [NOBODY] }, { apiKey: own })).headers.ratelimit), /^"sanctions-match"/)
  })
})

test('429: a fifth call of a key, until the answer of another one has left', async () => {
  const { tenantId, record } = await server.tenantWithKey(SANCTIONS_KEY)
  const caller = { tenantId, keyId: record.id, livemode: false, rateFactor: 1 }
  const { service } = server.wire.sanctions
  const waiting = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const { signal } = new AbortController()
  const asked = { caller, sender: record.id, dataset: 'demo', threshold: 0.95, requestId: 'r', signal, people: [VARDO] }
  for (const { promise } of waiting) (await service.screenPeople({ ...asked, answered: promise })).destroy()
  const fifth = () => service.screenPeople({ ...asked, answered: Promise.resolve() })
  await assert.rejects(fifth(), { code: 'TOO_MANY_FILES', message: 'Too many files at once' })
  waiting[0]?.resolve()
  ;(await fifth()).destroy()
  for (const { resolve } of waiting) resolve()
})

test('people are counted as rows and not as files, and nothing of them is logged', async () => {
  const counts = async () => {
    const text = await server.wire.platform.metrics.text()
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^ostiary_sanctions_${name}_total\\{.*\\} (\\d+)$`, 'gm'))].reduce(
        (total, [, value]) => total + Number(value),
        0,
      )
    return { files: sum('files'), rows: sum('rows') }
  }
  const start = await counts()
  await answer([{ id: 'rec-99172', firstname: 'Wqrendal', lastname: 'Obstivane', dob: '1931-07-23' }, VARDO])
  const end = await counts()
  assert.deepEqual([end.files - start.files, end.rows - start.rows], [0, 2])
  for (const secret of ['rec-99172', 'Wqrendal', 'Obstivane', '1931-07-23', 'Quellmar'])
    assert.ok(!server.logged().includes(secret), secret)
})
