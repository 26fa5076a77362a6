import { globSync } from 'node:fs'
import { namedStatements, type Statement } from '../platform/db.ts'

/**
 * The named statements of all stores. Those on the partition of a day name the whole table here; statements that are put together for one call are
 * missing.
 */
export async function loadStatements(): Promise<readonly Statement[]> {
  const source = new URL('../', import.meta.url)
  for (const file of globSync(['**/*store.ts', 'platform/**/*.ts'], {
    cwd: source,
    exclude: ['**/*.test.ts', '**/testing/**'],
  }))
    await import(new URL(file, source).href)
  return namedStatements().toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}
