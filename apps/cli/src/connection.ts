import { createClient, type OstiaryClient, OstiaryError } from '@ostiary/sdk'
import { type Invocation, text, UsageError } from './command.ts'

export const CONNECTION_OPTIONS = { url: { type: 'string' }, key: { type: 'string' } } as const

export const CONNECTION_USAGE = `--url is the address of the API: OSTIARY_URL, or http://127.0.0.1:8080.
--key is an API key; better OSTIARY_API_KEY, because other users of the machine can see what a command line says.`

const DEFAULT_URL = 'http://127.0.0.1:8080'

export interface Connection {
  client: OstiaryClient
  url: string
  hasKey: boolean
}

/** These commands call a running API, as a customer's program would. The others use the database and files directly. */
export function connect(invocation: Invocation, options: { maxRetries?: number } = {}): Connection {
  const url = text(invocation, 'url') ?? (invocation.env.OSTIARY_URL || DEFAULT_URL)
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('--url must begin with http:// or https://')
  }
  const apiKey = text(invocation, 'key') ?? (invocation.env.OSTIARY_API_KEY || undefined)
  try {
    return {
      client: createClient({ baseUrl: url, ...options, ...(apiKey !== undefined && { apiKey }) }),
      url,
      hasKey: apiKey !== undefined,
    }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Requires a key: exceptions belong to the tenant of the key. */
export function connectWithKey(invocation: Invocation): Connection {
  const connection = connect(invocation)
  if (!connection.hasKey) throw new UsageError('Exceptions belong to a tenant: set OSTIARY_API_KEY, or say --key')
  return connection
}

/** Rewords an error of the service for a person at a terminal. */
export function inWords(error: unknown, url: string): unknown {
  if (!(error instanceof OstiaryError)) return error
  if (error.status === 0) {
    const reason = reasonOf(error.cause)
    const why = reason ? ` (${reason})` : ''
    return new Error(`${url} does not answer${why}. Is the API running there? --url names another address`)
  }
  // With a single fault the message already contains the detail.
  const details = error.details.map(({ message }) => message).filter((message) => !error.message.includes(message))
  const more = details.length > 0 ? `: ${details.join('; ')}` : ''
  return new Error(`${error.message}${more} (${error.code}${error.requestId ? `, request ${error.requestId}` : ''})`)
}

/** The operating system's reason for a failed connection; fetch hides it two causes down. */
function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const { code } = cause as { code?: unknown }
  if (typeof code === 'string') return code
  return reasonOf(cause.cause) ?? (cause.name === 'TimeoutError' ? 'no answer in time' : undefined)
}
