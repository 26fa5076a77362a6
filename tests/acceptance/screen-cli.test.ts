/** Area B from the command line, as a compliance officer's assistant would use it: a process of its own, over HTTP. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@ostiary/sdk'
import { setting } from '@ostiary/testkit/setting'

const CLI = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url))
const PEOPLE = fileURLToPath(new URL('../../apps/server/demo/people.csv', import.meta.url))

interface Finished {
  code: number
  out: string
  err: string
}

let folder: string
before(async () => {
  folder = await mkdtemp(`${tmpdir()}/ostiary-screen-`)
})
after(() => rm(folder, { recursive: true }))

function ostiary(...args: string[]): Promise<Finished> {
  const env = { OSTIARY_URL: setting('OSTIARY_URL'), OSTIARY_API_KEY: setting('OSTIARY_TEST_KEY_TWO') }
  const options = { env, timeout: 180_000, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

test('a file is screened, the hits explain themselves, and both reports are written', async () => {
  const [csv, html] = [`${folder}/hits.csv`, `${folder}/hits.html`]
  const { code, out } = await ostiary('screen', PEOPLE, '--dataset', 'demo', '--csv', csv, '--html', html)
  assert.equal(code, 3, 'something matched')
  assert.match(out, /^1 +1\.0000 +Vardo Quellmar +Vardo Quellmar +demo demo-01 +the same words; born on the same day/m)
  assert.match(out, /'valshakken'~'valshaken'/)
  assert.match(out, /^\d+ of 33 rows matched \d+ entries\. demo \S+, threshold 0\.95, run [0-9a-f-]{36}$/m)
  assert.match(await readFile(csv, 'utf8'), /"3","4","Tormund","Valshakken","","0\.9900","demo-03"/)
  assert.match(await readFile(html, 'utf8'), /valshak<mark>k<\/mark>en/)
  assert.equal((await stat(html)).mode & 0o077, 0, 'for nobody else')
})

test('an exception silences one entry for one person, says so, and ends when it is removed', async () => {
  const person = ['--record', '3', '--firstname', 'Tormund', '--lastname', 'Valshakken']
  const end = new Date(Date.now() + 86_400_000 * 30).toISOString().slice(0, 10)
  const added = await ostiary(
    ...['exceptions', 'add', ...person, '--entity', 'demo-03', '--reason', 'Passport seen', '--expires', end, '--json'],
  )
  const { id } = JSON.parse(added.out)
  try {
    assert.match(
      (await ostiary('exceptions', 'list', '--record', '3')).out,
      new RegExp(`${id} +3 +demo-03 +${end} +Passport`),
    )
    const { out } = await ostiary('screen', PEOPLE, '--dataset', 'demo')
    assert.match(
      out,
      new RegExp(`Silenced by an exception:\n.*\n3 +0\\.9900 +Tormund Valshakken +demo-03 +${end} +Passport seen`),
    )
    assert.match(out, /; 1 silenced\. demo/)
  } finally {
    assert.match((await ostiary('exceptions', 'remove', id)).out, /is removed; the entry matches again/)
  }
  const client = createClient({ baseUrl: setting('OSTIARY_URL'), apiKey: setting('OSTIARY_TEST_KEY_TWO') })
  assert.deepEqual((await client.sanctions.exceptions.list({ recordId: '3' })).items, [])
})

test('a file of more than 2 MB is sent in parts and answered as one, with the lines of the file', async () => {
  const path = `${folder}/many.csv`
  const rows = Array.from({ length: 50_010 }, (_, at) => `${at},Nobody,"Of\nNote",,${'x'.repeat(24)}`)
  await writeFile(path, `id,firstname,lastname,dob,note\n${rows.join('\n')}\nlast,Vardo,Quellmar,1961-04-17\n`)
  const { code, out } = await ostiary('screen', path, '--dataset', 'demo', '--json')
  const { summary, results } = JSON.parse(out)
  assert.equal(code, 3)
  assert.deepEqual([summary.total, summary.matched.count, summary.runIds.length], [50_011, 1, 2])
  const [found] = summary.matched.records
  assert.deepEqual([found.id, found.line, results.at(-1).id], ['last', 2 * 50_010 + 2, 'last'])
})

test('exit codes: nothing matched, not possible, not understood', async () => {
  const path = `${folder}/one.csv`
  await writeFile(path, 'id,firstname,lastname,dob\n1,Ana,Example,1990-05-04\n')
  const clear = await ostiary('screen', path, '--dataset', 'demo')
  assert.equal(clear.code, 0)
  assert.match(clear.out, /^None of 1 row matched\. demo/)
  const unknown = await ostiary('screen', path, '--dataset', 'no_such_list')
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /^Failed: Unknown dataset: must be one of .*demo/)
  assert.equal((await ostiary('screen', path, '--dataset', 'demo', '--url', 'http://127.0.0.1:1')).code, 1)
  const misspelt = await ostiary('screen', path, '--dataset', 'demo', '--threshold', '95')
  assert.equal(misspelt.code, 2)
  assert.match(misspelt.err, /^--threshold must be above 0 and at most 1/)
})
