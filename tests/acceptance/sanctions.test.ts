/**
 * Area B as a customer uses it: forms over HTTP, and the SDK. Needs the bundled dataset `demo`; the second one,
 * `acceptance_list`, is an invented list that the runner imports (tests/testkit/system.ts).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, OstiaryError } from '@ostiary/sdk'
import { setting } from '@ostiary/testkit/setting'

const baseUrl = setting('OSTIARY_URL')
/** Files are limited per key and minute, so the work is spread over the keys. */
const keys = ['TEST_KEY_ONE', 'LIVE_KEY_ONE', 'TEST_KEY_TWO', 'LIVE_KEY_TWO'].map((name) => setting(`OSTIARY_${name}`))
const [one, two] = keys.map((apiKey) => createClient({ baseUrl, apiKey }).sanctions)
assert.ok(one && two)

const HEADER = 'id,firstname,lastname,dob\n'
const VARDO = 'v-1,Vardo,Quellmar,1961-04-17\n'
const QUIMBLEY = 'q-1,Quimbley,Nordvasser,1970-02-03\n'
const NOBODY = 'n-1,Maria,Beispielfrau,1990-05-04\n'
const MEGABYTES_2 = 2 * 1024 * 1024

interface Sending {
  name?: string
  field?: string
  dataset?: string
  query?: string
  key?: string | null
}

let turn = 0
/** The request of the specification: a form with one file. */
async function post(csv: string, { name = 'people.csv', field = 'file', dataset, query = '', key }: Sending = {}) {
  const body = new FormData()
  body.append(field, new Blob([csv], { type: 'text/csv' }), name)
  const apiKey = key === undefined ? keys[turn++ % keys.length] : key
  const response = await fetch(`${baseUrl}/v2/open-sanctions/file/${dataset ?? 'demo'}${query}`, {
    method: 'POST',
    headers: apiKey ? { 'x-api-key': apiKey } : {},
    body,
  })
  return { status: response.status, body: (await response.json()) as Reply }
}
type Echo = { id: string; firstname: string; lastname: string; dob: string }
interface Reply {
  summary: {
    total: number
    matched: { count: number; records: (Echo & { score: number; match: string; dataset: string })[] }
    dataset: string
  }
  results: (Echo & { match: string; score: number | null })[]
  message?: string
}

async function screen(csv: string, sending?: Sending): Promise<Reply> {
  const { status, body } = await post(csv, sending)
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  return body
}

const flags = ({ results }: Reply) => results.map(({ id, match }) => `${id} ${match}`)
const withoutRun = (reply: Reply) => ({ ...reply, summary: { ...reply.summary, runId: '' } })

/** People who are on no list. */
function strangers(count: number, prefix = 's'): string {
  const word = (n: number) => [...String(n)].map((digit) => 'abdefgikmo'[Number(digit)]).join('')
  return Array.from(
    { length: count },
    (_, n) => `${prefix}${n},Hefr${word(n)},Drostal${word(n * 7)},1987-0${1 + (n % 9)}-11\n`,
  ).join('')
}

/** A file of exactly so many bytes, the last of them in a column that is not read. */
function fileOf(bytes: number): string {
  const head = `id,firstname,lastname,dob,note\n${VARDO.trimEnd()},first\n`
  const rows = strangers(42_000)
  const cut = rows.lastIndexOf('\n', bytes - head.length - 60) + 1
  const start = `${head}${rows.slice(0, cut)}last,Ana,Example,1990-05-04,`
  return start + 'x'.repeat(bytes - start.length)
}

test('[B-001] [B-018] a form with a .csv file is screened, row by row, with a summary', async () => {
  const reply = await screen(HEADER + VARDO + NOBODY)
  assert.deepEqual(flags(reply), ['v-1 true', 'n-1 false'])
  assert.equal(typeof reply.summary, 'object')
  const noFile = await post(HEADER + VARDO, { field: 'upload' })
  assert.deepEqual([noFile.status, noFile.body.message], [400, 'No file uploaded'])
  const sdk = await one.screen({ dataset: 'demo', file: HEADER + VARDO + NOBODY })
  assert.deepEqual(withoutRun(sdk), withoutRun(reply))
})

test('[B-002] a file whose first line is data is refused', async () => {
  const { status, body } = await post(VARDO + NOBODY)
  assert.deepEqual([status, body.message], [400, 'Missing required CSV headers'])
})

test('[B-003] [B-004] columns are found by their names, in any order and any capitals', async () => {
  const plain = await screen(HEADER + VARDO)
  assert.deepEqual(flags(plain), ['v-1 true'])
  const capitals = await screen(`ID,FirstName,LASTNAME,Dob\n${VARDO}`)
  const turned = await screen('dob,extra,lastname,firstname,id\n1961-04-17,x,Quellmar,Vardo,v-1\n')
  // Were columns read by place, these two would be the same person.
  const swapped = await screen('id,dob,lastname,firstname\nv-1,Vardo,Quellmar,1961-04-17\n')
  assert.deepEqual(withoutRun(capitals), withoutRun(plain))
  assert.deepEqual(withoutRun(turned), withoutRun(plain))
  assert.deepEqual([swapped.results[0]?.dob, swapped.results[0]?.firstname], ['Vardo', '1961-04-17'])
})

test('[B-005] [B-013] each result echoes its row as texts: leading zeros and odd ids are kept', async () => {
  const rows = [
    ['007', 'Vardo', 'Quellmar', '1961-04-17'],
    ['1e3', 'Ana', 'Example', ''],
    ['id "x", y', 'José', 'O’Neil', '1990'],
    ['', '拟甫', '虚', '1980-11-13'],
    ['007', 'Zorvik', 'Talmentsov', 'not a date'],
  ]
  const csv = HEADER + rows.map((row) => `${row.map((field) => `"${field.replaceAll('"', '""')}"`).join()}\n`).join('')
  const { results } = await screen(csv)
  assert.deepEqual(
    results.map(({ id, firstname, lastname, dob }) => [id, firstname, lastname, dob]),
    rows,
  )
})

test('[B-006] dob is an ISO date: the same day speaks for a match, another year against it, another form is no date', async () => {
  const dobs = ['1961-04-17', '1991-09-02', '17.04.1961', '']
  const csv = HEADER + dobs.map((dob, n) => `${n},Vardo,Quellmar,${dob}\n`).join('')
  const { results } = await one.screen({ dataset: 'demo', file: csv, scoreThreshold: 0.5 })
  assert.ok((results[0]?.score ?? 0) > (results[1]?.score ?? 0))
  assert.deepEqual(
    results.map(({ warnings }) => warnings),
    [[], [], ['INVALID_DOB'], []],
  )
  assert.equal(results[2]?.score, results[3]?.score, 'without a date the name alone counts')
})

test('[B-007] [B-008] [B-009] [B-010] [B-012] the summary counts and names what the results say', async () => {
  const { summary, results } = await screen(HEADER + NOBODY + VARDO + strangers(300) + VARDO.replace('v-1', 'v-2'))
  assert.equal(summary.total, 303)
  assert.equal(results.length, 303)
  assert.equal(summary.matched.count, 2)
  assert.deepEqual(
    summary.matched.records.map(({ id, score }) => [id, score]),
    [
      ['v-1', 1],
      ['v-2', 1],
    ],
  )
  const none = await screen(HEADER + NOBODY)
  assert.deepEqual(none.summary.matched, { count: 0, records: [] })
  const nobody = await screen(HEADER)
  assert.deepEqual([nobody.summary.total, nobody.summary.matched.count, nobody.results], [0, 0, []])
})

test('[B-011] [B-015] the dataset of the path is the one that is checked', async () => {
  const file = HEADER + VARDO + QUIMBLEY
  const [demo, other] = [await screen(file), await screen(file, { dataset: 'acceptance_list' })]
  assert.deepEqual([demo.summary.dataset, other.summary.dataset], ['demo', 'acceptance_list'])
  assert.deepEqual(flags(demo), ['v-1 true', 'q-1 false'])
  assert.deepEqual(flags(other), ['v-1 true', 'q-1 true'])
  const names = (await one.datasets()).map(({ name }) => name)
  assert.ok(names.includes('demo') && names.includes('acceptance_list'))
  const unknown = await post(file, { dataset: 'nobody_has_this' })
  assert.deepEqual([unknown.status, unknown.body.message], [404, 'Unknown dataset'])
})

test('[B-014] match is the text true or false, never a boolean', async () => {
  const { summary, results } = await screen(HEADER + VARDO + NOBODY)
  assert.deepEqual(
    results.map(({ match }) => match),
    ['true', 'false'],
  )
  assert.equal(summary.matched.records[0]?.match, 'true')
})

test('[B-016] a candidate at the threshold matches, and one below it does not', async () => {
  // Documented for the demo: one digit of the birth date is different, 0.96.
  const csv = `${HEADER}m,Maravel,Ostrinka,1969-12-08\n`
  const flagAt = async (threshold: string) =>
    (await screen(csv, { query: `?scoreThreshold=${threshold}` })).results[0]?.match
  assert.equal(await flagAt('0.96'), 'true')
  assert.equal(await flagAt('0.9601'), 'false')
  assert.equal(await flagAt('0.5'), 'true')
  assert.equal(await flagAt('1'), 'false')
  // And of every other score that can be seen.
  const file = `${HEADER}a,Weskar,Talmudrin,\nb,Tormund,Valshakken,\nc,Korvane,Plestiry,1983-06-22\n`
  const { results } = await screen(file, { query: '?scoreThreshold=0.5' })
  for (const { id, score } of results) {
    assert.ok(score !== null && score < 1, id)
    const at = await screen(file, { query: `?scoreThreshold=${score}` })
    assert.equal(at.results.find((row) => row.id === id)?.match, 'true', `${id} at its own score ${score}`)
    const above = await screen(file, { query: `?scoreThreshold=${(score + 0.0001).toFixed(4)}` })
    assert.equal(above.results.find((row) => row.id === id)?.match, 'false', `${id} above its score ${score}`)
  }
  for (const wrong of ['0', '1.1', '-1', 'high', '']) {
    const { status, body } = await post(csv, { query: `?scoreThreshold=${wrong}` })
    assert.deepEqual([status, body.message], [400, 'scoreThreshold must be between 0 and 1'], wrong)
  }
})

test('[B-017] without a threshold it is 0.95', async () => {
  // Scores of about 0.96 and just below 0.95.
  const csv = `${HEADER}4,Maravel,Ostrinka,1969-12-08\n5,Korvane,Plestiry,1983-06-22\n`
  const [usual, said] = [await screen(csv), await screen(csv, { query: '?scoreThreshold=0.95' })]
  assert.deepEqual(flags(usual), ['4 true', '5 false'])
  assert.deepEqual(withoutRun(usual), withoutRun(said))
})

test('[B-019] the request works without a key; a wrong key is refused all the same', async () => {
  const { status, body } = await post(HEADER + VARDO, { key: null })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(flags(body), ['v-1 true'])
  const wrong = await post(HEADER + VARDO, { key: 'no key at all' })
  assert.equal(wrong.status, 401)
})

test('[B-020] a file that is not a .csv file is refused', async () => {
  for (const name of ['people.txt', 'people.xlsx', 'people', 'people.csv.zip']) {
    const { status, body } = await post(HEADER + VARDO, { name })
    assert.deepEqual([status, body.message], [400, 'Only CSV files are allowed!'], name)
  }
  await assert.rejects(
    two.screen({ dataset: 'demo', file: HEADER + VARDO, fileName: 'people.pdf' }),
    (error: unknown) =>
      error instanceof OstiaryError && error.status === 400 && error.message === 'Only CSV files are allowed!',
  )
  assert.equal((await post(HEADER + VARDO, { name: 'PEOPLE.CSV' })).status, 200)
})

test('[B-021] a file without one of the columns, or without any, is refused', async () => {
  const columns = ['id', 'firstname', 'lastname', 'dob']
  const headers = [...columns.map((column) => columns.filter((other) => other !== column).join()), 'a,b,c,d']
  for (const header of headers) {
    const { status, body } = await post(`${header}\n${VARDO}`)
    assert.deepEqual([status, body.message], [400, 'Missing required CSV headers'], header)
  }
})

test('[B-023] [B-024] 2 MB are taken, with a result for every row; a byte more is refused', async () => {
  const csv = fileOf(MEGABYTES_2)
  assert.equal(new Blob([csv]).size, 2_097_152)
  const { summary, results } = await two.screen({ dataset: 'demo', file: csv })
  const ids = csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => row.slice(0, row.indexOf(',')))
  assert.ok(ids.length > 40_000)
  assert.equal(summary.total, ids.length)
  assert.deepEqual(
    results.map(({ id }) => id),
    ids,
  )
  assert.deepEqual([results[0]?.match, summary.matched.count], ['true', 1])
  const { status, body } = await post(fileOf(MEGABYTES_2 + 1))
  assert.deepEqual([status, body.message], [413, 'File too large'])
})

test('[B-023] [B-024] 2 MB are taken whatever the rows: 419,000 of 5 bytes, 67,000 of 31, two files at once', async () => {
  const key = setting('OSTIARY_LIVE_KEY_TWO')
  const filled = (row: string) => {
    const count = Math.floor((MEGABYTES_2 - HEADER.length) / row.length)
    return { count, csv: (HEADER + row.repeat(count)).padEnd(MEGABYTES_2, '\n') }
  }
  const files = [filled('1,ab\n'), filled('1234567,Hefrad,Dros,1987-01-11\n')]
  assert.deepEqual(
    files.map(({ count, csv }) => [count, csv.length]),
    [
      [419_425, MEGABYTES_2],
      [67_649, MEGABYTES_2],
    ],
  )
  const replies = await Promise.all(files.map(({ csv }) => screen(csv, { key })))
  for (const [at, { summary, results }] of replies.entries()) {
    const { count = 0 } = files[at] ?? {}
    assert.deepEqual([summary.total, results.length, summary.matched.count], [count, count, 0])
  }
})

test('a single person is screened without a file, with the same answer, over the SDK', async () => {
  const [person] = (await screen(HEADER + VARDO)).results
  const { id = '', firstname = '', lastname = '', dob = '' } = person ?? {}
  const { summary, results } = await one.match({ dataset: 'demo', people: [{ id, firstname, lastname, dob }] })
  assert.deepEqual([summary.total, summary.matched.count], [1, 1])
  assert.deepEqual(results, [person])
})

test('[B-025] two checks at once both end, each with its own results', async () => {
  const key = setting('OSTIARY_LIVE_KEY_TWO')
  const files = [HEADER + strangers(10_000, 'a') + VARDO + QUIMBLEY, HEADER + QUIMBLEY + strangers(9_000, 'b')]
  const [demo, list] = await Promise.all([
    screen(files[0] ?? '', { key }),
    screen(files[1] ?? '', { key, dataset: 'acceptance_list' }),
  ])
  assert.deepEqual([demo.summary.dataset, demo.summary.total, demo.summary.matched.count], ['demo', 10_002, 1])
  assert.deepEqual(
    [list.summary.dataset, list.summary.total, list.summary.matched.count],
    ['acceptance_list', 9_001, 1],
  )
  assert.deepEqual([demo.summary.matched.records[0]?.id, list.summary.matched.records[0]?.id], ['v-1', 'q-1'])
  assert.ok(demo.results.every(({ id }, n) => n >= 10_000 || id === `a${n}`))
  assert.ok(list.results.every(({ id }, n) => n === 0 || id === `b${n - 1}`))
})
