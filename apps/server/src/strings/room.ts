import type { FastifyInstance } from 'fastify'
import type { KeysRoom } from '../keys/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { serviceRoutes, stringRoutes } from './routes.ts'
import { createStringService, purgeExpiredStrings } from './service.ts'

/** Area A. */
export function createStringsRoom(platform: Platform, { keys: { guard } }: { keys: KeysRoom }) {
  const { version, serviceName: service, monitor, metrics } = platform
  const strings = createStringService(platform)
  return {
    service: strings,
    async routes(app: FastifyInstance) {
      app.register(serviceRoutes, { service, version, monitor, guard })
      app.register(stringRoutes, { strings, guard, metrics })
    },
    jobs: [
      {
        name: 'purge-expired-strings',
        cron: '*/5 * * * *',
        run: purgeExpiredStrings,
        due: { table: 'strings', column: 'expires_at' },
      },
    ],
    retention: [
      {
        table: 'strings',
        key: 'tenant_id, livemode, id',
        growsWith: 'creates of area A',
        after: 'until deleted or expired',
        by: 'purge-expired-strings',
      },
    ],
  } satisfies Room & Record<string, unknown>
}
