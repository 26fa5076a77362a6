import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The reason to skip a test that runs this program; false if the program is here. tools/bootstrap installs it where there is apt. */
export function missingProgram(name: string): string | false {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name))) ? false : `${name} is not installed`
}

/** The reason to skip a test that starts and stops a PostgreSQL of its own; false if its programs are here. */
export function missingPostgres(): string | false {
  const folder = process.env.PG_BIN ?? '/usr/lib/postgresql/15/bin'
  return existsSync(join(folder, 'initdb')) ? false : `the programs of PostgreSQL 15 are not in ${folder}`
}
