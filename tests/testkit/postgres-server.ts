import { execFile, execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { POSTGRES_FOLDER } from './missing.ts'
import { freePorts } from './ports.ts'

/** A PostgreSQL server of a test's own, with a data folder that goes with it. Role and password are `ostiary`. */
export interface PostgresServer {
  /** Of the database `postgres`. */
  url: string
  port: number
  /** Appends to postgresql.conf and reloads it. */
  configure(settings: Readonly<Record<string, string>>): Promise<void>
  /** `immediate`: as a power cut, without a last checkpoint. */
  stop(how?: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  promote(): Promise<void>
  remove(): Promise<void>
}

interface ServerOptions {
  settings?: Readonly<Record<string, string>>
  /** Makes a standby of this server, which follows it under the name `replica`. */
  follows?: PostgresServer
  /** Where the data folder is made; it may be full one day. */
  within?: string
}

const PASSWORD = 'ostiary'

export async function startPostgres({
  settings = {},
  follows,
  within = tmpdir(),
}: ServerOptions = {}): Promise<PostgresServer> {
  const [port = 0] = await freePorts(1)
  const folder = mkdtempSync(join(within, 'ostiary-server-'))
  const data = join(folder, 'data')
  own(folder)
  const conf = join(data, 'postgresql.conf')
  const write = (values: Readonly<Record<string, string>>) =>
    appendFileSync(
      conf,
      Object.entries(values)
        .map(([name, value]) => `${name} = '${value}'\n`)
        .join(''),
    )
  if (follows) await asOwner('pg_basebackup', '-D', data, '-R', '-d', `${follows.url}?application_name=replica`)
  else {
    const secret = join(folder, 'password')
    writeFileSync(secret, PASSWORD)
    own(secret)
    await asOwner(
      'initdb',
      '-D',
      data,
      '-U',
      'ostiary',
      `--pwfile=${secret}`,
      '--auth=scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
    )
  }
  write({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '32MB',
    max_wal_size: '64MB',
    min_wal_size: '32MB',
    wal_receiver_status_interval: '1s',
    wal_retrieve_retry_interval: '200ms',
    port: String(port),
    ...settings,
  })
  const control = (...args: string[]) => asOwner('pg_ctl', '-D', data, '-w', '-t', '60', ...args)
  const server: PostgresServer = {
    url: `postgres://ostiary:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    async configure(values) {
      write(values)
      await control('reload')
    },
    stop: (how = 'fast') => control('-m', how, 'stop'),
    start: () => control('-l', join(folder, 'log'), 'start'),
    promote: () => control('promote'),
    async remove() {
      await server.stop('immediate').catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start().catch((error) => {
    throw new Error(`PostgreSQL did not start: ${readFileSync(join(folder, 'log'), 'utf8')}`, { cause: error })
  })
  return server
}

const isRoot = process.getuid?.() === 0

/** PostgreSQL refuses to run as root. */
async function asOwner(program: string, ...args: string[]): Promise<void> {
  const path = join(POSTGRES_FOLDER, program)
  const asPostgres = ['--reuid=postgres', '--regid=postgres', '--init-groups', '--reset-env', path, ...args]
  await promisify(execFile)(isRoot ? 'setpriv' : path, isRoot ? asPostgres : args, { cwd: '/' })
}

function own(path: string): void {
  if (!isRoot) return
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  chownSync(path, idOf('-u'), idOf('-g'))
  chmodSync(path, 0o700)
}
