import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiKeyRecord } from '@ostiary/contract'
import { testSettings } from '@ostiary/testkit/databases'
import { eventually } from '@ostiary/testkit/eventually'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import { startPostgres } from '@ostiary/testkit/postgres-server'
import { COMPILED, freePorts, ostiary, ROOT, startApi } from '@ostiary/testkit/run'
import pg from 'pg'
import { startSwitchedProxy } from './switched-proxy.ts'

type Env = Readonly<Record<string, string>>

const SHIFTED = ['--import', `${ROOT}measures/drills/shifted-clock.ts`]
const AHEAD = { SHIFTED_CLOCK: '600' }

export type Scene = Awaited<ReturnType<typeof setScene>>

/** A primary, a replica that its commits wait for, an API and a worker, and the ways to break each. */
export async function setScene(disk: string | undefined) {
  const primary = await startPostgres(disk ? { within: disk } : {})
  const replica = await startPostgres({ follows: primary })
  const admin = await prepareDatabase(primary.url)
  await primary.configure({ synchronous_standby_names: 'ANY 1 (replica)' })
  const proxy = await startSwitchedProxy(primary.port)
  const [port = 0, adminPort = 0, workerPort = 0] = await freePorts(3)
  const env = {
    ...testSettings(`postgres://app:app@127.0.0.1:${proxy.port}/app`),
    ...PRODUCT_LIMITS,
    DATABASE_STATEMENT_TIMEOUT_MS: '5000',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    WORKER_ADMIN_PORT: String(workerPort),
  }
  const api = await startApi({ env, logName: 'drill-truth-api' })
  let worker: ChildProcess | undefined
  const stopWorker = async () => {
    const exited = worker && new Promise((resolve) => worker?.once('exit', resolve))
    worker?.kill('SIGKILL')
    await exited
    worker = undefined
  }
  const startWorker = async ({ isClockWrong = false } = {}) => {
    await stopWorker()
    worker = spawnWorker(env, isClockWrong)
  }
  await startWorker()
  await eventually(async () => (await readyz(workerPort)) === '200', 'the worker is ready')
  let of500 = 0
  // It stops this process, and with it the proxy.
  const past = { ...env, DATABASE_URL: `postgres://app:app@127.0.0.1:${primary.port}/app` }
  const { id } = ostiary<{ id: string }>(past, 'tenants', 'create', 'Truth')
  const key = ostiary<ApiKeyRecord>(past, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered').api_key

  return {
    ...{ primary, replica, admin, proxy, api, startWorker, stopWorker },
    readyz: (of: 'api' | 'worker') => readyz(of === 'api' ? adminPort : workerPort),
    doctor: () => askDoctor(env),
    /** Calls of the whole drill that were answered 500. */
    of500: () => of500,
    create: async () => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key }
      const body = JSON.stringify({ value: 'x'.repeat(2_000) })
      const { status } = await fetch(`${api.url}/strings`, { method: 'POST', headers, body })
      if (status === 500) of500++
      return status
    },
    async remove() {
      await Promise.all([api.stop('SIGKILL'), stopWorker()])
      await admin.end().catch(() => {})
      proxy.close()
      await replica.remove()
      await primary.remove()
    },
  }
}

/** A role that owns its database and is no superuser. */
async function prepareDatabase(url: string): Promise<pg.Pool> {
  const options = '-c default_transaction_read_only=off -c synchronous_commit=local'
  const admin = new pg.Pool({ connectionString: url, max: 1, options })
  admin.on('error', () => {})
  await admin.query(`create role app login password 'app'`)
  await admin.query('create database app owner app')
  const inside = new pg.Client(Object.assign(new URL(url), { pathname: '/app' }).href)
  await inside.connect()
  await inside.query('create extension vector')
  await inside.end()
  return admin
}

function spawnWorker(env: Env, isClockWrong: boolean): ChildProcess {
  const log = openSync(`${ROOT}.reports/drill-truth-worker.log`, 'a')
  const script = `${ROOT}apps/server/src/main-worker.ts`
  const child = spawn(process.execPath, [...(isClockWrong ? SHIFTED : []), script], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env, ...(isClockWrong && AHEAD) },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  return child
}

const readyz = (port: number): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => String(status),
    () => 'no answer',
  )

/** The names of what is not right with the database and the worker, as `ostiary doctor` sees it; `ok` when all is. */
function askDoctor(env: Env): Promise<string> {
  const args = [`${ROOT}apps/cli/src/main.ts`, 'doctor', '--json']
  const options = { env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (_error, stdout) => {
      const checks = JSON.parse(stdout) as { name: string; state: string; finding: string }[]
      const wrong = checks.filter(({ name, state }) => OF_STORE.has(name) && state !== 'ok')
      resolve(wrong.map(({ name, finding }) => `${name}: ${finding}`).join('; ') || 'ok')
    })
  })
}
const OF_STORE = new Set(['database', 'connections', 'replication', 'storing', 'clock', 'worker'])

/** A file system that can be filled; undefined where none can be mounted. */
export function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', folder], { stdio: 'ignore' })
    chmodSync(folder, 0o755)
    return folder
  } catch {
    rmdirSync(folder)
    return undefined
  }
}

export function unmountSmallDisk(folder: string): void {
  execFileSync('umount', ['-l', folder])
  if (existsSync(folder)) rmdirSync(folder)
}

/** Writes until nothing more fits. */
export function fill(path: string): void {
  const file = openSync(path, 'a')
  for (const size of [1 << 20, 4096]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1))
    } catch {
      // It is full for this size.
    }
  }
  closeSync(file)
}
