import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { freePorts } from './ports.ts'
import { ROOT } from './root.ts'

export { freePorts, isFree } from './ports.ts'
export { ROOT } from './root.ts'

/** A compile cache shared by all processes that start here. */
export const COMPILED = { NODE_COMPILE_CACHE: `${ROOT}.reports/compiled` }

type Env = Readonly<Record<string, string>>

/** Starts a private cluster (see tools/services) and returns its URL. `DATABASE_URL` wins for the main one. */
export function startServices(name = 'main'): string {
  execFileSync(`${ROOT}tools/services`, ['start', name], { stdio: ['ignore', 'ignore', 'inherit'] })
  return execFileSync(`${ROOT}tools/services`, ['url', name], { encoding: 'utf8' }).trim()
}

export function stopServices(name: string, action: 'stop' | 'wipe' = 'stop'): void {
  execFileSync(`${ROOT}tools/services`, [action, name], { stdio: 'ignore' })
}

export interface Started {
  url: string
  adminUrl: string
  pid: number
  /** Everything the process wrote so far. */
  log(): string
  /** Ends it with a signal and waits; returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  exited: Promise<number | null>
}

interface StartOptions {
  env: Env
  logName: string
  nodeFlags?: readonly string[]
}

/** As in production: deploy/Dockerfile says why. */
export const API_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=100']

/** Starts the API as a process of its own, as in production, and waits until it is ready. */
export async function startApi(options: StartOptions): Promise<Started> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  return startProcess('apps/server/src/main-api.ts', {
    ...options,
    nodeFlags: [...API_FLAGS, ...(options.nodeFlags ?? [])],
    env: { PORT: String(port), ADMIN_PORT: String(adminPort), ...options.env },
  })
}

export async function startWorker(options: StartOptions): Promise<Started> {
  const [adminPort = 0] = await freePorts(1)
  return startProcess('apps/server/src/main-worker.ts', {
    ...options,
    env: {
      PORT: String(adminPort),
      WORKER_ADMIN_PORT: String(adminPort),
      ADMIN_PORT: String(adminPort),
      ...options.env,
    },
  })
}

/** Any script that listens on `PORT` and answers `/readyz` on `ADMIN_PORT`. */
export async function startProcess(script: string, { env, logName, nodeFlags = [] }: StartOptions): Promise<Started> {
  mkdirSync(`${ROOT}.reports`, { recursive: true })
  const logFile = `${ROOT}.reports/${logName}.log`
  const handle = openSync(logFile, 'w')
  const child = spawn(process.execPath, [...nodeFlags, `${ROOT}${script}`], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env },
    stdio: ['ignore', handle, handle],
  })
  closeSync(handle)
  const log = () => readFileSync(logFile, 'utf8')
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const adminUrl = `http://127.0.0.1:${env.ADMIN_PORT}`
  await waitUntilReady(`${adminUrl}/readyz`, child, log)
  return {
    url: `http://127.0.0.1:${env.PORT}`,
    adminUrl,
    pid: child.pid ?? 0,
    log,
    exited,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** A process is usually ready in two or three seconds. A busy machine may need far longer. */
const READY_WITHIN_MS = 120_000

async function waitUntilReady(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The process ended at once:\n${log()}`)
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return
    if (Date.now() > giveUpAt) throw new Error(`The process is not ready after ${READY_WITHIN_MS / 1000} s:\n${log()}`)
    await sleep(50)
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Runs `ostiary … --json` as a person would, and returns what it printed. */
export function ostiary<T>(env: Env, ...args: string[]): T {
  const printed = execFileSync(process.execPath, [`${ROOT}apps/cli/src/main.ts`, ...args, '--json'], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(printed) as T
}
