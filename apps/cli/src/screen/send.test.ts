import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { after, before, beforeEach, test } from 'node:test'
import { createClient } from '@ostiary/sdk'
import { type SendOptions, type SendProgress, screenFile } from './send.ts'

/** A fake service with the answers that a test sets. tests/acceptance/screen-cli.test.ts uses the real one. */
let server: Server
let folder: string
let received: { query: string; rows: string[] }[] = []
let refusals: { status: number; body: object }[] = []
before(async () => {
  folder = await mkdtemp(`${tmpdir()}/ostiary-send-`)
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const file = Buffer.concat(chunks).toString().split('\r\n\r\n')[1]?.split('\r\n--')[0] ?? ''
      const rows = file.trim().split('\n')
      const refusal = refusals.shift()
      if (!refusal) received.push({ query: new URL(request.url ?? '', 'http://x').search, rows })
      response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(refusal?.body ?? replyFor(rows.length - 1)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => {
  received = []
  refusals = []
})
after(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

function replyFor(total: number) {
  const matched = { count: 0, records: [] }
  const facts = { dataset: 'demo', version: 'v7', scorerVersion: '1', scoreThreshold: 0.9, warnings: 0 }
  return { summary: { total, matched, ...facts, runId: `run-${received.length}` }, results: [] }
}

async function screen(text: string, change: Partial<SendOptions> = {}) {
  const path = `${folder}/people.csv`
  await writeFile(path, text)
  const seen: SendProgress[] = []
  const { port } = server.address() as AddressInfo
  const screening = await screenFile({
    client: createClient({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }),
    path,
    dataset: 'demo',
    threshold: 0.9,
    version: undefined,
    keepResults: false,
    onProgress: (progress) => seen.push(progress),
    limits: { bytes: TWO_ROWS_BYTES },
    second: async () => {},
    ...change,
  })
  return { screening, seen }
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

test('at the rate limit the command waits as long as the service says, and shows the wait', async () => {
  refusals = [{ status: 429, body: { code: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 3 } }]
  const { screening, seen } = await screen(FIVE)
  assert.equal(screening.total, 5)
  assert.deepEqual(
    seen.flatMap(({ pause }) => (pause ? [`${pause.reason} ${pause.seconds}`] : [])),
    ['rate limit reached 3', 'rate limit reached 2', 'rate limit reached 1'],
  )
})

test('the command fails when the service asks it to wait an hour', async () => {
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

test('a missing file is reported by its name', async () => {
  await assert.rejects(screen(FIVE, { path: `${folder}/none.csv` }), /^Error: There is no file .*none\.csv$/)
})
