import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from './ports.ts'

/** Where tools/bootstrap puts them. */
const POOLERS = process.env.OSTIARY_POOLERS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ostiary')
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534

export type PoolerVersion = '1.18' | '1.24'

/** Why a test behind a pooler cannot run here, or undefined when it can. */
export function missingPooler(): string | undefined {
  const versions: readonly PoolerVersion[] = ['1.18', '1.24']
  const missing = versions.filter((version) => !existsSync(join(folderOf(version), 'pgbouncer')))
  return missing.length > 0 ? `PgBouncer ${missing.join(' and ')} is not here: tools/bootstrap provides it` : undefined
}

const folderOf = (version: PoolerVersion) => join(POOLERS, `pgbouncer-${version}`)

export interface Pooler {
  /** The URL of a database of the cluster, through the pooler. */
  through(url: string): string
  stop(): Promise<void>
}

interface PoolerOptions {
  version: PoolerVersion
  /** Any database of the cluster; its user is the only one. */
  url: string
  /** Further lines of the section [pgbouncer]. */
  settings?: readonly string[]
}

/** Starts PgBouncer in transaction mode before a cluster, with fewer connections than its clients have. */
export async function startPooler({ version, url, settings = [] }: PoolerOptions): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(url)
  const [port = 0] = await freePorts(1)
  // The folder of the checkout may be closed to the user who runs it.
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-pooler-'))
  chmodSync(folder, 0o755)
  cpSync(folderOf(version), folder, { recursive: true, dereference: true })
  const user = decodeURIComponent(username)
  writeFileSync(join(folder, 'users'), `"${user}" "${decodeURIComponent(password)}"\n`)
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users')}`,
    `stats_users = ${user}`,
    'pool_mode = transaction',
    'default_pool_size = 6',
    'max_client_conn = 200',
    ...settings,
  ]
  writeFileSync(join(folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`)
  const child = spawn(join(folder, 'pgbouncer'), [join(folder, 'pgbouncer.ini')], {
    env: { LD_LIBRARY_PATH: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended at once:\n${log}`)
    await sleep(20)
  }
  return {
    through: (direct) => Object.assign(new URL(direct), { port: String(port) }).href,
    async stop() {
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
