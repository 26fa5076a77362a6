import { FLOW_STATUSES } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import type { KeysRoom } from '../keys/index.ts'
import { createLabelledCounter } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { SettingsRoom } from '../settings/index.ts'
import type { WebhooksRoom } from '../webhooks/index.ts'
import { createEnding } from './ending.ts'
import { createAgeFlow } from './flow.ts'
import { ageRoutes } from './routes.ts'
import { createAgeService } from './service.ts'

interface Deps {
  keys: KeysRoom
  settings: SettingsRoom
  sessions: SessionsRoom
  webhooks: WebhooksRoom
  launchUrl: string
}

/** Area C. */
export function createAgeRoom(platform: Platform, { keys, settings, sessions, webhooks, launchUrl }: Deps) {
  const shared = { ...platform, sessions: sessions.service, webhooks: webhooks.service }
  const ended = createLabelledCounter('ostiary_sessions_ended_total', 'Age sessions that ended, by how', {
    label: 'flow',
    values: FLOW_STATUSES,
  })
  const ending = createEnding({ ...shared, metrics: platform.metrics.add(ended) })
  const service = createAgeService({ ...shared, settings: settings.service, ending, launchUrl })
  const sweepers = sessions.createSweepers(ending.expireDue)
  return {
    service,
    ending,
    flow: createAgeFlow({ ...shared, ending }),
    async routes(app: FastifyInstance) {
      app.register(ageRoutes, { ...platform, age: service, tokens: settings.tokens, guard: keys.guard })
    },
    start: sweepers.start,
    stop: sweepers.stop,
    close: sweepers.stop,
  } satisfies Room & Record<string, unknown>
}
export type AgeRoom = ReturnType<typeof createAgeRoom>
