import type { FastifyInstance } from 'fastify'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createAccessTokens } from './access-token.ts'
import { createKeyCache } from './cache.ts'
import { type ClientPolicy, createClientGate } from './client-gate.ts'
import { createClientCache, createClientService, purgeUsedAssertions } from './clients.ts'
import { createGuard } from './guard.ts'
import { createHostGate } from './host-gate.ts'
import { createHostMap } from './host-map.ts'
import { createHosts } from './hosts.ts'
import { oauthRoutes, renderOAuthError } from './oauth-routes.ts'
import { createKeyService } from './service.ts'
import { createSigningKeyCache } from './signing-keys.ts'

interface Deps {
  publicUrl: string
  launch: { url: string }
  masterKeys: readonly Buffer[]
  authRequiredAreas: ReadonlySet<string>
  clientPolicyOf(tenantId: string): Promise<ClientPolicy>
}

/** Tenants, API keys and the guard before every route; clients and access tokens of area D. */
export function createKeysRoom(platform: Platform, deps: Deps) {
  const { cells, clock, log } = platform
  const { publicUrl, masterKeys, authRequiredAreas } = deps
  const cache = createKeyCache(cells, clock, log)
  const signingKeys = createSigningKeyCache(cells, clock, log)
  const service = createKeyService({ ...platform, cache, signingKeys })
  const guard = createGuard({ ...platform, keys: service, authRequiredAreas })
  const hostMap = createHostMap({ cells, log })
  const clientCache = createClientCache(cells, clock, log)
  const audiences = [publicUrl, `${publicUrl}/oauth/token`]
  const clients = createClientService({ ...platform, cache: clientCache, audiences })
  const tokens = createAccessTokens({ ...platform, masterKeys, issuer: publicUrl })
  return {
    service,
    guard,
    hosts: createHosts({ cells, clock, ownUrls: [publicUrl, deps.launch.url] }),
    hostMap,
    hostGate: createHostGate(hostMap),
    clients,
    clientGate: createClientGate({ clients, tokens, policyOf: deps.clientPolicyOf }),
    async routes(app: FastifyInstance) {
      app.register(oauthRoutes, { clients, tokens, guard })
    },
    errorShapes: [{ under: '/oauth', render: renderOAuthError }],
    jobs: [
      {
        name: 'purge-used-assertions',
        cron: '*/5 * * * *',
        run: purgeUsedAssertions,
        due: { table: 'used_assertions', column: 'expires_at' },
      },
    ],
    retention: RETENTION,
    /** Keys and clients that are in use are refreshed in the background, so that a check does not wait for the database. */
    start() {
      cache.start()
      signingKeys.start()
      clientCache.start()
    },
    async close() {
      hostMap.stop()
      cache.stop()
      signingKeys.stop()
      clientCache.stop()
    },
  } satisfies Room & Record<string, unknown>
}
export type KeysRoom = ReturnType<typeof createKeysRoom>

const RETENTION = [
  { table: 'tenants', key: 'tenant_id', growsWith: 'customers', after: 'until removed', by: null },
  { table: 'tenant_hosts', key: 'host', growsWith: 'customers, at most 20 each', after: 'until removed', by: null },
  {
    table: 'api_keys',
    key: 'tenant_id, id',
    growsWith: 'customers',
    after: 'until removed; revoked keys stay as a record',
    by: null,
  },
  {
    table: 'api_clients',
    key: 'tenant_id, client_id',
    growsWith: 'customers',
    after: 'until removed; revoked ones stay as a record',
    by: null,
  },
  {
    table: 'used_assertions',
    key: 'tenant_id, assertion_hash',
    growsWith: 'calls for tokens by signed assertion',
    after: 'minutes',
    by: 'purge-used-assertions',
  },
]
