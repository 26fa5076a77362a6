/** `POST /v2/open-sanctions/file/:dataset`: refusals. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ScreenReply, screenFile } from '@ostiary/contract'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { assertError, assertInvalid } from '../testing/harness.ts'
import {
  CLOSE,
  createScreening,
  FORM_TYPE,
  fileOf,
  form,
  HEADER,
  NOBODY,
  SANCTIONS_KEY,
  type Sending,
  urlOf,
} from './testing/screening.ts'

const MEGABYTES_2 = 2_097_152
const FILE = HEADER + NOBODY
const at = (message: string) => ({ details: [{ pointer: '/body/file', message }] })

const server = await createScreening()

describe('the form', () => {
  const refused = (name: string, body: Buffer | string, code: string, message: string, sending: Sending = {}) =>
    test(`400: ${name}`, async () => assertError(await server.post(body, sending), 400, code, message))

  for (const name of ['people.txt', 'people.xlsx', 'people', 'people.csv.exe', 'csv', 'people.csv ']) {
    refused(`a file named "${name}"`, form({ name, content: FILE }), 'NOT_A_CSV_FILE', 'Only CSV files are allowed!')
  }
  refused('a form whose file was left empty', form({ name: '', content: FILE }), 'NO_FILE', 'No file uploaded')
  refused('no part at all', CLOSE, 'NO_FILE', 'No file uploaded')
  refused('a file under another field', form({ field: 'upload', content: FILE }), 'NO_FILE', 'No file uploaded')
  refused('a field instead of a file', form({ name: null, content: FILE }), 'NO_FILE', 'No file uploaded')
  refused('JSON', '{"file":"x"}', 'NO_FILE', 'No file uploaded', { headers: { 'content-type': 'application/json' } })
  const two = form({ content: FILE }, { content: FILE })
  refused('two files', two, 'VALIDATION_FAILED', 'The form has more than one file')

  const broken = (name: string, body: Buffer | string, type = FORM_TYPE) =>
    refused(name, body, 'BAD_REQUEST', 'The form cannot be read', { headers: { 'content-type': type } })
  const whole = form({ content: FILE })
  broken('a form without a boundary', whole, 'multipart/form-data')
  broken('a form with an empty boundary', whole, 'multipart/form-data; boundary=')
  broken('a form with another boundary', whole, 'multipart/form-data; boundary=other')
  broken('no form', 'id,firstname,lastname,dob')
  broken('an empty form', '')
  broken('a form that ends in the headers of its file', whole.subarray(0, 60))
  broken('a form that ends in its file', whole.subarray(0, 180))
  broken('a form that ends before its last boundary', whole.subarray(0, -10))

  test('400: no body', async () => {
    const { key } = await server.tenantWithKey(SANCTIONS_KEY)
    const response = await server.inject({ method: 'POST', url: urlOf(), headers: { 'x-api-key': key } })
    assertError(response, 400, 'NO_FILE', 'No file uploaded')
  })

  for (const type of ['text/csv', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=x']) {
    test(`415: ${type}`, async () => {
      const response = await server.post(FILE, { headers: { 'content-type': type } })
      assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', 'This Content-Type is not supported here')
    })
  }

  test('415: a compressed body, as everywhere else', async () => {
    const response = await server.send(FILE, { headers: { 'content-encoding': 'gzip' } })
    assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', 'Compressed bodies are not supported')
  })
})

describe('the file', () => {
  const refused = (name: string, csv: string | Buffer, code: string, message: string, more: object = {}) =>
    test(`400: ${name}`, async () => assertError(await server.send(csv), 400, code, message, more))

  const columns = ['id', 'firstname', 'lastname', 'dob']
  const missing = (name: string, header: string, absent: readonly string[]) =>
    refused(name, `${header}\n${NOBODY}`, 'MISSING_CSV_HEADERS', 'Missing required CSV headers', {
      details: absent.map((column) => ({ pointer: '/body/file', message: `has no column "${column}"` })),
    })
  for (const column of columns) missing(`no ${column}`, columns.filter((other) => other !== column).join(), [column])
  missing('none of the columns', 'a,b,c', columns)
  missing('a first line of data', NOBODY.trimEnd(), columns)
  missing('names that only resemble', 'ids,first name,last-name,dob', ['id', 'firstname', 'lastname'])

  refused('nothing in it', '', 'INVALID_CSV', 'The file is empty')
  refused('blank lines only', '\n \r\n', 'INVALID_CSV', 'The file is empty')
  const notText = 'The file is not UTF-8 text'
  refused('a NUL', `${FILE}2,A\0,B,\n`, 'INVALID_CSV', notText, at('line 3 holds a NUL character'))
  const latin = Buffer.from(`${FILE}2,Jos\xe9,B,\n`, 'latin1')
  refused('Latin-1', latin, 'INVALID_CSV', notText, at('line 3 is not UTF-8'))
  refused('UTF-16', Buffer.from(`\uFEFF${FILE}`, 'utf16le'), 'INVALID_CSV', notText, at('line 1 is not UTF-8'))
  const half = Buffer.concat([Buffer.from(FILE), Buffer.from('2,Jos'), Buffer.from([0xc3])])
  refused('half of a character', half, 'INVALID_CSV', notText, at('line 3 is not UTF-8'))
  const open = `${FILE}2,"Ana\nMaria,Example,\n3,A,B,\n`
  refused('a quote that is never closed', open, 'INVALID_CSV', 'Broken quoting in line 3')
  refused('a quote within a field', `${FILE}2,An"a,B,\n`, 'INVALID_CSV', 'Broken quoting in line 3')
  refused('text after a quote', `${FILE}\n2,"Ana"x,B,\n`, 'INVALID_CSV', 'Broken quoting in line 4')
  const long = `${FILE}2,${'a'.repeat(1_001)},B,\n`
  refused('a field that is too long', long, 'INVALID_CSV', 'A field in line 3 is longer than 1000 characters')

  test('413: a byte over 2 MB, while 2 MB are accepted', async () => {
    const { summary, results } = await server.screen(fileOf(MEGABYTES_2))
    assert.deepEqual([results.length, results.at(-1)?.id], [summary.total, 'last'])
    assertError(await server.send(fileOf(MEGABYTES_2 + 1)), 413, 'FILE_TOO_LARGE', 'File too large')
    assertError(await server.send(fileOf(4 * MEGABYTES_2)), 413, 'FILE_TOO_LARGE', 'File too large')
    const padded = form({ field: 'note', name: 'a.bin', content: Buffer.alloc(2_700_000) }, { content: FILE })
    assertError(await server.post(padded), 413, 'FILE_TOO_LARGE', 'File too large')
  })
})

describe('the request', () => {
  const thresholds = ['0', '1.1', '-1', 'abc', '', '%20', '0,9', 'NaN', 'Infinity', '1.00001', '0.5&scoreThreshold=0.6']
  for (const value of thresholds) {
    test(`400: scoreThreshold=${value}`, async () => {
      const details = [{ pointer: '/query/scoreThreshold', message: 'must be above 0 and at most 1' }]
      const response = await server.send(FILE, { query: `?scoreThreshold=${value}` })
      assertError(response, 400, 'VALIDATION_FAILED', 'scoreThreshold must be between 0 and 1', { details })
    })
  }

  test('200: scoreThreshold is 1, 0.0001 or 1e-3', async () => {
    for (const value of ['1', '0.0001', '1e-3']) {
      const { summary } = await server.screen(FILE, { query: `?scoreThreshold=${value}` })
      assert.equal(summary.scoreThreshold, Number(value))
    }
  })

  test('400: an unknown parameter, as everywhere else: a misspelt name must not pass for a threshold', async () => {
    const response = await server.send(FILE, { query: '?scorethreshold=0.5' })
    const [pointer, message] = ['/query/scorethreshold', 'is not a field: did you mean scoreThreshold?']
    assertInvalid(response, pointer, message)
  })

  for (const dataset of ['nobody_has_this', 'Demo', 'de-mo', '%2e%2e%2fdemo', 'a%00b', 'x'.repeat(65), 'tenants']) {
    test(`404: the dataset ${dataset}`, async () => {
      const response = await server.send(FILE, { dataset })
      assertError(response, 404, 'UNKNOWN_DATASET', 'Unknown dataset', {
        details: [
          { pointer: '/path/dataset', message: 'must be one of demo' },
          {
            pointer: '/path/dataset',
            message:
              'The operator brings public lists with "ostiary datasets enable", for example "ostiary datasets enable ofac un"',
          },
        ],
      })
    })
  }
  for (const [dataset, way] of [
    ['us_ofac_sdn', /^us_ofac_sdn is a public list .* "ostiary datasets enable ofac"$/],
    ['us_ofac_cons', /"ostiary datasets enable ofac"$/],
    ['un_sc_sanctions', /"ostiary datasets enable un"$/],
    ['peps', /"ostiary datasets enable peps --licence <your licence>", or --non-commercial$/],
    ['default', /^default is made of the lists that this installation has\. .* "ostiary datasets enable ofac un"$/],
    ['sanctions', /"ostiary datasets enable ofac un"$/],
    ['eu_fsf', /not read yet\. .* "ostiary datasets import eu_fsf entities\.ftm\.json"$/],
    ['gb_hmt_sanctions', /ended on 2026-01-28: the UK Sanctions List .* has taken its place\./],
  ] as const) {
    test(`404: the public list ${dataset}, with the command that brings it`, async () => {
      const response = await server.send(FILE, { dataset })
      const { message, code, details } = response.json()
      assert.deepEqual([response.statusCode, code, message], [404, 'UNKNOWN_DATASET', 'Unknown dataset'])
      assert.match(details[1].message, way)
    })
  }
  for (const dataset of ['constructor', '__proto__', 'default', 'sanctions', 'custom_', 'custom_list']) {
    test(`404: the dataset ${dataset}, while there are no lists`, async () => {
      assert.equal((await server.send(FILE, { dataset })).json().code, 'UNKNOWN_DATASET')
    })
  }

  test('401: a wrong key; 403: a key without the scope', async () => {
    const { key } = await server.tenantWithKey({ scopes: ['strings:rw'] })
    const denied = await server.send(FILE, { key })
    assertError(denied, 403, 'SCOPE_DENIED', 'This API key lacks the scope sanctions:run')
    const wrong = await server.send(FILE, { key: `${key.slice(0, -1)}?` })
    assertError(wrong, 401, 'INVALID_API_KEY', 'Invalid API key')
  })

  test('401: a key in the wrong place does not count as a call without a key', async () => {
    const { key } = await server.tenantWithKey(SANCTIONS_KEY)
    for (const headers of [{ x_api_key: key }, { authorization: `Bearer ${key}` }]) {
      const stray = await server.send(FILE, { key: '', headers })
      assertError(stray, 401, 'MISSING_API_KEY', 'Missing API key: it is read from the header x-api-key')
    }
  })

  test('429: six files a minute for a live key, three for a test key, one without a key', async () => {
    const { key: live } = await server.tenantWithKey({ ...SANCTIONS_KEY, livemode: true, usagePlanId: 'standard' })
    const { key: testing } = await server.tenantWithKey({ ...SANCTIONS_KEY, usagePlanId: 'standard' })
    for (const [key, perMinute] of [
      [live, 6],
      [testing, 3],
      ['', 1],
    ] as const) {
      for (let n = 0; n < perMinute; n++) assert.equal((await server.send(FILE, { key })).statusCode, 200)
      const retryAfter = 60 / perMinute
      const refused = await server.send(FILE, { key })
      const details = [{ pointer: '', message: screenFile.rateNote }]
      assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter, details })
      assert.equal(refused.headers['retry-after'], String(retryAfter))
      assert.equal(refused.headers['ratelimit-policy'], `"sanctions";q=${perMinute};w=60`)
      server.clock.advance(retryAfter * 1_000)
      assert.equal((await server.send(FILE, { key })).statusCode, 200)
    }
  })

  test('[P12] a refused file costs nothing of the allowance, up to ten a minute', async () => {
    const { key } = await server.tenantWithKey({ ...SANCTIONS_KEY, usagePlanId: 'standard' })
    const unknown = (await server.send(FILE, { key, dataset: 'nowhere' })).statusCode
    const empty = (await server.send('', { key })).statusCode
    assert.deepEqual([unknown, empty], [404, 400])
    for (let n = 2; n < 10; n++) assert.equal((await server.send(FILE, { key, dataset: 'nowhere' })).statusCode, 404)
    for (let n = 0; n < 2; n++) assert.equal((await server.send(FILE, { key })).statusCode, 200)
    assert.equal((await server.send(FILE, { key, dataset: 'nowhere' })).statusCode, 404, 'the eleventh costs one')
    assert.equal((await server.send(FILE, { key })).statusCode, 429)
  })

  test('[P12] nor does one of any other kind, nor one without a key', async () => {
    const standard = await server.tenantWithKey({ ...SANCTIONS_KEY, usagePlanId: 'standard' })
    for (const [key, perMinute] of [
      [standard.key, 3],
      ['', 1],
    ] as const) {
      server.clock.advance(600_000)
      const statuses = [
        await server.send(FILE, { key, dataset: 'nowhere' }),
        await server.send('', { key }),
        await server.send(fileOf(MEGABYTES_2 + 1), { key }),
        await server.post(FILE, { key, headers: { 'content-type': 'text/csv' } }),
        await server.send(FILE, { key, headers: { 'content-encoding': 'gzip' } }),
      ].map(({ statusCode }) => statusCode)
      assert.deepEqual(statuses, [404, 400, 413, 415, 415])
      for (let n = 0; n < perMinute; n++) assert.equal((await server.send(FILE, { key })).statusCode, 200)
      assert.equal((await server.send(FILE, { key })).statusCode, 429)
    }
  })

  test('429: the third concurrent file of a key, while the other two are answered and free their slots', async () => {
    const { key } = await server.tenantWithKey(SANCTIONS_KEY)
    const under = [await server.begin({ key }), await server.begin({ key })]
    const third = await server.send(FILE, { key })
    assertError(third, 429, 'TOO_MANY_FILES', 'Too many files at once', { retryAfter: 2 })
    assert.equal(third.headers['retry-after'], '2')
    assert.equal((await server.send(FILE)).statusCode, 200, 'another key is not concerned')
    for (const { end } of under) assert.equal((await end(NOBODY)).json<ScreenReply>().summary.total, 1)
    assert.equal((await server.send(FILE, { key })).statusCode, 200)
  })

  test('200: a third file that arrives shortly before a slot is free waits for it', async () => {
    const { key } = await server.tenantWithKey(SANCTIONS_KEY)
    const [first, second] = [await server.begin({ key }), await server.begin({ key })]
    const third = server.send(FILE, { key })
    await first.end(NOBODY)
    assert.equal((await third).statusCode, 200)
    await second.end(NOBODY)
  })
})

test('hostile files of two megabytes are answered as documented, at once and in limited memory', async () => {
  const fill = (text: string) => text.repeat(Math.floor((MEGABYTES_2 - HEADER.length) / Buffer.byteLength(text)))
  const noHeader = [400, 'Missing required CSV headers'] as const
  const longField = [400, 'A field in line 2 is longer than 1000 characters'] as const
  const cases: Record<string, readonly [csv: string, status: number, message?: string]> = {
    quotes: ['"'.repeat(MEGABYTES_2), ...noHeader],
    'quotes below the header': [HEADER + fill('"'), ...longField],
    'one line': ['a'.repeat(MEGABYTES_2), ...noHeader],
    'one line below the header': [HEADER + fill('a'), ...longField],
    'an open quote over line breaks': [`${HEADER}"${fill('\n').slice(1)}`, ...longField],
    NULs: ['\0'.repeat(MEGABYTES_2), 400, 'The file is not UTF-8 text'],
    'NULs below the header': [HEADER + fill('\0'), 400, 'The file is not UTF-8 text'],
    '500,000 commas': [','.repeat(500_000), ...noHeader],
    '500,000 commas in a row': [HEADER + ','.repeat(500_000), 200],
    'line breaks': ['\n'.repeat(MEGABYTES_2), 400, 'The file is empty'],
    'line breaks below the header': [HEADER + fill('\n'), 200],
    'almost boundaries': [HEADER + fill('\r\n--x-boundary-of-the-test'), 200],
    'names of a thousand letters': [HEADER + fill(`1,${'a'.repeat(999)},${'b'.repeat(999)},\n`), 200],
    'names of many short words': [HEADER + fill(`1,${'ab '.repeat(330)},${'cd '.repeat(330)},\n`), 200],
  }
  const start = process.memoryUsage().rss
  let slowestMs = 0
  for (const [name, [csv, status, message]] of Object.entries(cases)) {
    const body = form({ content: csv })
    const started = process.cpuUsage()
    const response = await server.post(body)
    const { user, system } = process.cpuUsage(started)
    slowestMs = Math.max(slowestMs, (user + system) / 1_000)
    assert.deepEqual([response.statusCode, response.json().message], [status, message], name)
  }
  const grownMb = (process.memoryUsage().rss - start) / 1e6
  await figureAtMost('screening.hostile-file-cpu-ms', 2_000, slowestMs)
  await figureAtMost('screening.hostile-files-mb', 350, grownMb)
})

test('a million rows are answered, each in microseconds', async () => {
  const rows = Math.floor((MEGABYTES_2 - HEADER.length) / 2)
  const body = form({ content: HEADER + ',\n'.repeat(rows) })
  const started = process.cpuUsage()
  const response = await server.post(body)
  const { user, system } = process.cpuUsage(started)
  assert.equal(response.statusCode, 200)
  assert.match(
    response.body.slice(0, 100),
    new RegExp(`^{"summary":{"total":${rows},"matched":{"count":0,"records":\\[\\]}`),
  )
  assert.equal(response.body.split('"match":"false"').length - 1, rows)
  await figureAtMost('screening.cpu-microseconds-per-short-row', 30, (user + system) / rows)
})

test('where area B is closed, 401 without a key', async () => {
  const closed = await createScreening({ AUTH_REQUIRED_AREAS: 'B' })
  assertError(await closed.send(FILE, { key: '' }), 401, 'MISSING_API_KEY', 'Missing API key')
  const list = await closed.inject('/v2/open-sanctions/datasets')
  assertError(list, 401, 'MISSING_API_KEY', 'Missing API key')
  assert.equal((await closed.send(FILE)).statusCode, 200)
})
