import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { Db } from './db.ts'

// An arbitrary constant that must be the same in every release.
const LOCK_KEY = 4_017_220_915

/**
 * Applies the pending migrations, forward only, each file in its own transaction. The advisory lock makes other processes that start
 * at the same time wait; they then find nothing to do.
 */
export async function migrate(db: Db, onApplied: (name: string) => void = () => {}): Promise<void> {
  const folder = fileURLToPath(new URL('../../migrations/', import.meta.url))
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  await db.withDedicatedClient(async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from schema_migrations',
    )
    const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
    for (const name of files) {
      const text = readFileSync(`${folder}/${name}`, 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      const known = applied.get(name)
      if (known !== undefined && known !== checksum)
        throw new Error(`Migration ${name} was edited after it was applied`)
      if (known !== undefined) continue
      await apply(client, { name, text, checksum })
      onApplied(name)
    }
  })
}

async function apply(client: pg.ClientBase, file: { name: string; text: string; checksum: string }): Promise<void> {
  await client.query('begin')
  try {
    await client.query(file.text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [file.name, file.checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${file.name} failed: ${(error as Error).message}`, { cause: error })
  }
}
