import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The reason to skip a test that runs this program; false if the program is here. tools/bootstrap installs it where there is apt. */
export function missingProgram(name: string): string | false {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name))) ? false : `${name} is not installed`
}

/** Where the programs of PostgreSQL are. */
export const POSTGRES_FOLDER = process.env.PG_BIN ?? '/usr/lib/postgresql/15/bin'

/** The reason to skip a test that runs programs of PostgreSQL; false if they are here. */
export function missingPostgres(): string | false {
  const isHere = existsSync(join(POSTGRES_FOLDER, 'initdb'))
  return isHere ? false : `the programs of PostgreSQL 15 are not in ${POSTGRES_FOLDER}`
}
