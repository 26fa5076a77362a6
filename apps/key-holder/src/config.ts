import { readFileSync } from 'node:fs'
import { parseMasterKeys } from '@ostiary/service-kit/sealing'
import { ConfigError, type Environment, readSettings } from '@ostiary/service-kit/settings'
import Type from 'typebox'
import type { DbOptions } from './platform/db.ts'

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 65535, default: fallback, description })
const milliseconds = (fallback: number, minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: 600_000, default: fallback, description })

/** All settings. Those marked secret have no default, and each can be read from the file that `NAME_FILE` names. */
export const Settings = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      secret: true,
      description: 'The key holder’s own PostgreSQL 15 or newer, never the server’s. Required',
    }),
  ),
  MASTER_KEY: Type.Optional(
    Type.String({
      secret: true,
      description:
        'Seals key shares and the private keys of this service: base64 of 32 random bytes. Never the server’s. Required. With several lines the first seals and all open',
    }),
  ),
  MATCHER_KEYS: Type.Optional(
    Type.String({
      secret: true,
      description:
        'Public Ed25519 keys of the servers that may call, in base64url, one per line or comma-separated; several while one is replaced. Required',
    }),
  ),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address the service listens on; `0.0.0.0` in a container' }),
  PORT: port(8090, 'Port of the service'),
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address of the admin port. It needs no key: never publish it',
  }),
  ADMIN_HOST_NAMES: Type.String({
    default: '',
    description:
      'Host names, comma-separated, by which the admin port may be asked (`key-holder`, as Prometheus writes them). Addresses and `localhost` always may; any other name is 421',
  }),
  ADMIN_PORT: port(9410, '`/metrics`, `/livez` and `/readyz`'),
  COSINE_MIN: Type.Number({
    minimum: 0.3,
    maximum: 0.95,
    default: 0.49,
    description: 'The least similarity that is accepted',
  }),
  DATABASE_POOL_MAX: Type.Integer({ minimum: 2, maximum: 200, default: 10, description: 'Connections of the process' }),
  DATABASE_STATEMENT_TIMEOUT_MS: milliseconds(
    5_000,
    100,
    'A statement that takes longer is cancelled and answered with 503',
  ),
  DATABASE_CONNECT_TIMEOUT_MS: milliseconds(
    3_000,
    100,
    'A request that gets no connection for so long is answered with 503',
  ),
  SHUTDOWN_DRAIN_MS: milliseconds(0, 0, 'How long a stopping process keeps serving while `/readyz` says 503'),
  SHUTDOWN_TIMEOUT_MS: milliseconds(10_000, 100, 'How long open requests may take to end'),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug'].map((level) => Type.Literal(level)),
    { default: 'info', description: 'Lines below this level are not written' },
  ),
})

export interface Config {
  masterKeys: readonly Buffer[]
  matcherKeys: readonly string[]
  cosineMin: number
  logLevel: string
  http: { host: string; port: number }
  admin: { host: string; hostNames: readonly string[]; port: number }
  database: DbOptions
  shutdown: { drainMs: number; timeoutMs: number }
}

/** Reads the environment once, at the start of a process. A command that answers nobody needs no keys of callers. */
export function loadConfig(
  env: Environment,
  readFile = (path: string) => readFileSync(path, 'utf8'),
  { needsCallers = true } = {},
): Config {
  const problems: string[] = []
  const values = readSettings(Settings, env, readFile, problems)
  const required = <T>(
    name: 'DATABASE_URL' | 'MASTER_KEY' | 'MATCHER_KEYS',
    read: (text: string) => T,
  ): T | undefined => {
    const text = values[name]
    try {
      if (text !== undefined) return read(text)
      if (!problems.some((problem) => problem.startsWith(name))) problems.push(`${name}: is required (or ${name}_FILE)`)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
    return undefined
  }
  const url = required('DATABASE_URL', readUrl)
  const masterKeys = required('MASTER_KEY', parseMasterKeys)
  const matcherKeys = needsCallers ? required('MATCHER_KEYS', readMatcherKeys) : []
  if (problems.length > 0 || !url || !masterKeys || !matcherKeys)
    throw new ConfigError(problems, 'docs/ops/key-holder.md')
  return Object.freeze({
    masterKeys,
    matcherKeys,
    cosineMin: values.COSINE_MIN,
    logLevel: values.LOG_LEVEL,
    http: { host: values.HOST, port: values.PORT },
    admin: {
      host: values.ADMIN_HOST,
      hostNames: values.ADMIN_HOST_NAMES.toLowerCase().split(/[ ,]+/).filter(Boolean),
      port: values.ADMIN_PORT,
    },
    database: {
      url,
      poolMax: values.DATABASE_POOL_MAX,
      statementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
      connectTimeoutMs: values.DATABASE_CONNECT_TIMEOUT_MS,
      ...(env.DATABASE_URL_FILE && { reread: () => rereadUrl(env, readFile) }),
    },
    shutdown: { drainMs: values.SHUTDOWN_DRAIN_MS, timeoutMs: values.SHUTDOWN_TIMEOUT_MS },
  })
}

/** A file that is being written, or is wrong, changes nothing. */
function rereadUrl(env: Environment, readFile: (path: string) => string): { url: string } | undefined {
  try {
    return { url: loadConfig(env, readFile, { needsCallers: false }).database.url }
  } catch {
    return undefined
  }
}

function readUrl(text: string): string {
  if (!URL.canParse(text)) throw new Error('is not a valid URL; are special characters in the password encoded?')
  if (new URL(text).searchParams.has('options')) throw new Error('has options, which would replace our limits of time')
  return text
}

/** Base64url of 32 bytes each. A `#` starts a comment, so that a line can say whose key it is. */
function readMatcherKeys(text: string): string[] {
  const keys = text
    .split(/[\r\n]+/)
    .flatMap((line) => line.replace(/#.*/, '').split(','))
    .map((key) => key.trim())
    .filter((key) => key !== '')
  if (keys.length === 0) throw new Error('no key found')
  if (!keys.every((key) => /^[A-Za-z0-9_-]{43}$/.test(key)))
    throw new Error('each must be base64url of a public Ed25519 key, 43 characters')
  return keys
}
