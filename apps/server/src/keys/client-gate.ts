import type { FastifyRequest } from 'fastify'
import type { AccessTokens } from './access-token.ts'
import type { ClientFacts } from './client.ts'
import { type PresentedCredentials, readCredentials } from './client-credentials.ts'
import { type ClientService, missingCredentials } from './clients.ts'
import type { Caller } from './key.ts'

/** Which calls need client credentials: those of live keys, all, or none. */
export type ClientPolicy = 'live' | 'always' | 'never'

interface Deps {
  clients: ClientService
  tokens: AccessTokens
  policyOf(tenantId: string): Promise<ClientPolicy>
}

export interface ClientGate {
  /**
   * Checks the client credentials of a request whose API key is valid. Throws 401 when they are wrong, or when the tenant
   * requires them and the request has none. It also checks credentials that are not required.
   */
  check(request: FastifyRequest, caller: Caller): Promise<void>
}

export function createClientGate({ clients, tokens, policyOf }: Deps): ClientGate {
  async function clientOf(presented: PresentedCredentials, address: string): Promise<ClientFacts | undefined> {
    if (presented.kind === 'secret') return clients.withSecret(presented.clientId, presented.secret, address)
    if (presented.kind !== 'token') return undefined
    const holder = await tokens.verify(presented.token)
    const facts = holder && (await clients.find(holder.clientId, address))
    return facts && holder.tenantId === facts.tenantId && holder.livemode === facts.livemode ? facts : undefined
  }

  return {
    async check(request, caller) {
      const presented = readCredentials(request.headers, request.raw.rawHeaders)
      if (presented.kind === 'none') {
        if (!isNeeded(await policyOf(caller.tenantId), caller)) return
        throw missingCredentials()
      }
      const client = await clientOf(presented, request.ip)
      const isTheirs = client?.tenantId === caller.tenantId && client.livemode === caller.livemode
      if (!isTheirs) throw await clients.refusal(request.ip)
    },
  }
}

function isNeeded(policy: ClientPolicy, { livemode }: Caller): boolean {
  return policy === 'always' || (policy === 'live' && livemode)
}
