import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Environment } from '@ostiary/server/operate'

/** `npm run dev` writes it. A package of the command line stands in no installation, and finds no such file. */
const FILE = new URL('../../../.dev/env', import.meta.url)

/** Names under which the address and the key of the installation reach the commands. */
export const INSTALLATION = { url: 'OSTIARY_INSTALLATION_URL', key: 'OSTIARY_INSTALLATION_KEY' } as const

/**
 * The environment, with what the installation that this command line stands in says of itself. What is set already wins, and an
 * environment that names another database means another installation. The address and the key go under names of their own,
 * because a profile wins over them and the environment over a profile.
 */
export function readInstallation(env: Environment, file: URL | string = FILE): Environment {
  const { OSTIARY_URL, OSTIARY_API_KEY, ...settings } = parseEnv(textOf(file))
  const database = env.CELLS_FILE ?? env.DATABASE_URL ?? settings.DATABASE_URL
  if (database !== settings.DATABASE_URL) return env
  return {
    ...settings,
    ...(OSTIARY_URL !== undefined && { [INSTALLATION.url]: OSTIARY_URL }),
    ...(OSTIARY_API_KEY !== undefined && { [INSTALLATION.key]: OSTIARY_API_KEY }),
    ...env,
  }
}

function textOf(file: URL | string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
