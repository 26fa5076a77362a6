import { type ApiClientRecord, OAUTH_LIMITS } from '@ostiary/contract'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError, invalid } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networksOf } from '../platform/networks.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { checkAssertion, clientIdIn } from './assertion.ts'
import { createFactsCache, type FactsCache } from './cache.ts'
import {
  bucketOfClient,
  CLIENT_ID_BYTES,
  CLIENT_SECRET_BYTES,
  type ClientFacts,
  checkNewClient,
  formatClientId,
  formatClientSecret,
  hashSecret,
  hasSecret,
  isUsable,
  type NewClient,
} from './client.ts'
import { readClientKey, thumbprintOf } from './client-keys.ts'
import { type ClientRow, clientStore } from './client-store.ts'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'ids'> {
  cache: FactsCache<ClientFacts>
  failureLimits: FailureLimits
  metrics: Metrics
  /** The names that an assertion may be addressed to. */
  audiences: readonly string[]
}

/** The clients of tenants. The operator creates them; calls to area D and the token endpoint check them. */
export function createClientService({ cells, clock, ids, cache, failureLimits, metrics, audiences }: Deps) {
  const guessOf = (address: string) => ({ limit: 'client-credentials', against: networksOf(address) }) as const

  /** Runs only for clients that this process has not found before. */
  function refuseGuessing(address: string): void {
    const retryAfterSeconds = failureLimits.wait(guessOf(address))
    if (retryAfterSeconds > 0) throw tooMany(retryAfterSeconds)
  }

  function tooMany(retryAfterSeconds: number): AppError {
    metrics.keyChecks.count('refused')
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many wrong client credentials', { retryAfterSeconds })
  }

  /** The answer to wrong credentials, the same for every reason. Each one counts as a guess. */
  async function refusal(address: string): Promise<AppError> {
    const retryAfterSeconds = await failureLimits.count(guessOf(address))
    if (retryAfterSeconds > 0) return tooMany(retryAfterSeconds)
    metrics.keyChecks.count('rejected')
    return invalidCredentials()
  }

  /** A client that may be used, or undefined. */
  async function find(clientId: string, address: string): Promise<ClientFacts | undefined> {
    const bucket = bucketOfClient(clientId)
    if (bucket === undefined) return undefined
    const known = cache.peek(clientId)
    if (!known && !cache.wasFound(clientId)) refuseGuessing(address)
    const facts = known ? known.facts : await cache.load(clientId, bucket)
    return facts && isUsable(facts) ? facts : undefined
  }

  return {
    find,
    refusal,

    /** The client with this secret. Throws 401 when no client has it. */
    async withSecret(clientId: string, secret: string, address: string): Promise<ClientFacts> {
      const facts = await find(clientId, address)
      if (!facts || !hasSecret(facts, secret)) throw await refusal(address)
      return facts
    },

    /** The client that signed this assertion, which cannot be used again. Throws 401 when no client signed it. */
    async withAssertion(assertion: string, address: string): Promise<ClientFacts> {
      const facts = await find(clientIdIn(assertion) ?? '', address)
      if (!facts) throw await refusal(address)
      const { clientId, tenantId, publicKeys } = facts
      const use = await checkAssertion(assertion, { clientId, keys: publicKeys, audiences, now: clock.now() })
      const isFirst = use && (await clientStore.useAssertion(cells.forId(tenantId), tenantId, use))
      if (!isFirst) throw await refusal(address)
      return facts
    },

    async create(tenantId: string, wanted: NewClient): Promise<ApiClientRecord> {
      checkNewClient(wanted)
      const publicKeys = wanted.publicKeys.map(readClientKey)
      if (!isId(tenantId)) throw unknownTenant()
      const { livemode, name } = wanted
      const clientId = formatClientId(livemode, bucketOf(tenantId), ids.randomBytes(CLIENT_ID_BYTES))
      const secret =
        publicKeys.length > 0 ? undefined : formatClientSecret(livemode, ids.randomBytes(CLIENT_SECRET_BYTES))
      const secretHash = secret === undefined ? null : hashSecret(secret)
      const status = 'active' as const
      const row = { tenantId, clientId, livemode, name, secretHash, publicKeys, status, createdAt: clock.now() }
      await cells.forId(tenantId).transaction(async (tx) => {
        if (!(await clientStore.lockTenant(tx, tenantId))) throw unknownTenant()
        if ((await clientStore.countActive(tx, tenantId)) >= OAUTH_LIMITS.clientsPerTenant) throw full()
        await clientStore.insert(tx, row)
      })
      return toRecord(row, secret)
    },

    async list(tenantId: string): Promise<ApiClientRecord[]> {
      const rows = isId(tenantId) ? await clientStore.list(cells.forId(tenantId), tenantId) : []
      return rows.map((row) => toRecord(row))
    },

    /** Also ends the client's tokens. Revoking again changes nothing. */
    async revoke(clientId: string): Promise<ApiClientRecord> {
      const bucket = bucketOfClient(clientId)
      const row = bucket === undefined ? undefined : await clientStore.revoke(cells.forBucket(bucket), clientId)
      if (!row) throw new AppError('not_found', 'NOT_FOUND', 'There is no such client')
      return toRecord(row)
    },
  }
}
export type ClientService = ReturnType<typeof createClientService>

export function createClientCache(cells: Cells, clock: Clock, log: Log): FactsCache<ClientFacts> {
  return createFactsCache<ClientFacts>({
    cells,
    clock,
    log,
    async find(db, clientIds) {
      return new Map((await clientStore.findFacts(db, clientIds)).map((facts) => [facts.clientId, facts]))
    },
  })
}

export const purgeUsedAssertions = purging(clientStore.purgeAssertions, 1_000)

function toRecord(row: ClientRow, secret?: string): ApiClientRecord {
  return {
    client_id: row.clientId,
    ...(secret !== undefined && { client_secret: secret }),
    tenant_id: row.tenantId,
    livemode: row.livemode,
    name: row.name,
    keys: row.publicKeys.map(thumbprintOf),
    status: row.status,
    when_created: row.createdAt.toISOString(),
  }
}

function invalidCredentials(): AppError {
  return new AppError('unauthenticated', 'INVALID_CLIENT_CREDENTIALS', 'Invalid client credentials')
}

/**
 * For a request that has none although the tenant needs them. Test keys need none, so this is often the first answer to a live key. It
 * reveals nothing about any client, and does not count as a guess.
 */
export function missingCredentials(): AppError {
  return new AppError('unauthenticated', 'INVALID_CLIENT_CREDENTIALS', MISSING_CREDENTIALS)
}

const MISSING_CREDENTIALS =
  'Client credentials are missing: send client id and secret, or a token of POST /oauth/token, beside the API key. ' +
  '`ostiary clients create` makes them (docs/api/oauth.md)'

function unknownTenant(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such tenant')
}

function full(): AppError {
  return invalid('/tenant_id', `has ${OAUTH_LIMITS.clientsPerTenant} clients, which is the most: revoke one first`)
}
