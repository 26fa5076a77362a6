import { parseApiKey } from '@ostiary/crypto'
import { invalidOption, type OstiaryError } from './error.ts'
import type { ConfigWarning } from './warnings.ts'

export interface ClientOptions {
  /** Address of the service, such as `https://ostiary.example.com`. Checked when the client is created. */
  baseUrl: string
  /** Checked when the client is created, so that a truncated key is found before the first call. */
  apiKey?: string
  /** Area D: client credentials. The SDK fetches a token when it needs one and uses it until it expires. */
  clientId?: string
  /** Area D: the secret of `clientId`. */
  clientSecret?: string
  /** Area D, instead of `clientSecret`: the private key whose public half the operator has stored (`private_key_jwt`). */
  clientKey?: ClientKey
  /** With `clientKey`: the installation's own address (`PUBLIC_URL`), where `baseUrl` is another one. */
  clientAudience?: string
  /** Per attempt. Default 10 seconds. */
  timeoutMs?: number
  /** Further attempts after a lost connection, 408, 429, 500, 502, 503 or 504. Default 3. */
  maxRetries?: number
  /** A call that would have to wait longer for its next attempt fails at once. Default 20 seconds. */
  maxWaitMs?: number
  /** Called before each wait for a further attempt. */
  onRetry?: (event: RetryEvent) => void
  /** Called for each warning about what you asked for (`X-Config-Warning`). */
  onWarning?: (warning: ConfigWarning, operation: string) => void
  /** Where warnings and waits of more than a second are written. Default `console`; null: nowhere. */
  logger?: Logger | null
  /** Replaces the global `fetch`, for proxies and tests. */
  fetch?: typeof globalThis.fetch
}

/** A private key of P-256, Ed25519 or RSA: as a JWK, or as a key of WebCrypto that may sign. */
export type ClientKey =
  | {
      /** Kind of key. */
      readonly kty: string
      readonly [member: string]: unknown
    }
  | WebCryptoKey
/** Written so that it is known with the types of Node as well as with those of browsers. */
export type WebCryptoKey = (typeof CryptoKey)['prototype']

export interface RetryEvent {
  /** Such as `createSession`: the operation's name in the reference. */
  operation: string
  /** The attempt that has failed: 1 for the first. */
  attempt: number
  /** How long the SDK waits before the next attempt. */
  waitMs: number
  /** Why the attempt failed. */
  error: OstiaryError
}

export interface Logger {
  /** Writes one line. */
  warn(text: string): void
}

/** Options that every call has. */
export interface CallOptions {
  /** Stops the call and its retries; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Per attempt; replaces the client's time-out. */
  timeoutMs?: number | undefined
}

/** The base URL without slashes at its end. Throws when no call could reach the service by it. */
export function checkBaseUrl(baseUrl: string): string {
  const example = 'give the address of the service, such as https://ostiary.example.com'
  if (typeof baseUrl !== 'string' || baseUrl === '') throw invalidOption(`baseUrl is missing: ${example}`)
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  // `localhost:8080` is a URL too: one with the scheme `localhost:`.
  if (!url || !/^https?:\/\//i.test(baseUrl)) {
    throw invalidOption(`baseUrl must begin with https:// or http://: ${example}`)
  }
  if (url.username !== '' || url.password !== '') throw invalidOption('baseUrl must hold no user name or password')
  if (/[?#]/.test(baseUrl)) throw invalidOption('baseUrl must hold no query and no fragment')
  return baseUrl.replace(/\/+$/, '')
}

export function checkApiKey(apiKey: string | undefined): void {
  if (apiKey !== undefined && !parseApiKey(apiKey)) {
    throw invalidOption('This is not an Ostiary API key: was it copied completely?')
  }
}
