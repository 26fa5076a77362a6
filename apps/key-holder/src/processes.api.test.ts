/** The real process: start, commands, kill -9, stop. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { KEY_HOLDER_LIMITS } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { runKeyHolder, startKeyHolder } from '@ostiary/testkit/key-holder'
import pg from 'pg'
import { createCaller, sendTo } from './testing/caller.ts'
import { createSubject, evaluateFace, newId } from './testing/device.ts'
import { faceOf } from './testing/faces.ts'

const face = faceOf(51)
const clusterUrl = process.env.OSTIARY_TEST_CLUSTER ?? ''
const keyHolder = await startKeyHolder({ logName: 'api-test', clusterUrl })
const { url, matcherSeed, published, databaseUrl } = keyHolder
const caller = await createCaller({ send: sendTo(url), seed: Buffer.from(matcherSeed, 'base64url'), published })
const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
const person = await createSubject(face)
await caller.enrolPerson(person, face)
const genuine = await evaluateFace(person, face)
const other = await evaluateFace(person, faceOf(52))
after(async () => {
  await database.end()
  await keyHolder.remove()
})

async function counted(): Promise<{ evaluations: number; failures: number }> {
  const { rows } = await database.query(
    `select evaluations, cardinality(failed_on) as failures from key_shares join persons using (realm, account)`,
  )
  return rows[0]
}

test('every verdict comes on the deadline, whatever it is', async () => {
  const tookMs = async (work: () => Promise<unknown>) => {
    const started = performance.now()
    await work()
    return performance.now() - started
  }
  for (const work of [
    () => caller.compare(person, genuine),
    () => caller.compare({ ...person, tokenId: newId() }, genuine),
    () => caller.compare(person, genuine, { header: { sealed: 'x' } }),
  ])
    assert.ok((await tookMs(work)) >= KEY_HOLDER_LIMITS.deadlineMs)
})

test('what was counted survives kill -9 in the middle of an evaluation: no try is free', async () => {
  const before = await counted()
  for (let kills = 1; kills <= 2; kills++) {
    const lost = caller.compare(person, other).catch(() => 'lost')
    await eventually(async () => (await counted()).evaluations === before.evaluations + kills, 'it is not counted')
    // The verdict is held back until the deadline. Only on a machine that stands still for so long does the caller have it by now.
    await keyHolder.kill()
    assert.match(await lost, /^(lost|reject)$/)
    await keyHolder.start()
    assert.deepEqual(await counted(), { evaluations: before.evaluations + kills, failures: before.failures + kills })
  }
  for (let left = 10 - before.failures - 2; left > 0; left--)
    assert.equal(await caller.compare(person, other), 'reject')
  assert.equal(await caller.compare(person, genuine), 'locked')
  await database.query(`update persons set failed_on = '{}'`)
  assert.equal(await caller.compare(person, genuine), 'accept')
})

test('the admin port answers /livez, /readyz and /metrics, and the other port has none of them', async () => {
  const text = async (path: string) => (await fetch(`${keyHolder.adminUrl}${path}`)).text()
  assert.equal(await text('/livez'), '{"status":"ok"}')
  assert.equal(await text('/readyz'), '{"status":"ok"}')
  const metrics = await text('/metrics')
  for (const name of [
    'shares{state="active"} 1',
    'shares{state="pending"} 0',
    'evaluations_total{kind="comparison",verdict="accept"} 1',
    'frozen_tokens 0',
    'tokens_frozen_total 0',
    'pending_purged_total 0',
    'erased_shares_total 0',
    'requests_total{operation="erasures",status="503"} 0',
  ])
    assert.ok(metrics.includes(`ostiary_key_holder_${name}\n`), name)
  assert.match(metrics, /^# TYPE ostiary_key_holder_attack_events_total counter$/m)
  for (const path of ['/metrics', '/readyz', '/']) assert.equal((await fetch(`${keyHolder.url}${path}`)).status, 404)
})

test('[U7] its admin port refuses a foreign host name', async () => {
  const asked = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const answered = (response: IncomingMessage) => resolve(response.resume().statusCode)
      get(`${keyHolder.adminUrl}/metrics`, { headers: { host } }, answered).on('error', reject)
    })
  assert.deepEqual([await asked('evil.example'), await asked('localhost')], [421, 200])
})

test('SIGTERM lets open requests end and the process ends with 0', async () => {
  const { evaluations } = await counted()
  const open = caller.compare(person, genuine)
  await eventually(async () => (await counted()).evaluations > evaluations, 'it is not under way')
  assert.equal(await keyHolder.stop(), 0, keyHolder.log())
  assert.equal(await open, 'accept')
  await keyHolder.start()
})

test('an unreachable database and a port in use are reported in plain words', () => {
  const away = run({ ...keyHolder.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }, 'keys')
  assert.equal(away.status, 1)
  assert.match(away.stderr, /^Failed: The database is out of reach \(ECONNREFUSED\)\n$/)
  const taken = run(keyHolder.env)
  assert.equal(taken.status, 1)
  assert.match(taken.stderr, /EADDRINUSE/)
})

test('[X4] without its database the process says so and waits, and takes a changed password from the file, also while it runs', async () => {
  const role = `holder_${randomBytes(4).toString('hex')}`
  await database.query(`create role ${role} login superuser password 'right'`)
  const file = `${mkdtempSync(`${tmpdir()}/login-`)}/url`
  const write = (password: string) =>
    writeFileSync(file, Object.assign(new URL(databaseUrl), { username: role, password }).href)
  await keyHolder.stop()
  write('wrong')
  const starting = keyHolder.start({ DATABASE_URL: '', DATABASE_URL_FILE: file })
  const readiness = () =>
    fetch(`${keyHolder.adminUrl}/readyz`).then(
      async (answer) => [answer.status, await answer.text()].join(' '),
      () => 'no answer',
    )
  await eventually(async () => (await readiness()) === '503 {"status":"starting"}', 'it does not wait')
  write('right')
  await starting
  assert.match(keyHolder.log(), /"errorCause":"28P01".*"msg":"the database cannot be used yet/)
  await database.query(`alter role ${role} password 'next'`)
  write('next')
  await database.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role])
  await eventually(async () => (await readiness()) === '200 {"status":"ok"}', 'it does not log in anew')
  assert.equal(await caller.compare(person, genuine), 'accept')
  await keyHolder.stop()
  await database.query(`drop role ${role}`)
  await keyHolder.start()
})

describe('the command', () => {
  test('keys prints the public halves alone, the same each time', () => {
    const printed = runKeyHolder(keyHolder.env, 'keys')
    assert.deepEqual(JSON.parse(printed), keyHolder.published)
    assert.doesNotMatch(printed, /"d"/)
  })

  test('reseal moves everything to a new master key, also while the service serves', async () => {
    const oldKey = keyHolder.env.MASTER_KEY ?? ''
    const newKey = randomBytes(32).toString('base64')
    await keyHolder.stop()
    const both = { MASTER_KEY: `${newKey}\n${oldKey}` }
    await keyHolder.start(both)
    assert.match(runKeyHolder({ ...keyHolder.env, ...both }, 'reseal'), /^Resealed 3 values with the master key/)
    assert.equal(await caller.compare(person, genuine), 'accept')
    await keyHolder.stop()
    await keyHolder.start({ MASTER_KEY: newKey })
    assert.equal(await caller.compare(person, genuine), 'accept')
    const { status, stderr } = run({ ...keyHolder.env, MASTER_KEY: oldKey }, 'keys')
    assert.equal(status, 1)
    assert.match(stderr, /^Failed: MASTER_KEY lacks the key [0-9a-f]{12}, which sealed 1 key shares\n$/)
  })

  test('an unknown one is answered with the list of them', () => {
    const { status, stderr } = run({}, 'dump')
    assert.equal(status, 2)
    assert.match(stderr, /^Usage: /)
  })
})

test('all bad settings are named at once, no value is quoted, and the process fails', () => {
  const { status, stderr } = run({
    DATABASE_URL: 'mysql://secret',
    MASTER_KEY: 'secret',
    PORT: 'eighty',
    COSINE_MIN: '2',
  })
  assert.equal(status, 1)
  for (const name of ['DATABASE_URL', 'MASTER_KEY', 'MATCHER_KEYS', 'PORT', 'COSINE_MIN'])
    assert.match(stderr, new RegExp(`  - ${name}: `))
  assert.doesNotMatch(stderr, /secret|eighty| {4}at /)
})

function run(env: Readonly<Record<string, string>>, ...args: string[]) {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  return spawnSync(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
    // One that serves although it should not would never end.
    timeout: 60_000,
  })
}
