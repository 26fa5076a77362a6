/** The tables that documents have from code. */
import { randomBytes } from 'node:crypto'
import { createWire, isSecret, listTables, loadConfig, Settings } from '@ostiary/server/conformance'
import type { TSchema } from 'typebox'
import { CONTRACT_TABLES } from './contract-tables.ts'
import { limits } from './limits.ts'
import { table } from './table.ts'

type Tables = ReturnType<typeof listTables>

/** By document, then by the name in its mark. */
export async function readTables(): Promise<Record<string, Record<string, string>>> {
  const rooms = await readRooms()
  return {
    'docs/architecture.md': { tables: tableList(rooms) },
    'docs/privacy.md': { retention: retentionList(rooms) },
    'docs/configuration.md': { settings: settings(), limits: limits() },
    ...CONTRACT_TABLES,
  }
}

/** What the rooms declare about their tables. No connection is opened, so the settings need not lead anywhere. */
async function readRooms(): Promise<Tables> {
  const env = { DATABASE_URL: 'postgres://nobody@localhost/none', MASTER_KEY: randomBytes(32).toString('base64') }
  const wire = createWire(loadConfig(env), { role: 'test' })
  const tables = listTables(wire)
  await wire.close()
  return tables
}

/** Every table, its key, what makes it grow. How long a row is kept stands in docs/privacy.md. */
export function tableList(tables: Tables): string {
  const rows = tables.map(({ room, table, partitions, key, growsWith }) => [
    partitions === undefined ? `\`${table}\`` : `\`${table}\` (${partitions})`,
    `\`${room}\``,
    `\`${key}\``,
    growsWith,
  ])
  return table('Table | Room | Key | Grows with', rows)
}

/** How long a row of each table is kept. */
export function retentionList(tables: Tables): string {
  const rows = tables.map(({ table, after, by }) => [`\`${table}\``, after, by === null ? '' : `\`${by}\``])
  return table('Table | A row is kept | Deleted by the job', rows)
}

function settings(): string {
  const shown = (schema: TSchema & { default?: unknown }) => {
    if (schema.default === undefined) return isSecret(schema) ? 'secret, none' : 'none'
    return schema.default === '' ? 'empty' : `\`${schema.default}\``
  }
  const rows = Object.entries<TSchema & { description?: string }>(Settings.properties).map(([name, schema]) => [
    `\`${name}\``,
    shown(schema),
    schema.description ?? '',
  ])
  return table('Setting | Default | Meaning', rows)
}
