import { EVENTS_INBOX_PATH } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import type { KeysRoom } from '../keys/index.ts'
import type { Cell } from '../platform/cells.ts'
import { createPooledOutbound } from '../platform/outbound/pooled.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createDispatcher } from './dispatcher.ts'
import { arrangeWebhookPartitions, webhookJobs } from './jobs.ts'
import { createWebhookMetrics, watchWebhookQueue } from './metrics.ts'
import { webhookKeyRoutes, webhookRoutes } from './routes.ts'
import { createWebhookService } from './service.ts'
import { createEventStream } from './stream.ts'
import { eventRoutes } from './stream-routes.ts'
import { createStreamSlots } from './stream-slots.ts'
import { createWebhookKeys } from './webhook-keys.ts'

interface Deps {
  keys: KeysRoom
  publicUrl: string
  events: { live: boolean }
}

/** The outbox: messages that other rooms enqueue in their own transactions, and their delivery. */
export function createWebhooksRoom(platform: Platform, { keys, publicUrl, events }: Deps) {
  const { clock, log, allowNetworks } = platform
  const inboxUrl = `${publicUrl}${EVENTS_INBOX_PATH}`
  const service = createWebhookService({ ...platform, events: { ...events, inboxUrl } })
  const metrics = createWebhookMetrics(platform.metrics)
  const outbound = createPooledOutbound({ allowNetworks })
  const webhookKeys = createWebhookKeys(platform)
  const stream = createEventStream({ ...platform, keys: keys.service, webhookKeys })
  const slots = createStreamSlots()
  const dispatcher = createDispatcher({ ...platform, keys: keys.service, webhookKeys, outbound, metrics })
  return {
    service,
    /** Key pairs of tenants, for the command line. */
    webhookKeys,
    dispatcher,
    async routes(app: FastifyInstance) {
      app.register(webhookRoutes, { webhooks: service, guard: keys.guard })
      const access = { guard: keys.guard, keys: keys.service, credentials: keys.clientGate, allowLive: events.live }
      app.register(eventRoutes, { stream, slots, clock, ...access })
    },
    /** Not under `/v1`: well-known paths start at the root. */
    async keyRoutes(app: FastifyInstance) {
      app.register(webhookKeyRoutes, { webhookKeys, guard: keys.guard })
    },
    jobs: webhookJobs({ log, metrics }),
    retention: RETENTION,
    /** Before the first message of the day needs its partition. */
    prepare: ({ db }: Cell) => arrangeWebhookPartitions(db, clock.now(), log),
    start() {
      watchWebhookQueue(platform)
      webhookKeys.start()
      dispatcher.start()
    },
    stop: (timeoutMs: number) => dispatcher.stop(timeoutMs),
    async close() {
      await dispatcher.stop(0)
      webhookKeys.stop()
      await outbound.close()
    },
  } satisfies Room & Record<string, unknown>
}
export type WebhooksRoom = ReturnType<typeof createWebhooksRoom>

const WITH_THE_RESULT = { after: "with the session's result", by: 'purge-webhooks' }

const RETENTION = [
  {
    table: 'webhook_deliveries',
    key: 'tenant_id, delivery_id, created_at',
    partitions: 'a partition per day',
    growsWith: 'ended sessions with a callback',
    ...WITH_THE_RESULT,
  },
  {
    table: 'webhook_attempts',
    key: 'tenant_id, delivery_id, attempt, created_at',
    partitions: 'a partition per day',
    growsWith: 'attempts to deliver',
    ...WITH_THE_RESULT,
  },
  {
    table: 'webhook_queue',
    key: 'tenant_id, delivery_id',
    growsWith: 'messages that are not delivered',
    after: "until delivered, or with the session's result",
    by: 'purge-webhooks',
  },
  {
    table: 'stream_events',
    key: 'tenant_id, event_id',
    growsWith: 'ended sessions of test keys; of live keys too with `EVENTS_LIVE`',
    ...WITH_THE_RESULT,
  },
  {
    table: 'stream_positions',
    key: 'tenant_id, livemode',
    growsWith: 'customers that read the event stream',
    after: 'a count, with no personal data',
    by: null,
  },
  {
    table: 'webhook_endpoints',
    key: 'endpoint_id',
    growsWith: 'receivers that fail',
    after: 'until they answer',
    by: 'purge-webhooks',
  },
  {
    table: 'webhook_keys',
    key: 'tenant_id, livemode, kid',
    growsWith: 'customers',
    after: 'private half until it ends; the rest stays as a record',
    by: 'purge-webhooks',
  },
]
