import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { storeSettings } from './connection-check.ts'
import type { Db } from './db.ts'

export interface Migration {
  name: string
  text: string
  checksum: string
}

/** A row of `schema_migrations`. */
export interface AppliedMigration {
  name: string
  checksum: string
  /** The number of the migration that a release must know to work on this schema. Null in rows of releases that did not write it. */
  compatibleFrom?: string | null
}

export interface MigrationState {
  applied: string[]
  pending: string[]
  /** Applied by a newer release. */
  unknown: string[]
  /** The unknown migrations with which this release does not work. */
  incompatible: string[]
  /** Edited after they were applied: the database and the file no longer agree. */
  changed: string[]
}

// An arbitrary constant that must be the same in every release.
const LOCK_KEY = 7_305_811_246

export function readMigrations(folder = fileURLToPath(new URL('../../migrations/', import.meta.url))): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(`${folder}/${name}`, 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    })
}

/** Compares the applied migrations with those of this release. Pure, so every case can be tested without a database. */
export function compareMigrations(files: readonly Migration[], rows: readonly AppliedMigration[]): MigrationState {
  const known = new Map(files.map((file) => [file.name, file.checksum]))
  const done = new Set(rows.map((row) => row.name))
  const numbers = new Set([ANY_RELEASE, ...files.map(({ name }) => numberOf(name))])
  const unknown = rows.filter((row) => !known.has(row.name))
  return {
    applied: rows.map((row) => row.name),
    pending: files.filter((file) => !done.has(file.name)).map((file) => file.name),
    unknown: unknown.map((row) => row.name),
    incompatible: unknown.filter((row) => !numbers.has(row.compatibleFrom ?? '')).map((row) => row.name),
    changed: rows.filter((row) => known.has(row.name) && known.get(row.name) !== row.checksum).map((row) => row.name),
  }
}

const ANY_RELEASE = '0000'
const MARK = /^-- Compatible down to: (\d{4})$/m
const numberOf = (name: string) => name.slice(0, 4)

/**
 * The releases that work with a migration are those that know the migration of this number. A migration that only adds works with
 * every release; one that removes something says so in a line `-- Compatible down to: 0017`.
 */
export function compatibleFrom({ text }: Pick<Migration, 'text'>): string {
  return MARK.exec(text)?.[1] ?? ANY_RELEASE
}

/**
 * Applies the pending migrations, forward only, each file in its own transaction. The advisory lock makes other processes
 * that start at the same time wait; they then find nothing to do.
 */
export async function migrate(
  db: Db,
  files: readonly Migration[],
  onApplied: (name: string) => void,
): Promise<MigrationState> {
  return db.withDedicatedClient(async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    try {
      await client.query(`create table if not exists schema_migrations (
        name text primary key, checksum text not null, applied_at timestamptz not null default now(), compatible_from text)`)
      await addCompatibleFrom(client)
      const state = compareMigrations(files, await appliedRows(client))
      refuseForeign(state)
      for (const file of files) {
        if (!state.pending.includes(file.name)) continue
        await apply(client, file)
        onApplied(file.name)
      }
      if (db.isPooled) await storeSettings(client, db.settings)
      return compareMigrations(files, await appliedRows(client))
    } finally {
      // Fails only on a broken connection, whose end releases the lock; the original error must not be hidden.
      await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => {})
    }
  })
}

export async function migrationState(db: Db, files: readonly Migration[]): Promise<MigrationState> {
  return db.withDedicatedClient(async (client) => {
    const { rows } = await client.query<{ found: string | null }>(
      `select to_regclass('schema_migrations')::text as found`,
    )
    return compareMigrations(files, rows[0]?.found ? await appliedRows(client) : [])
  })
}

export function refuseForeign(state: MigrationState): void {
  if (state.changed.length > 0) {
    throw new Error(`Migrations were edited after they had been applied: ${state.changed.join(', ')}`)
  }
  if (state.incompatible.length > 0) {
    throw new Error(
      `The database was migrated by a newer version (${state.unknown.join(', ')}), and ${state.incompatible.join(', ')} cannot be used by this one: start that version`,
    )
  }
  if (state.unknown.length > 0 && state.pending.length > 0) {
    throw new Error(
      `The database was migrated by another line of versions: it has ${state.unknown.join(', ')} and lacks ${state.pending.join(', ')}`,
    )
  }
}

async function appliedRows(client: pg.ClientBase): Promise<AppliedMigration[]> {
  // The column may be missing: an older release created the table.
  const text = `select name, checksum, to_jsonb(m) ->> 'compatible_from' as "compatibleFrom" from schema_migrations m order by name`
  return (await client.query<AppliedMigration>(text)).rows
}

/** Runs only when the column is missing, because the statement waits for every reader of the table. */
async function addCompatibleFrom(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'compatible_from'`,
  )
  if (rowCount === 0) await client.query('alter table schema_migrations add column compatible_from text')
}

/** While a change of a table waits for its lock, all later statements wait behind it. So it waits briefly and tries often. */
const LOCK_TIMEOUT = '2s'
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = 1_000
const LOCK_NOT_AVAILABLE = '55P03'

async function apply(client: pg.ClientBase, file: Migration): Promise<void> {
  for (let tries = 1; ; tries++) {
    await client.query('begin')
    try {
      await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
      await client.query(file.text)
      await client.query('insert into schema_migrations (name, checksum, compatible_from) values ($1, $2, $3)', [
        file.name,
        file.checksum,
        compatibleFrom(file),
      ])
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback').catch(() => {})
      const isBusy = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE
      if (!isBusy || tries === LOCK_TRIES)
        throw new Error(`Migration ${file.name} failed: ${(error as Error).message}`, { cause: error })
      await sleep(LOCK_PAUSE_MS)
    }
  }
}
