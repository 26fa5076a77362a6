import { type Queryable, sql } from '../platform/db.ts'
import type { Trouble } from './breaker.ts'
import type { Claim } from './queue-store.ts'

/** SQL of receivers that fail. */

export interface EndpointTrouble extends Trouble {
  endpointId: string
}

const NOTE_TROUBLE = sql(
  'webhooks.note_trouble',
  `insert into webhook_endpoints (endpoint_id, tenant_id, livemode, failures, opened_times, open_until, updated_at)
   select *, 0, 0, $4::timestamptz, $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::boolean[]) on conflict do nothing`,
)
const LOCK_TROUBLE = sql(
  'webhooks.lock_trouble',
  `select endpoint_id as "endpointId", failures, opened_times as "openedTimes", open_until as "openUntil"
   from webhook_endpoints where endpoint_id = any ($1) order by endpoint_id for update`,
)
const SAVE_TROUBLE = sql(
  'webhooks.save_trouble',
  `update webhook_endpoints e set failures = t.failures, opened_times = t.opened_times, open_until = t.open_until, updated_at = $5
   from unnest($1::uuid[], $2::int[], $3::int[], $4::timestamptz[]) as t (endpoint_id, failures, opened_times, open_until)
   where e.endpoint_id = t.endpoint_id`,
)
const HEAL = sql('webhooks.heal', 'delete from webhook_endpoints where endpoint_id = any ($1)')
const FORGET_TROUBLE = sql('webhooks.forget_trouble', 'delete from webhook_endpoints where updated_at < $1')

type Row<T> = T & { [column: string]: unknown }

export const troubleStore = {
  /** Locks the receivers whose state is about to change. Receivers without a state start with no failures. */
  async lockTrouble(db: Queryable, endpoints: ReadonlyMap<string, Claim>, now: Date): Promise<EndpointTrouble[]> {
    // Always in the same order, so that two workers that lock the same receivers cannot deadlock.
    const sorted = [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1))
    const ids = sorted.map(([id]) => id)
    const tenants = sorted.map(([, { tenantId }]) => tenantId)
    const modes = sorted.map(([, { livemode }]) => livemode)
    await db.run(NOTE_TROUBLE, [ids, tenants, modes, now])
    return db.rows<Row<EndpointTrouble>>(LOCK_TROUBLE, [ids])
  },
  async saveTrouble(db: Queryable, troubles: readonly EndpointTrouble[], now: Date): Promise<void> {
    if (troubles.length === 0) return
    await db.run(SAVE_TROUBLE, [
      troubles.map((one) => one.endpointId),
      troubles.map((one) => one.failures),
      troubles.map((one) => one.openedTimes),
      troubles.map((one) => one.openUntil.toISOString()),
      now,
    ])
  },
  async heal(db: Queryable, endpointIds: readonly string[]): Promise<void> {
    if (endpointIds.length > 0) await db.run(HEAL, [endpointIds])
  },
  /** Deletes the state of receivers to which nothing was sent for a long time. */
  forgetTrouble: (db: Queryable, before: Date): Promise<number> => db.run(FORGET_TROUBLE, [before]),
}
