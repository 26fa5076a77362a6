import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { KeyHolderKey } from '@ostiary/contract'
import { readServiceKey } from '@ostiary/crypto'
import { createDatabase, testSettings } from './databases.ts'
import { COMPILED, freePorts, ROOT, type Started, startProcess, startServices } from './run.ts'

const MAIN = 'apps/key-holder/src/main.ts'

export type RunningKeyHolder = Awaited<ReturnType<typeof startKeyHolder>>

interface Options {
  logName: string
  /** Of the server's side, when it has one already. */
  matcherSeed?: string
  env?: Readonly<Record<string, string>>
  clusterUrl?: string
}

/** Starts a key holder as a process of its own with a database of its own, as in production, and waits until it is ready. */
export async function startKeyHolder(options: Options) {
  const { logName, matcherSeed = randomBytes(32).toString('base64url') } = options
  const database = await createDatabase(options.clusterUrl ?? startServices(), 'key_holder')
  const [port = 0, adminPort = 0] = await freePorts(2)
  const env = {
    ...testSettings(database.url),
    MATCHER_KEYS: (await readServiceKey(Buffer.from(matcherSeed, 'base64url'))).publicKey,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    ...options.env,
  }
  // The operator's command makes the keys, so the process finds them when it starts.
  const published = JSON.parse(runKeyHolder(env, 'keys')) as KeyHolderKey
  let starts = 0
  const launch = (changes: Readonly<Record<string, string>> = {}): Promise<Started> =>
    startProcess(MAIN, { env: { ...env, ...changes }, logName: `${logName}-key-holder-${++starts}` })
  let running = await launch()
  return {
    url: running.url,
    adminUrl: running.adminUrl,
    databaseUrl: database.url,
    /** The settings of the process. */
    env: env as Readonly<Record<string, string>>,
    /** What its operator gives to the operator of the server. */
    published,
    /** The key of the server's side, which the key holder knows: base64url of 32 bytes. */
    matcherSeed,
    pid: () => running.pid,
    /** Everything that the running process wrote so far. */
    log: () => running.log(),
    /** Ends the process in order; returns its exit code. */
    stop: () => running.stop(),
    /** `kill -9`. */
    async kill() {
      await running.stop('SIGKILL')
    },
    /** Starts it again on the same port and database, after `stop` or `kill`. Settings may differ, for a rotation. */
    async start(changes?: Readonly<Record<string, string>>) {
      running = await launch(changes)
    },
    /** Ends the process and drops its database. */
    async remove() {
      await running.stop('SIGKILL')
      await database.drop()
    },
  }
}

/** Runs a command of the key holder and returns what it printed. */
export function runKeyHolder(env: Readonly<Record<string, string>>, ...args: string[]): string {
  return execFileSync(process.execPath, [`${ROOT}${MAIN}`, ...args], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
