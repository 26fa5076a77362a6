/** What of its environment an installation tells the command line: where it is and what it uses. No secrets. */
const SHARED = [
  'PORT',
  'ADMIN_PORT',
  'WORKER_ADMIN_PORT',
  'PUBLIC_URL',
  'LAUNCH_URL',
  'LAUNCH_DIR',
  'OUTBOUND_ALLOW_NETWORKS',
  'SANCTIONS_DIR',
  'NETWORK_LISTS_DIR',
] as const

/**
 * The text of `.dev/env`, which `npm run ostiary` reads: with it, commands find this installation on any port and need neither
 * an address nor a key.
 */
export function envFileOf(env: Readonly<Record<string, string>>, connection: { url: string; key: string }): string {
  const values: Record<string, string | undefined> = {
    DATABASE_URL: env.DATABASE_URL,
    MASTER_KEY_FILE: env.MASTER_KEY_FILE,
    ...Object.fromEntries(SHARED.map((name) => [name, env[name]])),
    OSTIARY_URL: connection.url,
    OSTIARY_API_KEY: connection.key,
  }
  const lines = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}='${value}'`]))
  return `${lines.join('\n')}\n`
}

/**
 * What `npm run dev` sets where nothing else is said. Callbacks to this machine are let through, because a developer's own
 * receiver runs there; an installation for others has no such setting and calls public addresses only.
 */
export function withDevDefaults(given: Readonly<Record<string, string>>): Record<string, string> {
  return {
    PUBLIC_URL: `http://localhost:${given.PORT ?? 8080}`,
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    ...given,
  }
}
