import { createClient, type OstiaryClient, OstiaryError } from '@ostiary/sdk'
import { type Invocation, text, UsageError } from './command.ts'
import { INSTALLATION } from './installation.ts'
import { isLive, type Profile, readProfiles } from './profiles.ts'
import { paint } from './terminal.ts'

export const CONNECTION_OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  profile: { type: 'string' },
} as const

export const CONNECTION_USAGE = `--url is the address of the API, --key an API key; better OSTIARY_URL and OSTIARY_API_KEY, because other users of the
machine can see what a command line says. Without them: the profile (--profile, OSTIARY_PROFILE, or the one of "ostiary
login"), then the installation that this command line stands in ("npm run dev"), then http://127.0.0.1:8080.`

const DEFAULT_URL = 'http://127.0.0.1:8080'

/** Where the address or the key came from, for messages. */
export type Source = 'option' | 'environment' | 'installation' | 'default' | `profile ${string}`

export interface Connection {
  client: OstiaryClient
  url: string
  hasKey: boolean
  /** The key, for calls that the SDK does not make. Never printed. */
  apiKey: string | undefined
  isLive: boolean
  from: { url: Source; key: Source | null }
}

interface ConnectOptions {
  maxRetries?: number
  /** Warns where the key is a live one. */
  writes?: boolean
}

interface Found {
  url: string
  from: Source
  key?: string | undefined
}

/** These commands call a running API, as a customer's program would. The others use the database and files directly. */
export function connect(invocation: Invocation, { writes = false, ...options }: ConnectOptions = {}): Connection {
  const { url, key, from } = whereTo(invocation)
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('--url must begin with http:// or https://')
  }
  const { OSTIARY_CLIENT_ID: clientId, OSTIARY_CLIENT_SECRET: clientSecret } = invocation.env
  const credentials = clientId && clientSecret ? { clientId, clientSecret } : {}
  try {
    const client = createClient({ baseUrl: url, ...options, ...credentials, ...(key !== undefined && { apiKey: key }) })
    if (writes && key !== undefined && isLive(key)) warnOfLive(invocation, url)
    return { client, url, hasKey: key !== undefined, apiKey: key, isLive: key !== undefined && isLive(key), from }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The address and the key, each from the first place that has one. */
export function whereTo(invocation: Invocation): { url: string; key: string | undefined; from: Connection['from'] } {
  const { env } = invocation
  const [urlOption, keyOption] = [text(invocation, 'url'), text(invocation, 'key')]
  const profile = profileOf(invocation)
  const stored = [...(profile ? [profile] : []), ...installationOf(invocation)]
  // A profile that the command line names wins over the environment; the one of "login" does not.
  const isNamed = text(invocation, 'profile') !== undefined
  const environment: Found[] =
    isNamed || !env.OSTIARY_URL ? [] : [{ url: env.OSTIARY_URL, from: 'environment', key: env.OSTIARY_API_KEY }]
  const options: Found[] = urlOption === undefined ? [] : [{ url: urlOption, from: 'option' }]
  const chosen = [...options, ...environment, ...stored][0] ?? { url: DEFAULT_URL, from: 'default' as const }
  const from = (source: Source | null) => ({ url: chosen.from, key: source })
  if (keyOption !== undefined) return { url: chosen.url, key: keyOption, from: from('option') }
  if (!isNamed && env.OSTIARY_API_KEY) {
    return { url: chosen.url, key: env.OSTIARY_API_KEY, from: from('environment') }
  }
  // A stored key goes to the service it was stored for, and to no other.
  const owner = stored.find((one) => one.key !== undefined && isSameService(one.url, chosen.url))
  return { url: chosen.url, key: owner?.key, from: from(owner?.from ?? null) }
}

function profileOf(invocation: Invocation): Found | undefined {
  const named = text(invocation, 'profile') ?? (invocation.env.OSTIARY_PROFILE || undefined)
  const { current, profiles } = readProfiles(invocation.env)
  const name = named ?? current
  if (name === null) return undefined
  const profile: Profile | undefined = profiles[name]
  if (profile) return { ...profile, from: `profile ${name}` }
  if (named === undefined) return undefined
  throw new UsageError(`There is no profile "${name}". Make it: ostiary login --profile ${name}`)
}

function installationOf({ env }: Invocation): Found[] {
  const url = env[INSTALLATION.url]
  return url ? [{ url, from: 'installation', key: env[INSTALLATION.key] }] : []
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The same scheme, host and port. The names of this machine count as one. */
function isSameService(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false
  const [a, b] = [new URL(one), new URL(other)]
  const hostOf = ({ hostname }: URL) => (LOOPBACK.has(hostname) ? 'this machine' : hostname)
  return a.protocol === b.protocol && a.port === b.port && hostOf(a) === hostOf(b)
}

function warnOfLive({ terminal, options }: Invocation, url: string): void {
  const message = `This is a live key: it changes real data at ${url}`
  terminal.err(options.json ? JSON.stringify({ warning: { message } }) : paint(terminal, 'yellow', message))
}

/** Requires a key: exceptions belong to the tenant of the key. */
export function connectWithKey(invocation: Invocation, options: ConnectOptions = {}): Connection {
  const connection = connect(invocation, options)
  if (!connection.hasKey) {
    throw new UsageError(`No key for ${connection.url}: run "ostiary login", set OSTIARY_API_KEY, or say --key`)
  }
  return connection
}

/** Runs a command at a service: it needs a key, and errors are reworded. */
export async function atService(
  invocation: Invocation,
  work: (connection: Connection) => Promise<number>,
  options: ConnectOptions = {},
): Promise<number> {
  const connection = connectWithKey(invocation, options)
  try {
    return await work(connection)
  } catch (error) {
    throw inWords(error, connection.url)
  }
}

/** An error of the service in our words, with what `--json` prints of it. */
export class ServiceError extends Error {
  readonly code: string
  readonly status: number
  readonly requestId: string | undefined

  constructor(message: string, { code, status, requestId }: OstiaryError) {
    super(message)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** Rewords an error of the service for a person at a terminal. */
export function inWords(error: unknown, url: string): unknown {
  if (!(error instanceof OstiaryError)) return error
  if (error.status === 0) {
    const reason = reasonOf(error.cause)
    const why = reason ? ` (${reason})` : ''
    const hint = 'Is the API running there? --url names another address'
    return new ServiceError(`${url} does not answer${why}. ${hint}`, error)
  }
  // With a single fault the message already contains the detail.
  const details = error.details.map(({ message }) => message).filter((message) => !error.message.includes(message))
  const more = details.length > 0 ? `: ${details.join('; ')}` : ''
  const request = error.requestId ? `, request ${error.requestId}` : ''
  return new ServiceError(`${error.message}${more} (${error.code}${request})`, error)
}

/** The operating system's reason for a failed connection; fetch hides it two causes down. */
function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const { code } = cause as { code?: unknown }
  if (typeof code === 'string') return code
  return reasonOf(cause.cause) ?? (cause.name === 'TimeoutError' ? 'no answer in time' : undefined)
}
