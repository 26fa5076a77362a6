import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { Outbound } from '../platform/outbound/index.ts'

/** How long an issuer's keys are used without fetching them again. A withdrawn key is refused within this time. */
export const KEYS_FRESH_MS = 10 * 60_000
/** How long they are used while the issuer cannot be reached. */
export const KEYS_STALE_MS = 24 * 3_600_000
/** The minimum time between two fetches from an issuer, whatever keys the tokens name. */
export const REFETCH_AFTER_MS = 30_000
/** The same while there are no keys at all, counted from the end of the failure. */
export const RETRY_AFTER_MS = 5_000
const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024
const MAX_KEYS = 100
const MAX_ISSUERS = 1_000

interface Entry {
  found: { keys: JWTVerifyGetKey; loadedMs: number } | undefined
  /** The result of the last fetch. */
  failed: boolean
  /** No new fetch before this time. */
  notBeforeMs: number
  /** The running fetch. Never rejects. */
  trying: Promise<void> | undefined
}

export interface KeySets {
  /** The keys at this address, at most ten minutes old; older ones, up to a day, while the issuer is away. 503 without. */
  get(jwksUri: string): Promise<JWTVerifyGetKey>
  /** For a token whose key is not among them: newer keys than these, or undefined when these are the newest. */
  findNewer(jwksUri: string, than: JWTVerifyGetKey): Promise<JWTVerifyGetKey | undefined>
}

interface Deps {
  outbound: Outbound
  clock: Clock
  log: Log
}

/**
 * The public keys of identity providers. Tenants with the same address share them: the keys are public and the same for
 * every caller.
 */
export function createKeySets({ outbound, clock, log }: Deps): KeySets {
  const entries = new BoundedMap<string, Entry>(MAX_ISSUERS)

  /** The entry of an address, which becomes the newest: the least recently used one is deleted first. */
  function entryOf(jwksUri: string): Entry {
    const entry = entries.get(jwksUri) ?? { found: undefined, failed: false, notBeforeMs: 0, trying: undefined }
    entries.set(jwksUri, entry)
    if (entry.found && clock.monotonicMs() - entry.found.loadedMs > KEYS_STALE_MS) entry.found = undefined
    return entry
  }

  /** Fetches the keys unless they were fetched just now. Concurrent callers share one call. */
  function ask(jwksUri: string, entry: Entry): Promise<void> | undefined {
    if (entry.trying) return entry.trying
    const startedMs = clock.monotonicMs()
    if (startedMs < entry.notBeforeMs) return undefined
    entry.notBeforeMs = startedMs + REFETCH_AFTER_MS
    entry.trying = fetchKeys(outbound, jwksUri)
      .then(
        (keys) => {
          entry.found = { keys, loadedMs: startedMs }
          entry.failed = false
        },
        (err: unknown) => {
          entry.failed = true
          if (!entry.found) entry.notBeforeMs = clock.monotonicMs() + RETRY_AFTER_MS
          log.warn({ err, host: new URL(jwksUri).host }, 'the keys of an identity provider could not be fetched')
        },
      )
      .finally(() => {
        entry.trying = undefined
      })
    return entry.trying
  }

  return {
    async get(jwksUri) {
      const entry = entryOf(jwksUri)
      const { found } = entry
      if (found && clock.monotonicMs() - found.loadedMs <= KEYS_FRESH_MS) return found.keys
      const asked = ask(jwksUri, entry)
      // An issuer that failed last time may hang this time. Callers with cached keys do not wait for it.
      if (found && entry.failed) return found.keys
      await asked
      if (!entry.found) throw outOfReach()
      return entry.found.keys
    },

    async findNewer(jwksUri, than) {
      const entry = entryOf(jwksUri)
      if (entry.found?.keys === than) await ask(jwksUri, entry)
      const newer = entry.found?.keys
      if (newer && newer !== than) return newer
      // The key may be newer than the cached ones, so the token cannot be checked.
      if (entry.failed) throw outOfReach()
      return undefined
    },
  }
}

async function fetchKeys(outbound: Outbound, url: string): Promise<JWTVerifyGetKey> {
  const headers = { accept: 'application/json' }
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
  const response = await outbound.request({ method: 'GET', url, headers, ...limits })
  if (response.status !== 200) {
    response.discard()
    throw new Error('The identity provider answered with a status other than 200')
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  return readKeySet(Buffer.concat(chunks).toString())
}

/** Parses a JWK Set (RFC 7517). Keys of other kinds stay in it and are skipped later: issuers publish them beside ours. */
export function readKeySet(text: string): JWTVerifyGetKey {
  const parsed: unknown = JSON.parse(text)
  const keys: unknown = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : undefined
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error('The answer is not a key set')
  return createLocalJWKSet({ keys })
}

function outOfReach(): AppError {
  return new AppError('unavailable', 'DEPENDENCY_DOWN', 'The identity provider is out of reach, try again')
}
