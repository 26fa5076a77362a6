import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { freePorts } from '@ostiary/testkit/ports'
import { createTestDatabase } from './testing/harness.ts'
import { startStopwatch } from './testing/stopwatch.ts'

const database = await createTestDatabase()
const settings = { ...TEST_LIMITS, DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') }
after(() => database.drop())

interface Running {
  child: ChildProcess
  port: number
  adminPort: number
  output(): string
  exited: Promise<number | null>
}

async function start(script: 'main-api.ts' | 'main-worker.ts', env: Record<string, string>): Promise<Running> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: {
      PATH: process.env.PATH ?? '',
      ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      WORKER_ADMIN_PORT: String(adminPort),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, port, adminPort, output: () => output, exited }
}

async function startReady(
  script: 'main-api.ts' | 'main-worker.ts',
  env: Record<string, string> = {},
): Promise<Running> {
  const running = await start(script, { ...settings, ...env })
  const isReady = () => {
    assert.equal(running.child.exitCode, null, running.output())
    return fetch(`http://127.0.0.1:${running.adminPort}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
  }
  try {
    await eventually(isReady, () => `Not ready: ${running.output()}`)
    return running
  } catch (error) {
    running.child.kill('SIGKILL')
    throw error
  }
}

/** Starts a request and waits until the server has begun to read it, which its `100 Continue` shows. */
async function beginRequest(port: number, bytes: number) {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer += chunk
  })
  const head = ['POST /strings HTTP/1.1', 'Host: x', 'Content-Type: application/json', `Content-Length: ${bytes}`]
  socket.write([...head, 'Expect: 100-continue', '', ''].join('\r\n'))
  await eventually(() => answer.startsWith('HTTP/1.1 100 '), 'the request is begun')
  return { socket, answer: () => answer }
}

test('two bad settings are both named, and the process fails', async () => {
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const { exited, output } = await start(script, { ...settings, PORT: 'eighty', LOG_LEVEL: 'loud' })
    assert.equal(await exited, 1)
    assert.match(output(), /PORT: must be integer/)
    assert.match(output(), /LOG_LEVEL: must be one of/)
    assert.ok(!output().includes('    at '), 'no stack trace for a person to wade through')
  }
})

test('without a master key the process refuses to start', async () => {
  const { exited, output } = await start('main-api.ts', { DATABASE_URL: database.url })
  assert.equal(await exited, 1)
  assert.match(output(), /MASTER_KEY: is required/)
})

test('[X4] without its only database a process says so at once and waits, and takes a changed password from the file', async () => {
  const role = `starting_${randomBytes(4).toString('hex')}`
  await database.query(`create role ${role} login superuser password 'right'`)
  const file = `${mkdtempSync(`${tmpdir()}/login-`)}/url`
  const write = (password: string) =>
    writeFileSync(file, Object.assign(new URL(database.url), { username: role, password }).href)
  write('wrong')
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const waiting = await start(script, { ...settings, DATABASE_URL: '', DATABASE_URL_FILE: file })
    await eventually(
      () => /"errorCode":"28P01".*"msg":"database refuses the login: check role/.test(waiting.output()),
      () => `The refusal is not logged: ${waiting.output()}`,
    )
    const ready = await fetch(`http://127.0.0.1:${waiting.adminPort}/readyz`)
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'starting' }])
    write('right')
    await eventually(
      () => / ready"/.test(waiting.output()),
      () => `It does not start: ${waiting.output()}`,
    )
    assert.doesNotMatch(waiting.output(), /right|wrong/)
    waiting.child.kill('SIGTERM')
    assert.equal(await waiting.exited, 0, waiting.output())
    write('wrong')
  }
  await database.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`)
})

test('with TELEMETRY_URL and without OpenTelemetry, a process says so in one sentence and does not start', async () => {
  // In a clone it is installed: this makes it as absent as in most installations.
  const absent = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    const code = 'ERR_MODULE_NOT_FOUND'
    registerHooks({
      resolve(name, context, next) {
        if (name === '@ostiary/telemetry') throw Object.assign(new Error(name), { code })
        return next(name, context)
      },
    })
  `)}`
  const telemetry = { ...settings, TELEMETRY_URL: 'http://127.0.0.1:1', NODE_OPTIONS: `--import=${absent}` }
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const { exited, output } = await start(script, telemetry)
    assert.equal(await exited, 1)
    assert.match(
      output(),
      /^Start failed: TELEMETRY_URL is set and OpenTelemetry is not installed\. Install it .*\nRun .*\n$/,
    )
  }
})

test('[U7] admin ports answer to the configured names, and refuse other host names', async () => {
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const running = await startReady(script, { ADMIN_HOST_NAMES: 'ops.example' })
    const asked = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: running.adminPort, path: '/metrics', headers: { host } }
        get(options, (response) => resolve(response.resume().statusCode)).on('error', reject)
      })
    assert.deepEqual([await asked('evil.example'), await asked('ops.example:9400')], [421, 200], script)
    await finish(running)
  }
})

test('a port in use is reported in plain words', async () => {
  const first = await startReady('main-api.ts')
  const second = await start('main-api.ts', { ...settings, PORT: String(first.port) })
  assert.equal(await second.exited, 1)
  assert.match(second.output(), /EADDRINUSE/)
  first.child.kill('SIGKILL')
  await first.exited
})

test('a list of networks with a bad line keeps the API from starting, and the worker, which needs none, starts', async () => {
  const folder = mkdtempSync(`${tmpdir()}/networks-`)
  writeFileSync(`${folder}/tor.txt`, '192.0.2.1\nnot an address\n')
  const api = await start('main-api.ts', { ...settings, NETWORK_LISTS_DIR: folder })
  assert.equal(await api.exited, 1)
  assert.match(
    api.output(),
    /Start failed: NETWORK_LISTS_DIR: tor\.txt line 2 is not a network such as .*\n.*ostiary doctor/,
  )
  assert.ok(!api.output().includes('not an address'))
  const worker = await startReady('main-worker.ts', { NETWORK_LISTS_DIR: folder })
  worker.child.kill('SIGTERM')
  assert.equal(await worker.exited, 0, worker.output())
})

test('with several cells, API and worker start although one is unreachable', async () => {
  const file = `${mkdtempSync(`${tmpdir()}/cells-`)}/cells.json`
  const cells = { here: database.url, away: 'postgres://nobody@127.0.0.1:9/none' }
  writeFileSync(file, JSON.stringify({ cells, buckets: { '0-1022': 'here', '1023': 'away' } }))
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const running = await startReady(script, { DATABASE_URL: '', CELLS_FILE: file })
    running.child.kill('SIGTERM')
    assert.equal(await running.exited, 0, running.output())
    assert.match(running.output(), /"cell":"away".*cell is out of reach/)
  }
})

test('with MIGRATE_ON_START=false an old schema is refused with the command that migrates it', async () => {
  const empty = await createTestDatabase()
  const { exited, output } = await start('main-api.ts', {
    ...settings,
    DATABASE_URL: empty.url,
    MIGRATE_ON_START: 'false',
  })
  assert.equal(await exited, 1)
  assert.match(output(), /lacks migrations \(0001_foundation.sql.*run "ostiary migrate"/)
  await empty.drop()
})

test('a release starts on a compatible schema of a newer one, and logs that', async () => {
  const shared = await createTestDatabase()
  const here = { DATABASE_URL: shared.url }
  await finish(await startReady('main-api.ts', here))
  const insert = `insert into schema_migrations (name, checksum, compatible_from) values ('9999_future.sql', 'x', $1)`
  await shared.query(insert, ['0001'])
  const output = await finish(await startReady('main-api.ts', here))
  assert.match(output, /"migration":"9999_future.sql".*a newer version migrated the database; this one works with it/)
  await shared.query(`update schema_migrations set compatible_from = '9999' where name = '9999_future.sql'`)
  const refused = await start('main-api.ts', { ...settings, ...here })
  assert.equal(await refused.exited, 1)
  assert.match(refused.output(), /Start failed: .*9999_future.sql cannot be used by this one: start that version/)
  await shared.drop()
})

async function finish(running: Running): Promise<string> {
  running.child.kill('SIGTERM')
  assert.equal(await running.exited, 0, running.output())
  return running.output()
}

test('SIGTERM: readyz says stopping, a running request is answered, the exit is clean', async () => {
  const api = await startReady('main-api.ts', { SHUTDOWN_DRAIN_MS: '8000', SHUTDOWN_TIMEOUT_MS: '30000' })
  const body = '{"value":"slow writer"}'
  const slow = await beginRequest(api.port, body.length)
  slow.socket.write(body.slice(0, 10))
  api.child.kill('SIGTERM')
  const ready = await eventually(async () => {
    const reply = await fetch(`http://127.0.0.1:${api.adminPort}/readyz`)
    return reply.ok ? undefined : reply
  })
  assert.deepEqual([ready.status, await ready.json()], [503, { status: 'stopping' }])
  assert.equal((await fetch(`http://127.0.0.1:${api.port}/health`)).status, 200, 'still serving while it drains')
  await eventually(() => /"phase":"drain".*shutdown phase done/.test(api.output()), 'the drain is over')
  slow.socket.write(body.slice(10))
  assert.equal(await api.exited, 0, api.output())
  assert.match(slow.answer(), /HTTP\/1.1 201/)
  for (const phase of ['drain', 'requests', 'connections', 'database', 'admin'])
    assert.match(api.output(), new RegExp(`"phase":"${phase}".*shutdown phase done`))
})

test('SIGTERM: a request that never ends is abandoned at the deadline', async () => {
  const api = await startReady('main-api.ts', { SHUTDOWN_TIMEOUT_MS: '300' })
  const endless = await beginRequest(api.port, 100)
  endless.socket.write('{')
  const ranMs = startStopwatch()
  api.child.kill('SIGTERM')
  assert.equal(await api.exited, 1)
  await figureAtMost('api.stop-with-endless-request-ms', 5_000, ranMs())
  assert.match(api.output(), /"phase":"requests".*missed its deadline/)
})

test('without a reader of their log, API and worker start, serve and stop cleanly', async () => {
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    const running = await start(script, { ...settings, SHUTDOWN_DRAIN_MS: '0' })
    running.child.stdout?.destroy()
    running.child.stderr?.destroy()
    await eventually(async () => {
      assert.equal(running.child.exitCode, null)
      const ready = await fetch(`http://127.0.0.1:${running.adminPort}/readyz`).catch(() => undefined)
      return ready?.ok || undefined
    })
    const lost = await eventually(async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${running.adminPort}/metrics`)).text()
      return /^ostiary_log_lines_lost_total ([1-9]\d*)$/m.exec(metrics)?.[1]
    })
    assert.ok(Number(lost) >= 1)
    running.child.kill('SIGTERM')
    assert.equal(await running.exited, 0)
  }
})

test('the worker starts its jobs, serves its state on its own port and stops cleanly', async () => {
  const worker = await startReady('main-worker.ts')
  const metrics = await (await fetch(`http://127.0.0.1:${worker.adminPort}/metrics`)).text()
  assert.match(metrics, /ostiary_build_info\{version="0.1.0"\} 1/)
  assert.match(metrics, /ostiary_db_connections\{cell="main",state="total"\}/)
  worker.child.kill('SIGTERM')
  assert.equal(await worker.exited, 0, worker.output())
  assert.match(worker.output(), /"count":25,"msg":"worker ready"/)
})

test('the public port has no metrics, and the admin port nothing else', async () => {
  const api = await startReady('main-api.ts')
  assert.equal((await fetch(`http://127.0.0.1:${api.port}/metrics`)).status, 404)
  assert.equal((await fetch(`http://127.0.0.1:${api.adminPort}/strings`)).status, 404)
  assert.equal((await fetch(`http://127.0.0.1:${api.adminPort}/metrics`, { method: 'POST' })).status, 405)
  const metrics = await (await fetch(`http://127.0.0.1:${api.adminPort}/metrics`)).text()
  assert.match(metrics, /ostiary_http_request_seconds_count\{operation="unknown",status="404"\} 1/)
  assert.match(metrics, /nodejs_eventloop_lag_seconds/)
  api.child.kill('SIGTERM')
  assert.equal(await api.exited, 0)
})
