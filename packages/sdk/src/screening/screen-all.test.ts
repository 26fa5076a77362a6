import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { ScreenReply } from '@ostiary/contract'
import { createClient } from '../index.ts'
import type { RunsClient } from './runs.ts'
import { type ScreenAllOptions, type ScreenProgress, screenAll } from './screen-all.ts'

let received: { query: string; rows: string[] }[] = []
let refusals: { status: number; body: object }[] = []
/** A fake service with the answers that a test sets. tests/acceptance/screen-cli.test.ts uses the real one. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const file = Buffer.concat(chunks).toString().split('\r\n\r\n')[1]?.split('\r\n--')[0] ?? ''
    const rows = file.trim().split('\n')
    const refusal = refusals.shift()
    if (!refusal) received.push({ query: new URL(request.url ?? '', 'http://x').search, rows })
    response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(refusal?.body ?? replyFor(rows.slice(1))))
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
beforeEach(() => {
  received = []
  refusals = []
})
after(() => server.close())

function replyFor(rows: string[]) {
  const matched = { count: 0, records: [] }
  const facts = { dataset: 'demo', version: 'v7', scorerVersion: '1', scoreThreshold: 0.9, warnings: 0 }
  const results = rows.map((row) => ({ id: row.split(',')[0], match: 'false', score: null, warnings: [] }))
  return { summary: { total: rows.length, matched, ...facts, runId: `run-${received.length}` }, results }
}

async function screen(file: ScreenAllOptions['file'], change: Partial<ScreenAllOptions> = {}) {
  const seen: ScreenProgress[] = []
  const { port } = server.address() as AddressInfo
  const { sanctions } = createClient({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 })
  const options = {
    file,
    dataset: 'demo',
    scoreThreshold: 0.9,
    onProgress: (progress: ScreenProgress) => seen.push(progress),
    partBytes: TWO_ROWS_BYTES,
    ...change,
  }
  return {
    screening: await screenAll(options, { send: sanctions.screen, runs: sanctions.runs, second: async () => {} }),
    seen,
  }
}

/** A header and two rows of seven bytes. */
const TWO_ROWS_BYTES = 26 + 2 * 7
const FIVE = 'id,firstname,lastname,dob\n1,A,B,\n2,C,D,\n3,E,F,\n4,G,H,\n5,I,J,\n'

test('parts are sent one after the other, all against the version of the first', async () => {
  const { screening, seen } = await screen(FIVE)
  assert.deepEqual(
    received.map(({ query, rows }) => [query, rows.length - 1]),
    [
      ['?scoreThreshold=0.9', 2],
      ['?scoreThreshold=0.9&version=v7', 2],
      ['?scoreThreshold=0.9&version=v7', 1],
    ],
  )
  assert.ok(received.every(({ rows }) => rows[0] === 'id,firstname,lastname,dob'))
  assert.deepEqual([screening.total, screening.runIds.length, screening.fileName], [5, 3, 'people.csv'])
  assert.deepEqual(
    seen.map(({ rows, part }) => [rows, part]),
    [
      [0, 1],
      [2, 1],
      [2, 2],
      [4, 2],
      [4, 3],
      [5, 3],
    ],
  )
})

test('at the rate limit the call waits as long as the service says, and shows the wait', async () => {
  refusals = [{ status: 429, body: { code: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 3 } }]
  const { screening, seen } = await screen(FIVE)
  assert.equal(screening.total, 5)
  assert.deepEqual(
    seen.flatMap(({ pause }) => (pause ? [`${pause.reason} ${pause.seconds}`] : [])),
    ['rate limit reached 3', 'rate limit reached 2', 'rate limit reached 1'],
  )
})

test('the call fails when the service asks it to wait an hour', async () => {
  refusals = [{ status: 429, body: { code: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 3600 } }]
  await assert.rejects(screen(FIVE), { code: 'RATE_LIMITED' })
})

test('an unavailable service fails the first part at once, while the third part is retried', async () => {
  const away = { status: 503, body: { code: 'DATASET_UNAVAILABLE', message: 'The dataset cannot be read' } }
  refusals = [away]
  await assert.rejects(screen(FIVE), { code: 'DATASET_UNAVAILABLE' })
  let calls = 0
  const { screening } = await screen(FIVE, {
    onProgress: ({ part }) => {
      if (part === 3 && calls++ === 0) refusals = [away]
    },
  })
  assert.equal(screening.total, 5)
})

test('a fault in a part names the line of the file', async () => {
  refusals = []
  let isRefused = false
  const broken = { status: 400, body: { code: 'INVALID_CSV', message: 'Broken quoting in line 3', requestId: 'r' } }
  const sending = screen(FIVE, {
    onProgress: ({ part }) => {
      if (part === 2 && !isRefused) refusals = [broken]
      isRefused = part === 2
    },
  })
  await assert.rejects(sending, { message: 'Broken quoting in line 5', code: 'INVALID_CSV', requestId: 'r' })
})

test('every form of a file is cut alike; of a stream the number of rows is unknown', async () => {
  const bytes = new TextEncoder().encode(FIVE)
  async function* inThrees() {
    for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3)
  }
  const forms: [ScreenAllOptions['file'], number | undefined][] = [
    [FIVE, 5],
    [bytes, 5],
    [new Blob([bytes]), 5],
    [inThrees, 5],
    [inThrees(), undefined],
    [new Blob([bytes]).stream(), undefined],
  ]
  for (const [file, totalRows] of forms) {
    received = []
    const { screening, seen } = await screen(file)
    assert.deepEqual([received.length, screening.total, screening.fileName], [3, 5, 'people.csv'])
    assert.ok(seen.every((progress) => progress.totalRows === totalRows))
  }
})

test('a signal ends the call between two seconds of a wait, with its own reason', async () => {
  refusals = [{ status: 429, body: { code: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 60 } }]
  const stop = new AbortController()
  const onProgress = ({ pause }: ScreenProgress) => pause?.seconds === 58 && stop.abort(new Error('enough'))
  await assert.rejects(screen(FIVE, { onProgress, signal: stop.signal }), /enough/)
  assert.equal(received.length, 0)
})

test('a file that changes while it is read is an error, not a shorter answer', async () => {
  let reads = 0
  const file = () => new Blob([reads++ === 0 ? FIVE : FIVE.slice(0, -7)]).stream()
  await assert.rejects(screen(file), /changed while it was read/)
})

test('every row comes to onResult in the order of the file, and only asked for to results', async () => {
  const rows: string[] = []
  const { screening } = await screen(FIVE, { onResult: ({ id }) => rows.push(id) })
  assert.deepEqual([rows, screening.results], [['1', '2', '3', '4', '5'], undefined])
  const kept = await screen(FIVE, { keepResults: true })
  assert.deepEqual(
    kept.screening.results?.map(({ id }) => id),
    rows,
  )
})

test('a run that failed is deleted; one that is complete stays when only its comparison fails', async () => {
  for (const [failsAt, expected] of [
    ['complete', ['complete', 'delete']],
    ['compare', ['complete', 'compare']],
  ] as const) {
    const calls: string[] = []
    const note = (name: string) => async () => {
      calls.push(name)
      if (name === failsAt) throw new Error(name)
      return {}
    }
    const runs = {
      get: async () => ({ id: 'earlier', state: 'COMPLETE', dataset: 'demo' }),
      async *hits() {},
      begin: async () => ({ id: 'now' }),
      ...{ complete: note('complete'), compare: note('compare'), delete: note('delete') },
    } as unknown as RunsClient
    const send = async () => replyFor(['1,A,B,']) as unknown as ScreenReply
    const options = { file: FIVE, dataset: 'demo', since: 'earlier' }
    await assert.rejects(screenAll(options, { send, runs }), { message: failsAt })
    assert.deepEqual(calls, expected)
  }
})
