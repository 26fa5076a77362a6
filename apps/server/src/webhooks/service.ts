import {
  type DeliveryState,
  type ReplayedWebhooks,
  type ReplayWebhooksBody,
  WEBHOOK_LIMITS,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
  type WebhookDeliveryPage,
} from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { readIdCursor, writeCursor } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { bucketOf } from '../platform/ids.ts'
import { parseNetworks } from '../platform/outbound/address.ts'
import type { Platform } from '../platform/platform.ts'
import { countByMasterKey } from '../platform/reseal.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { type Callback, checkCallback, isInbox } from './callback.ts'
import { createMessageSealer } from './envelope.ts'
import {
  endpointIdOf,
  isDeliveryId,
  onceContext,
  packCall,
  sealContext,
  streamContext,
  type WebhookMessage,
} from './message.ts'
import { replayStore } from './replay-store.ts'
import { type NewDelivery, type StoredAttempt, type StoredDelivery, webhookStore } from './store.ts'
import { type NewStreamEvent, streamStore } from './stream-store.ts'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'ids' | 'vault'> {
  /** Networks that are not public but may be called. */
  allowNetworks: readonly string[]
  events: EventSettings
}

export interface EventSettings {
  /** The callback of test keys that delivers to the event stream only. */
  inboxUrl: string
  /** Whether live events are in the stream too. */
  live: boolean
}

type Outgoing = WebhookMessage & { id: string; url: string }

export interface DeliveryQuery {
  limit?: number
  cursor?: string
  state?: DeliveryState
  sessionId?: string
  since?: string
}

/** What other rooms and the host do with webhooks: enqueue, list, replay, erase. The dispatcher sends them. */
export function createWebhookService({ cells, clock, ids, vault, allowNetworks, events }: Deps) {
  const { inboxUrl } = events
  const networks = parseNetworks(allowNetworks)
  const seal = createMessageSealer({ vault, clock, ids })

  async function prepare(message: Outgoing): Promise<NewDelivery> {
    const { id, tenantId, livemode, keyId, area, event, subjectId, sequence, now, purgeAt } = message
    const { origin } = new URL(message.url)
    const endpointId = endpointIdOf(tenantId, livemode, origin)
    const sealed = await seal(packCall(message), sealContext(tenantId, id))
    const once = message.onceBody && (await seal(message.onceBody, onceContext(tenantId, id)))
    const row = { tenantId, livemode, id, keyId, area, event, subjectId, sequence, origin, endpointId, sealed, now }
    return { ...row, once, purgeAt }
  }

  /** Never with `onceBody`: pictures stay out of the stream, which can be read more than once. */
  async function prepareStreamed(message: WebhookMessage & { id: string }): Promise<NewStreamEvent> {
    const { id, tenantId, livemode, keyId, area, event, subjectId, sequence, purgeAt } = message
    const sealed = await seal(message.body, streamContext(tenantId, id))
    return { id, tenantId, livemode, keyId, area, event, subjectId, sequence, sealed, purgeAt }
  }

  const isStreamed = (livemode: boolean) => !livemode || events.live

  /** Whether a message is for a receiver of the host, and not for the stream alone. */
  const goesOut = (message: WebhookMessage & { id: string }): message is Outgoing =>
    message.url !== null && (message.livemode || !isInbox(message.url, inboxUrl))

  /** Restarts the schedule of a delivery, whatever its state. The next `failNext` attempts count as failed without being sent. */
  async function restart(caller: TenantData, id: string, failNext: number): Promise<WebhookDelivery> {
    const db = cells.forId(caller.tenantId)
    const now = clock.now()
    const found = isDeliveryId(id, now) ? await replayStore.replay(db, caller, id, { now, failNext }) : 0
    const delivery = found > 0 ? await webhookStore.find(db, caller, id, now) : undefined
    if (!delivery) throw unknownDelivery()
    return toRecord(delivery, caller.livemode)
  }

  return {
    /** Throws when a callback could never be called. Called when a session is created. */
    checkCallback: (callback: Callback & { livemode: boolean }): void => checkCallback(callback, networks, inboxUrl),

    /**
     * Writes messages to the outbox in the caller's transaction: they exist if the state change is committed, and only then. Their URLs
     * have passed `checkCallback`. Messages that the event stream shows are written there too: those of test sessions, and of live ones
     * where the operator allows it. Returns the ids, in the order of the messages.
     */
    async enqueue(tx: Queryable, messages: readonly WebhookMessage[]): Promise<string[]> {
      const named = messages.map((message) => ({ ...message, id: ids.next(bucketOf(message.tenantId)) }))
      const outgoing = await Promise.all(named.filter(goesOut).map(prepare))
      const streamed = await Promise.all(
        named.filter(({ livemode }) => isStreamed(livemode)).map((one) => prepareStreamed(one)),
      )
      await Promise.all([
        outgoing.length > 0 && webhookStore.insert(tx, outgoing),
        streamed.length > 0 && streamStore.insert(tx, streamed),
      ])
      return named.map(({ id }) => id)
    },

    /** Removes everything about a session in the caller's transaction: messages, queue rows, log, events of the stream. Returns how many messages. */
    async erase(tx: Queryable, owner: TenantData, subjectId: string): Promise<number> {
      await streamStore.erase(tx, owner, subjectId)
      return webhookStore.erase(tx, owner, subjectId)
    },

    async list(caller: Caller, query: DeliveryQuery): Promise<WebhookDeliveryPage> {
      if (query.sessionId !== undefined && !UUID.test(query.sessionId)) return { items: [], count: 0, nextCursor: null }
      const now = clock.now()
      const { rows, last } = await webhookStore.list(cells.forId(caller.tenantId), caller, {
        state: query.state,
        subjectId: query.sessionId,
        since: query.since === undefined ? undefined : readTime('/query/since', query.since),
        beforeId: query.cursor === undefined ? undefined : readIdCursor(query.cursor, (id) => isDeliveryId(id, now)),
        limit: query.limit ?? WEBHOOK_LIMITS.pageDefault,
        now,
      })
      const items = rows.map((row) => toRecord(row, caller.livemode))
      return { items, count: items.length, nextCursor: last === undefined ? null : writeCursor(last) }
    },

    async get(caller: Caller, id: string): Promise<WebhookDeliveryDetails> {
      const db = cells.forId(caller.tenantId)
      const now = clock.now()
      const found = isDeliveryId(id, now) ? await webhookStore.find(db, caller, id, now) : undefined
      if (!found) throw unknownDelivery()
      const attempts = await webhookStore.attempts(db, caller.tenantId, id)
      return { ...toRecord(found, caller.livemode), attemptLog: attempts.map(toAttempt) }
    },

    replay: (caller: Caller, id: string): Promise<WebhookDelivery> => restart(caller, id, 0),

    async replaySince(caller: Caller, body: ReplayWebhooksBody): Promise<ReplayedWebhooks> {
      const { started, looked, last } = await replayStore.replaySince(cells.forId(caller.tenantId), caller, {
        state: body.state === 'all' ? 'settled' : (body.state ?? 'dead'),
        since: readTime('/body/since', body.since),
        now: clock.now(),
      })
      return { count: started, continueFrom: looked === WEBHOOK_LIMITS.replayMax && last ? last.toISOString() : null }
    },

    /** Sandbox: the delivery starts again, and its next attempts count as failed without being sent. */
    async failNext(caller: Caller, id: string, times: number): Promise<WebhookDelivery> {
      if (caller.livemode) {
        throw new AppError('forbidden', 'SCOPE_DENIED', 'Only a test key can make a delivery fail')
      }
      return restart(caller, id, times)
    },

    /** Sandbox: moves the times of a tenant's test data into the past, as if time had passed. */
    async shiftTestTime(db: Queryable, tenantId: string, ms: number): Promise<void> {
      await webhookStore.shift(db, tenantId, ms)
      await streamStore.shift(db, tenantId, ms)
    },

    /** How many messages each master key has sealed: an operator must not remove a key that is still needed. */
    countByMasterKey: () =>
      countByMasterKey(cells, async (db) => [
        ...(await webhookStore.countByMasterKey(db)),
        ...(await streamStore.countByMasterKey(db)),
      ]),
  }
}
export type WebhookService = ReturnType<typeof createWebhookService>

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function toRecord(stored: StoredDelivery, livemode: boolean): WebhookDelivery {
  const isPending = stored.isQueued && stored.deadAt === null
  return {
    id: stored.id,
    event: stored.event,
    sessionId: stored.subjectId,
    sequence: stored.sequence,
    origin: stored.origin,
    state: isPending ? 'pending' : stored.isQueued ? 'dead' : 'delivered',
    attempts: stored.attempts,
    createdAt: stored.createdAt.toISOString(),
    ...(isPending && stored.nextAttemptAt && { nextAttemptAt: stored.nextAttemptAt.toISOString() }),
    ...(stored.deliveredAt && { deliveredAt: stored.deliveredAt.toISOString() }),
    ...(stored.deadAt && { deadAt: stored.deadAt.toISOString() }),
    ...(stored.deadReason && { deadReason: stored.deadReason }),
    deletedAt: stored.purgeAt.toISOString(),
    livemode,
  }
}

function toAttempt(stored: StoredAttempt): WebhookAttempt {
  return {
    attempt: stored.attempt,
    startedAt: stored.startedAt.toISOString(),
    durationMs: stored.durationMs,
    outcome: stored.outcome,
    ...(stored.status !== null && { status: stored.status }),
    ...(stored.nextAttemptAt && { nextAttemptAt: stored.nextAttemptAt.toISOString() }),
  }
}

/** The schema checks the format. A leap second passes it, but `Date` cannot represent one. */
function readTime(pointer: string, text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw invalid(pointer, 'is not a time of the clock')
  return time
}

function unknownDelivery(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no webhook delivery with this id')
}
