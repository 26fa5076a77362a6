import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, OstiaryError, type OstiaryErrorCode, type RetryEvent } from './index.ts'

type Answer = 'reset' | { status: number; body?: unknown; headers?: Record<string, string> }
interface SentCall {
  url: string
  idempotencyKey: string | null
}

const CREATED = {
  status: 201,
  body: { id: 'x', value: 'y' },
}
const HTML = '<html>Bad gateway</html>'

/** A client whose calls get the given answers one after the other, with what it called, logged and reported. */
function answering(answers: Answer[], options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const seen: SentCall[] = []
  const lines: string[] = []
  const retries: RetryEvent[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    seen.push({ url: String(url), idempotencyKey: new Headers(init?.headers).get('idempotency-key') })
    const answer = answers.shift() ?? 'reset'
    if (answer === 'reset') throw new TypeError('fetch failed')
    const { status, body, headers = {} } = answer
    return new Response(typeof body === 'string' ? body : JSON.stringify(body ?? {}), { status, headers })
  }
  const logger = { warn: (text: string) => void lines.push(text) }
  const client = createClient({
    baseUrl: 'https://ostiary.example',
    fetch,
    logger,
    onRetry: (event) => void retries.push(event),
    ...options,
  })
  return { client, seen, lines, retries }
}

const failureOf = async (call: Promise<unknown>): Promise<OstiaryError> => {
  const [outcome] = await Promise.allSettled([call])
  assert.ok(outcome.status === 'rejected' && outcome.reason instanceof OstiaryError)
  return outcome.reason
}

test('a reset connection, 408, 429, 500, 502, 503 and 504 are repeated with the same idempotency key', async () => {
  const passing: Answer[] = ['reset', ...[408, 429, 500, 502, 503, 504].map((status) => ({ status, body: HTML }))]
  for (const first of passing) {
    const { client, seen, retries } = answering([first, CREATED])
    await client.strings.create({ value: 'y' })
    assert.equal(seen.length, 2)
    assert.ok(seen[0]?.idempotencyKey)
    assert.equal(seen[0]?.idempotencyKey, seen[1]?.idempotencyKey)
    const [retry] = retries
    assert.deepEqual([retry?.operation, retry?.attempt], ['createString', 1])
    assert.equal(retry?.error.status, first === 'reset' ? 0 : first.status)
  }
})

test('other failures are not repeated, and two calls have two idempotency keys', async () => {
  for (const status of [400, 401, 403, 404, 409, 410, 501]) {
    const { client, seen } = answering([{ status }])
    assert.equal((await failureOf(client.strings.create({ value: 'y' }))).status, status)
    assert.equal(seen.length, 1)
  }
  const { client, seen } = answering([CREATED, CREATED])
  await client.strings.create({ value: 'y' })
  await client.strings.create({ value: 'y' })
  assert.notEqual(seen[0]?.idempotencyKey, seen[1]?.idempotencyKey)
})

test('waits are random parts of a time that doubles, and never shorter than Retry-After', async () => {
  const waits: number[][] = [[], [], []]
  for (let run = 0; run < 4; run++) {
    const { client, retries } = answering(['reset', 'reset', 'reset', 'reset'])
    assert.equal((await failureOf(client.describe())).code, 'CONNECTION_FAILED')
    for (const { attempt, waitMs } of retries) waits[attempt - 1]?.push(waitMs)
  }
  for (const [tried, found] of waits.entries()) {
    assert.equal(found.length, 4)
    assert.ok(Math.max(...found) <= 250 * 2 ** tried, `${found}`)
    assert.ok(new Set(found).size > 1, 'waits differ')
  }
  const busy = { status: 429, headers: { 'retry-after': '2' } }
  const { client, retries, lines } = answering([busy, { status: 200 }])
  await client.describe()
  assert.ok((retries[0]?.waitMs ?? 0) >= 2000 && (retries[0]?.waitMs ?? 0) <= 2200)
  assert.match(lines.join('\n'), /^ostiary: describeService: waiting 2(\.\d)? s for attempt 2/)
})

test('a wait that is longer than maxWaitMs fails at once, and logger null writes nothing', async () => {
  const busy = { status: 429, headers: { 'retry-after': '30' } }
  const { client, seen } = answering([busy])
  assert.equal((await failureOf(client.describe())).retryAfterSeconds, 30)
  assert.equal(seen.length, 1)
  const silent = answering([{ status: 503, headers: { 'retry-after': '2' } }, { status: 200 }], { logger: null })
  await silent.client.describe()
  assert.equal(silent.retries.length, 1)
})

test('a signal ends the wait for the next attempt, and every method passes it on', async () => {
  const { client, seen } = answering([{ status: 503, headers: { 'retry-after': '15' } }])
  const stopped = new AbortController()
  const call = client.strings.get('x', { signal: stopped.signal })
  stopped.abort(new Error('enough'))
  await assert.rejects(call, /enough/)
  assert.equal(seen.length, 1)
})

test('a clock of test mode is not advanced twice, and a session is cancelled once', async () => {
  const lost = answering(['reset'])
  assert.equal((await failureOf(lost.client.test.advanceClock(60))).status, 0)
  assert.equal(lost.seen.length, 1)
  const ended = { status: 409, body: { statusCode: 409, code: 'SESSION_NOT_OPEN', message: 'ended' } }
  const { client, seen } = answering(['reset', ended, { status: 200, body: { flowStatus: 'CANCELLED' } }])
  assert.equal((await client.age.cancel('token')).flowStatus, 'CANCELLED')
  assert.equal(seen.at(-1)?.url, 'https://ostiary.example/session/token/result')
  assert.equal((await failureOf(answering([ended]).client.age.cancel('token'))).code, 'SESSION_NOT_OPEN')
})

test('an error code with a typing error does not compile, and a code of a later release arrives as it is', async () => {
  const known: OstiaryErrorCode[] = ['NOT_FOUND', 'RATE_LIMITED', 'CONNECTION_FAILED', 'invalid_client']
  // @ts-expect-error: the code is NOT_FOUND
  const misspelt: OstiaryErrorCode = 'NOT_FUND'
  assert.ok(!known.includes(misspelt))
  const body = { statusCode: 400, code: 'CODE_OF_NEXT_YEAR', message: 'new' }
  const { code } = await failureOf(answering([{ status: 400, body }]).client.describe())
  assert.equal(String(code), 'CODE_OF_NEXT_YEAR')
})

test('a base URL that cannot work is refused when the client is created', () => {
  const refused: [string, RegExp][] = [
    ['', /baseUrl is missing/],
    ['localhost:18431', /must begin with https/],
    ['ostiary.example.com', /must begin with https/],
    ['ftp://ostiary.example.com', /must begin with https/],
    ['https://', /must begin with https/],
    ['https:ostiary.example.com', /must begin with https/],
    ['https://me:secret@ostiary.example.com', /no user name or password/],
    ['https://ostiary.example.com/?a=1', /no query/],
    ['https://ostiary.example.com#x', /no query and no fragment/],
  ]
  for (const [baseUrl, message] of refused) {
    assert.throws(() => createClient({ baseUrl }), { name: 'OstiaryError', code: 'INVALID_OPTION', message }, baseUrl)
  }
  const untyped: object = { baseUrl: undefined }
  assert.throws(() => createClient(untyped as { baseUrl: string }), /baseUrl is missing/)
  for (const baseUrl of ['http://127.0.0.1:8080', 'https://example.com/ostiary/', 'HTTPS://OSTIARY.EXAMPLE']) {
    createClient({ baseUrl })
  }
})

test('warnings of the service are in the result, go to onWarning, and are logged once', async () => {
  const headers = { 'x-config-warning': 'estimate-without-buffer, ignored-field: livenessEnabled' }
  const created = { status: 201, body: { token: 't', launchUrl: 'u' }, headers }
  const reported: string[] = []
  const onWarning = ({ code }: { code: string }, operation: string) => void reported.push(`${operation} ${code}`)
  const { client, lines } = answering([created, created, { ...created, headers: {} }], { onWarning })
  const { warnings, ...session } = await client.age.create({
    ageThreshold: 18,
    redirectUrl: 'https://shop.example/back',
  })
  assert.deepEqual(session, created.body)
  assert.deepEqual(
    warnings.map(({ code, subject }) => [code, subject]),
    [
      ['estimate-without-buffer', undefined],
      ['ignored-field', 'livenessEnabled'],
    ],
  )
  await client.age.create({ ageThreshold: 18, redirectUrl: 'https://shop.example/back' })
  assert.deepEqual(
    (await client.age.create({ ageThreshold: 30, redirectUrl: 'https://shop.example/back' })).warnings,
    [],
  )
  assert.equal(reported.length, 4)
  assert.equal(reported[0], 'createSession estimate-without-buffer')
  assert.equal(lines.length, 2, 'each warning once')
  assert.match(lines[0] ?? '', /^ostiary: createSession: estimate-without-buffer: ageThreshold is below 28/)
})
