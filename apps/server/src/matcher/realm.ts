import { createHash } from 'node:crypto'
import type { TenantData } from '../platform/tenant-data.ts'

/** The same for all sessions of a tenant and mode, and for no other. A hash instead of the tenant's id, which pages and the key holder need not know. */
export function realmOf({ tenantId, livemode }: TenantData): string {
  return createHash('sha256').update(`ostiary/realm/${tenantId}/${livemode}`).digest('base64url').slice(0, 22)
}
