import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createPasskeys } from './service.ts'

/** WebAuthn ceremonies and the stored passkeys. */
export function createPasskeysRoom(platform: Platform, { launchUrl }: { launchUrl: string }) {
  return {
    service: createPasskeys({ ...platform, launchUrl }),
    retention: [
      {
        table: 'passkeys',
        key: 'tenant_id, livemode, person_id, credential_hash',
        growsWith: 'enrolled people, at most 20 each',
        after: 'until the person is deleted',
        by: null,
      },
    ],
  } satisfies Room & Record<string, unknown>
}
export type PasskeysRoom = ReturnType<typeof createPasskeysRoom>
