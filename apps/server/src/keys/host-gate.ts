import { NODE_PREFIX } from '@ostiary/contract'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import type { HostMap } from './host-map.ts'
import { hostNameOf } from './host-name.ts'

const boundTenants = createRequestSlot<string>('tenant of the host name')

/** The tenant whose host name was called; undefined at a name that serves everybody. */
export const boundTenantOf = boundTenants.get

/**
 * Runs before everything else: at a host name that belongs to a tenant there is nothing but area E. `request.host` is the Host header, or
 * X-Forwarded-Host from a peer that TRUST_PROXY names.
 */
export function createHostGate(hosts: HostMap) {
  return (request: FastifyRequest): AppError | undefined => {
    if (hosts.isEmpty()) return undefined
    const tenantId = hosts.tenantOf(hostNameOf(request.host))
    if (tenantId === undefined) return undefined
    boundTenants.set(request, tenantId)
    return isOfNode(request.url) ? undefined : new AppError('not_found', 'NOT_FOUND', 'There is nothing at this path')
  }
}

function isOfNode(url: string): boolean {
  return (
    url.startsWith(NODE_PREFIX) && (url.length === NODE_PREFIX.length || '/?'.includes(url[NODE_PREFIX.length] ?? ''))
  )
}
