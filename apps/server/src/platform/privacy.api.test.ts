import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createHarness } from '../testing/harness.ts'

const PAGE = new URL('../../../../docs/privacy.md', import.meta.url)
/** Tables about the database itself. */
const OWN = new Set(['schema_migrations'])

/** The page's first table: `table.one`, `two` in the first cell of a row; `table.*` is all of a table, `*.column` that column of all tables. */
function namedIn(page: string): Set<string> {
  const named = new Set<string>()
  const [, table = ''] = /\n\n(\| Table\.column .+?)\n\n/s.exec(page) ?? []
  for (const [, cell = ''] of table.matchAll(/^\| (`[^|]+) \|/gm)) {
    let owner = ''
    for (const [, quoted = ''] of cell.matchAll(/`([^`]+)`/g)) {
      for (const name of quoted.split(', ')) {
        const [first = '', column] = name.split('.')
        if (column) owner = first
        named.add(`${owner}.${column ?? first}`)
      }
    }
  }
  return named
}

const waysToName = (table: string, column: string) => [`${table}.${column}`, `${table}.*`, `*.${column}`]

test('docs/privacy.md names every stored column, and no other', async () => {
  const harness = await createHarness()
  const { rows } = await harness.database.query(
    `select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped order by 1, 2`,
  )
  const stored = (rows as { table: string; column: string }[]).filter(({ table }) => !OWN.has(table))
  assert.ok(stored.length > 50, `${stored.length} columns`)
  const named = namedIn(readFileSync(PAGE, 'utf8'))
  const missing = stored.filter(({ table, column }) => !waysToName(table, column).some((way) => named.has(way)))
  assert.deepEqual(
    missing.map(({ table, column }) => `${table}.${column}`),
    [],
  )
  const known = new Set(stored.flatMap(({ table, column }) => waysToName(table, column)))
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  )
})
