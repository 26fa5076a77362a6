/** A database for the tests of one file, and the command line on it. Only tests import this. */
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'
import { type Ran, runQuietly } from './run-quietly.ts'

type Env = Record<string, string>

export interface Installation {
  env: Env
  run(args: readonly string[], env?: Env): Promise<Ran>
  /** The same for a line of words; quotes hold words together. */
  cli(line: string, env?: Env): Promise<Ran>
}

/** Creates a database, and drops it after the tests of the calling file. The database is empty: `migrate` makes its tables. */
export async function createInstallation(name: string, settings: Env = {}): Promise<Installation> {
  const database = `test_${name}_${randomBytes(5).toString('hex')}`
  const cluster = new pg.Client(process.env.OSTIARY_TEST_CLUSTER)
  await cluster.connect()
  await cluster.query(`create database ${database}`)
  const url = Object.assign(new URL(process.env.OSTIARY_TEST_CLUSTER ?? ''), { pathname: `/${database}` })
  const env: Env = {
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    DATABASE_URL: url.href,
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...settings,
  }
  after(async () => {
    await cluster.query(`drop database ${database} with (force)`)
    await cluster.end()
  })

  const run = (args: readonly string[], usedEnv = env) => runQuietly(args, usedEnv)
  const wordsOf = (line: string) => line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? []
  return { env, run, cli: (line, usedEnv) => run(wordsOf(line), usedEnv) }
}
