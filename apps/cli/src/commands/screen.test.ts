import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { runQuietly } from '../testing/run-quietly.ts'

const PERSON = { firstname: 'Vardo', lastname: 'Quellmar', dob: '17.04.1961' }
const folder = temporaryFolder('cli-screen')
let asked = 0
/** Runs while the service works. */
let meanwhile = () => {}
/** The warnings that the service gives for the row. */
let odd: string[] = []
/** How many calls the service refuses before it answers one. */
let refusals = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    asked++
    meanwhile()
    if (refusals-- > 0) {
      response.writeHead(429, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ code: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 2 }))
    }
    const matched = { count: 0, records: [] }
    const results = odd.map((warning) => ({ ...PERSON, id: '1', match: 'false', score: null, warnings: [warning] }))
    const facts = {
      dataset: 'demo',
      version: 'v7',
      scorerVersion: '1',
      scoreThreshold: 0.9,
      warnings: 0,
      runId: 'r1',
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ summary: { total: 1, matched, ...facts }, results }))
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
writeFileSync(join(folder, 'people.csv'), 'id,firstname,lastname,dob\n1,Vardo,Quellmar,1961-04-17\n')
after(() => server.close())

async function screen(line: string, showsProgress = false) {
  const { port } = server.address() as AddressInfo
  const words = `screen @people.csv --dataset demo --url http://127.0.0.1:${port} ${line}`
  return runQuietly(words.replaceAll('@', `${folder}/`).split(' '), {}, { showsProgress })
}

test('a report file that exists and cannot be written is reported before any row is screened', async (t) => {
  // Not even root can write to the file of a running program.
  const busy = join(folder, 'busy.csv')
  copyFileSync('/bin/sleep', busy)
  const running = spawn(busy, ['60'])
  t.after(() => running.kill())
  await once(running, 'spawn')
  asked = 0
  const { code, out, err } = await screen('--csv @busy.csv')
  assert.deepEqual([code, out, asked], [2, '', 0])
  assert.match(err, /busy\.csv cannot be written/)
})

test('an existing report is replaced, and the check whether it can be written does not change it', async () => {
  const old = join(folder, 'old.csv')
  writeFileSync(old, 'of last week')
  mkdirSync(join(folder, 'taken.html'))
  assert.equal((await screen('--csv @old.csv --html @taken.html')).code, 2)
  assert.equal(readFileSync(old, 'utf8'), 'of last week')
  const { code, out } = await screen('--csv @old.csv')
  assert.equal(code, 0)
  assert.match(out, /Written: .*old\.csv/)
  assert.match(readFileSync(old, 'utf8'), /"row id"/)
})

test('the matches are printed even when a report cannot be written afterwards', async (t) => {
  meanwhile = () => mkdirSync(join(folder, 'late.csv'))
  t.after(() => {
    meanwhile = () => {}
  })
  const { code, out, err } = await screen('--csv @late.csv --html @late.html')
  assert.equal(code, 1)
  assert.match(out, /^Written: .*late\.html\nNone of 1 row matched\. demo v7/)
  assert.match(err, /^Failed: .*late\.csv could not be written: EISDIR/)
  assert.ok(existsSync(join(folder, 'late.html')))
})

test('a wait at the rate limit prints one line where there is no progress bar, and none beside the bar', async () => {
  refusals = 1
  const piped = await screen('--threshold 0.9')
  assert.deepEqual([piped.code, piped.err], [0, 'people.csv: rate limit reached; going on in 2 s'])
  refusals = 1
  const atTerminal = await screen('--threshold 0.9', true)
  assert.deepEqual([atTerminal.code, atTerminal.err], [0, ''])
})

test('the warning about a birth date names its format, not only its range', async (t) => {
  odd = ['INVALID_DOB']
  t.after(() => {
    odd = []
  })
  const { out } = await screen('--threshold 0.9')
  assert.match(out, /^! The birth date must be YYYY-MM-DD, .*, from 1850 to 2100\. .*: 1 row \(1\)$/m)
})
