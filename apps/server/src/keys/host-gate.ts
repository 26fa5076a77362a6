import { NODE_PREFIX } from '@ostiary/contract'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import { type HostMap, NOBODY } from './host-map.ts'
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
    const { names, path } = targetOf(request)
    const bound = new Set(names.flatMap((name) => hosts.tenantOf(hostNameOf(name)) ?? []))
    const [tenantId] = bound
    if (tenantId === undefined) return undefined
    boundTenants.set(request, bound.size === 1 ? tenantId : NOBODY)
    return isOfNode(path) ? undefined : new AppError('not_found', 'NOT_FOUND', 'There is nothing at this path')
  }
}

/** A request may name its host a second time, in its first line (`GET http://host/path`). Then both count. */
function targetOf({ url, host }: FastifyRequest): { names: string[]; path: string } {
  const whole = url.startsWith('/') ? null : /^https?:\/\/([^/?#]*)(.*)$/is.exec(url)
  return whole ? { names: [host, whole[1] ?? ''], path: whole[2] ?? '' } : { names: [host], path: url }
}

function isOfNode(url: string): boolean {
  return (
    url.startsWith(NODE_PREFIX) && (url.length === NODE_PREFIX.length || '/?'.includes(url[NODE_PREFIX.length] ?? ''))
  )
}
