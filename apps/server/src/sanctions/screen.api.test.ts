/** `POST /v2/open-sanctions/file/:dataset`: answers. Other files test refusals, streams and datasets. */
import assert from 'node:assert/strict'
import { readFileSync, truncateSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { RowResult, ScreenReply } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { createScreening, form, HEADER, NOBODY, strangers } from './testing/screening.ts'

const PEOPLE = readFileSync(new URL('../../demo/people.csv', import.meta.url), 'utf8')
const VARDO = '7,Vardo,Quellmar,1961-04-17\n'
const VARDO_ECHO = { id: '7', firstname: 'Vardo', lastname: 'Quellmar', dob: '1961-04-17' }

const server = await createScreening()

const echoOf = ({ id, firstname, lastname, dob }: RowResult) => [id, firstname, lastname, dob]
const flagsOf = ({ results }: ScreenReply) => Object.fromEntries(results.map(({ id, match }) => [id, match]))

/** Asserts what is true of every answer. */
function assertConsistent({ summary, results }: ScreenReply): void {
  const matched = results.filter(({ match }) => match === 'true')
  assert.equal(summary.total, results.length)
  assert.equal(summary.matched.count, matched.length)
  assert.deepEqual(
    summary.matched.records.map(({ id, firstname, lastname, dob, score, match }) => [
      [id, firstname, lastname, dob],
      score,
      match,
    ]),
    matched.map((row) => [echoOf(row), row.score, 'true']),
  )
  for (const { dataset, score, matches } of summary.matched.records) {
    assert.equal(dataset, summary.dataset)
    assert.equal(matches[0]?.score, score)
    for (const match of matches) assert.ok(match.score >= summary.scoreThreshold && match.score <= score)
  }
  assert.equal(summary.warnings, results.filter(({ warnings }) => warnings.length > 0).length)
  for (const { match } of results) assert.match(match, /^(true|false)$/)
}

describe('the answer', () => {
  test('is as documented, in full', async () => {
    const response = await server.send(HEADER + VARDO + NOBODY)
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    const { version } =
      (await server.wire.sanctions.library.list(null)).find(({ name }) => name === 'demo') ?? assert.fail()
    assert.deepEqual(response.json(), {
      summary: {
        total: 2,
        matched: {
          count: 1,
          records: [
            {
              ...VARDO_ECHO,
              score: 1,
              match: 'true',
              dataset: 'demo',
              line: 2,
              matches: [
                {
                  entityId: 'demo-01',
                  name: 'Vardo Quellmar',
                  matchedName: 'Vardo Quellmar',
                  score: 1,
                  birthDate: ['1961-04-17'],
                  countries: ['xa'],
                  topics: ['sanction'],
                  programs: ['Demo: the same name and the same birth date'],
                  sourceUrl: null,
                  dataset: 'demo',
                  listVersion: version,
                  explanation: {
                    nameScore: 1,
                    name: [
                      { query: 'vardo', listed: 'vardo', kind: 'exact', similarity: 1 },
                      { query: 'quellmar', listed: 'quellmar', kind: 'exact', similarity: 1 },
                    ],
                    unmatchedQuery: [],
                    unmatchedListed: [],
                    notes: [],
                    dob: { effect: 0.03, kind: 'same_day', text: 'Born on the same day, 1961-04-17' },
                  },
                },
              ],
            },
          ],
        },
        dataset: 'demo',
        version,
        scorerVersion: '1',
        scoreThreshold: 0.95,
        runId: response.headers['x-request-id'],
        warnings: 0,
        stale: false,
      },
      results: [
        { ...VARDO_ECHO, match: 'true', score: 1, warnings: [] },
        {
          id: '1',
          firstname: 'Maria',
          lastname: 'Beispielfrau',
          dob: '1990-05-04',
          match: 'false',
          score: null,
          warnings: [],
        },
      ],
    })
  })

  test('summary and results agree at every threshold, and a file without rows has an empty answer', async () => {
    let before = 0
    for (const threshold of ['1', '0.95', '0.7', '0.5', '0.0001']) {
      const reply = await server.screen(PEOPLE, { query: `?scoreThreshold=${threshold}` })
      assertConsistent(reply)
      assert.equal(reply.summary.total, PEOPLE.trimEnd().split('\n').length - 1)
      assert.equal(reply.summary.scoreThreshold, Number(threshold))
      assert.ok(reply.summary.matched.count >= before, `${threshold}: fewer matches at a lower threshold`)
      before = reply.summary.matched.count
    }
    const empty = await server.screen(HEADER)
    assertConsistent(empty)
    assert.deepEqual(empty.results, [])
  })

  test('results are in the order of the file, in whatever order the threads finish', async () => {
    const rows = strangers(5_000).trimEnd().split('\n')
    for (let at = 0; at < rows.length; at += 97) rows[at] = `hit${at},Vardo,Quellmar,1961-04-17`
    const reply = await server.screen(`${HEADER}${rows.join('\n')}`)
    assertConsistent(reply)
    assert.deepEqual(
      reply.results.map((row) => echoOf(row).join()),
      rows,
    )
    assert.deepEqual(
      reply.summary.matched.records.map(({ line, id }) => `${line} ${id}`),
      rows.flatMap((row, at) => (row.startsWith('hit') ? [`${at + 2} hit${at}`] : [])),
    )
  })

  test('a candidate exactly at the threshold matches, and not one ten-thousandth above it', async () => {
    const { results } = await server.screen(PEOPLE, { query: '?scoreThreshold=0.3' })
    const scores = [...new Set(results.flatMap(({ score }) => score ?? []))]
    assert.ok(scores.length > 5 && scores.includes(0.96), `${scores}`)
    for (const score of scores) {
      const at = flagsOf(await server.screen(PEOPLE, { query: `?scoreThreshold=${score}` }))
      for (const row of results) assert.equal(at[row.id], String((row.score ?? 0) >= score), `${row.id} at ${score}`)
      if (score > 0.9999) continue
      const above = (score + 0.0001).toFixed(4)
      const over = flagsOf(await server.screen(PEOPLE, { query: `?scoreThreshold=${above}` }))
      for (const row of results)
        assert.equal(over[row.id], String((row.score ?? 0) > score), `${row.id} above ${score}`)
    }
  })
})

describe('the CSV', () => {
  const found = [{ ...VARDO_ECHO, match: 'true', score: 1, warnings: [] }]

  const SAME: Record<string, string | Buffer> = {
    'a byte order mark': `\uFEFF${HEADER}${VARDO}`,
    CRLF: (HEADER + VARDO).replaceAll('\n', '\r\n'),
    'CR alone': (HEADER + VARDO).replaceAll('\n', '\r'),
    'no line break at its end': (HEADER + VARDO).trimEnd(),
    semicolons: (HEADER + VARDO).replaceAll(',', ';'),
    tabs: (HEADER + VARDO).replaceAll(',', '\t'),
    'a quoted header': `"id","firstname","lastname","dob"\n${VARDO}`,
    'quoted fields': `${HEADER}"7","Vardo","Quellmar","1961-04-17"\n`,
    'capitals in the header': `ID,FirstName,LASTNAME,Dob\n${VARDO}`,
    'spaces in the header': ` id , firstname,lastname ,\tdob\n${VARDO}`,
    'another order of columns': 'dob,lastname,id,firstname\n1961-04-17,Quellmar,7,Vardo\n',
    'extra columns': 'note,id,x,firstname,lastname,"a;b",dob,z\n"a, ""b""\n",7,,Vardo,Quellmar,,1961-04-17,tail\n',
    'blank lines': `\n\n${HEADER}\n   \n${VARDO}\n\r\n\n`,
  }
  for (const [what, csv] of Object.entries(SAME)) {
    test(`with ${what} is read`, async () => {
      const { results } = await server.screen(csv)
      assert.deepEqual(results, found)
    })
  }

  test('is echoed unchanged: spaces, quotes, line breaks, marks, other scripts, leading zeros, duplicate ids', async () => {
    const rows = [
      ['007', ' Vardo ', 'Quell"mar', '1961-04-17 '],
      ['007', '拟甫', '虚', ''],
      ['', 'A\nB', 'C,D;E', '1990'],
      ['id-é-☃-😀', 'قشمار', 'Fjennsmåk', '1963-12'],
    ]
    const csv =
      HEADER + rows.map((row) => `${row.map((field) => `"${field.replaceAll('"', '""')}"`).join()}\n`).join('')
    const { results } = await server.screen(csv)
    assert.deepEqual(results.map(echoOf), rows)
  })

  test('an invalid birth date gets a warning, and only the name is compared', async () => {
    const bad = ['1961-13-17', '17.04.1961', '1961-02-30', 'unknown', '0961-04-17', '19610417']
    const csv = HEADER + bad.map((dob, at) => `${at},Vardo,Quellmar,${dob}\n`).join('')
    const reply = await server.screen(csv)
    assertConsistent(reply)
    const nameOnly = await server.screen(`${HEADER}0,Vardo,Quellmar,\n`)
    for (const [at, row] of reply.results.entries()) {
      assert.deepEqual([row.dob, row.match, row.warnings], [bad[at], 'true', ['INVALID_DOB']])
      assert.equal(row.score, nameOnly.results[0]?.score)
    }
    assert.equal(reply.summary.warnings, bad.length)
    const [record] = reply.summary.matched.records
    assert.deepEqual(record?.matches[0]?.explanation.dob, {
      effect: 0,
      kind: 'unknown',
      text: 'The row has no usable birth date',
    })
  })

  test('a year or a month is compared as such, with a warning', async () => {
    const csv = `${HEADER}1,Vardo,Quellmar,1961\n2,Vardo,Quellmar,1961-04\n3,Vardo,Quellmar,1999\n4,Vardo,Quellmar,\n`
    const reply = await server.screen(csv, { query: '?scoreThreshold=0.5' })
    assertConsistent(reply)
    assert.deepEqual(
      reply.results.map(({ warnings }) => warnings),
      [['PARTIAL_DOB'], ['PARTIAL_DOB'], ['PARTIAL_DOB'], []],
    )
    assert.deepEqual(
      reply.summary.matched.records.map(({ matches }) => matches[0]?.explanation.dob.kind),
      ['same_year', 'same_month', 'different', 'unknown'],
    )
    assert.ok((reply.results[2]?.score ?? 1) < 0.7)
  })

  test('rows without a name, and rows that end early, are answered with a warning', async () => {
    const reply = await server.screen(`${HEADER}1,,,1961-04-17\n2, ,\t,\n3,Vardo,Quellmar\n4\n`)
    assertConsistent(reply)
    assert.deepEqual(
      reply.results.map(({ warnings, match }) => [match, ...warnings]),
      [
        ['false', 'EMPTY_NAME'],
        ['false', 'EMPTY_NAME'],
        ['true', 'MISSING_FIELDS'],
        ['false', 'MISSING_FIELDS', 'EMPTY_NAME'],
      ],
    )
  })

  test('is found in a form with other fields and files, under a name in capitals or with a path', async () => {
    for (const name of ['PEOPLE.CSV', 'C:\\fakepath\\people.Csv', 'péople 2026.v2.csv', '.csv']) {
      const parts = [
        { field: 'note', name: null, content: 'hello' },
        { field: 'picture', name: 'a.png', content: Buffer.from([0, 255, 13, 10]) },
        { name, type: 'application/octet-stream', content: HEADER + VARDO },
        { field: 'after', name: null, content: 'bye' },
      ]
      const response = await server.post(form(...parts))
      assert.equal(response.statusCode, 200, response.body)
      assert.deepEqual(response.json<ScreenReply>().results, found)
    }
  })

  test('[B-023] [B-024] a file of 2 MB is taken whatever its rows: 419,000 of 5 bytes, 67,000 of 31', async () => {
    for (const [row, least] of [
      ['1,ab\n', 419_000],
      ['1234567,Ana,Examp,1990-05-0412\n', 67_600],
    ] as const) {
      const csv = HEADER + VARDO + row.repeat(Math.floor((2_097_152 - HEADER.length - VARDO.length) / row.length))
      const { summary, results } = await server.screen(csv.padEnd(2_097_152, '\n'))
      assert.ok(summary.total > least, `${summary.total} rows`)
      assert.deepEqual([results.length, summary.matched.count], [summary.total, 1])
      assert.equal(results[0]?.match, 'true')
      assert.ok(results.slice(1).every(({ id, match }) => id === row.split(',')[0] && match === 'false'))
    }
  })
})

test('[B-022] an internal error is answered with 500 and no details, and other lists keep serving', async () => {
  const version = await server.importCsv('damaged_list', 'id,name,dob\nd-1,Karvol Vorberg,1958-04-03\n')
  const csv = `${HEADER}41,Karvol,Vorberg,1958-04-03\n`
  const sending = { dataset: 'damaged_list' }
  assert.equal((await server.screen(csv, sending)).summary.matched.count, 1)
  truncateSync(server.files.pathOf({ name: 'damaged_list', tenantId: null }, version), 25)
  for (let time = 0; time < 3; time++) {
    assertError(await server.send(csv, sending), 500, 'INTERNAL', 'Internal Server Error')
  }
  assert.equal((await server.screen(HEADER + VARDO)).summary.matched.count, 1)
  // A large file, so that every thread fails on it. Both threads must work afterwards.
  assertError(
    await server.send(HEADER + csv.slice(HEADER.length).repeat(2_000), sending),
    500,
    'INTERNAL',
    'Internal Server Error',
  )
  assert.equal((await server.screen(HEADER + VARDO.repeat(1_000))).summary.matched.count, 1_000)
  const line =
    server
      .logged()
      .split('\n')
      .find((each) => each.includes('"request failed"')) ?? ''
  assert.match(line, /"requestId":"[0-9a-f-]{36}".*"errorAt":\[".*open-list\.ts/)
})

test('neither the log nor the metrics contain anything of a file, whether it is answered or refused', async () => {
  const secrets = ['Zwyntarqua', 'Oblovendi', 'rec-88417', '1931-07-23', 'secretfile', 'Karvol', 'Vorberg']
  const row = 'rec-88417,Zwyntarqua,Oblovendi,1931-07-23\n'
  const named = (content: string, name = 'secretfile.csv') => server.post(form({ name, content }))
  const answers = [
    await named(HEADER + row),
    await named(row),
    await named(`${HEADER}"${row}`),
    await named(`${HEADER}${row}\0`),
    await named(HEADER + row, 'secretfile.Zwyntarqua'),
    await server.send(HEADER + row, { dataset: 'zwyntarqua' }),
    await server.send(HEADER + row, { query: '?scoreThreshold=Zwyntarqua&version=Oblovendi' }),
  ]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 400, 400, 400, 400, 404, 400],
  )
  const written = (server.logged() + (await server.wire.platform.metrics.text())).toLowerCase()
  assert.ok(written.includes('"operation":"screenfile"') && written.includes('ostiary_sanctions_files_total'))
  for (const secret of secrets) assert.ok(!written.includes(secret.toLowerCase()), secret)
})

test('files and rows are counted by outcome', async () => {
  const count = async (name: string, result: string) => {
    const text = await server.wire.platform.metrics.text()
    return Number(
      new RegExp(`^ostiary_sanctions_${name}_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    )
  }
  const counts = () =>
    Promise.all([count('files', 'matched'), count('files', 'clear'), count('rows', 'matched'), count('rows', 'clear')])
  const start = await counts()
  await server.screen(HEADER + VARDO + NOBODY + VARDO)
  await server.screen(HEADER + NOBODY)
  await server.screen(HEADER)
  await server.send('no header')
  const grown = (await counts()).map((now, at) => now - (start[at] ?? 0))
  assert.deepEqual(grown, [1, 2, 2, 2])
})

test('expanded words are counted by where their expansions came from', async () => {
  const counts = async () => {
    const text = await server.wire.platform.metrics.text()
    const found = [...text.matchAll(/^ostiary_sanctions_expansions_total\{source="(\w+)"\} (\d+)$/gm)]
    return Object.fromEntries(found.map(([, source = '', count]) => [source, Number(count)]))
  }
  const row = '1,Quiverantho,Plombestrad,\n'
  const start = await counts()
  await server.screen(HEADER + row + row)
  const end = await counts()
  const grown = (source: string) => (end[source] ?? 0) - (start[source] ?? 0)
  // Each word is computed for the first row and cached for the second.
  assert.deepEqual(['computed', 'cached', 'prepared', 'evicted'].map(grown), [2, 2, 0, 0])
})
