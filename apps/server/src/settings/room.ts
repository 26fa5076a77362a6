import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createTokenVerifier } from './jwt.ts'
import { createSettings } from './service.ts'

/** What a tenant has set, and the identity providers whose tokens it takes. */
export function createSettingsRoom(platform: Platform) {
  const service = createSettings({ ...platform, checkUrl: platform.outbound.check })
  return {
    service,
    tokens: createTokenVerifier({ ...platform, settings: service }),
    /** Which of a tenant's calls need client credentials. */
    clientPolicyOf: async (tenantId: string) => (await service.get(tenantId)).clientCredentials,
    retention: [
      {
        table: 'tenant_settings',
        key: 'tenant_id',
        growsWith: 'customers',
        after: 'until the tenant is removed',
        by: null,
      },
    ],
  } satisfies Room & Record<string, unknown>
}
export type SettingsRoom = ReturnType<typeof createSettingsRoom>
