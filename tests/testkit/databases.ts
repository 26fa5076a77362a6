import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { TEST_LIMITS } from './limits.ts'

/** Makes an empty database on a cluster, for one run, or a copy of another one. */
export async function createDatabase(
  clusterUrl: string,
  prefix: string,
  template = 'template1',
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `${prefix}_${randomBytes(5).toString('hex')}`
  await onCluster(clusterUrl, `create database ${name} template ${template}`)
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onCluster(clusterUrl, `drop database if exists ${name} with (force)`) }
}

async function onCluster(clusterUrl: string, statement: string): Promise<void> {
  const client = new pg.Client(clusterUrl)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Settings for a process under test: its own database, a fresh master key. */
export function testSettings(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    ...TEST_LIMITS,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'info',
  }
}
