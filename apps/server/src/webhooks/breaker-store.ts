import { columns } from '../platform/columns.ts'
import { type Queryable, sql } from '../platform/db.ts'
import type { BreakerState } from './breaker.ts'
import type { Claim } from './queue-store.ts'

/** SQL of breakers: the state of receivers that fail. */

export interface EndpointBreaker extends BreakerState {
  endpointId: string
}

const INSERT_STATES = sql(
  'webhooks.insert_breakers',
  `insert into webhook_endpoints (endpoint_id, tenant_id, livemode, failures, opened_times, open_until, updated_at)
   select *, 0, 0, $4::timestamptz, $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::boolean[]) on conflict do nothing`,
)
const LOCK_STATES = sql(
  'webhooks.lock_breakers',
  `select endpoint_id as "endpointId", failures, opened_times as "openedTimes", open_until as "openUntil"
   from webhook_endpoints where endpoint_id = any ($1) order by endpoint_id for update`,
)
const SAVE_STATES = sql(
  'webhooks.save_breakers',
  `update webhook_endpoints e set failures = t.failures, opened_times = t.opened_times, open_until = t.open_until, updated_at = $5
   from unnest($1::uuid[], $2::int[], $3::int[], $4::timestamptz[]) as t (endpoint_id, failures, opened_times, open_until)
   where e.endpoint_id = t.endpoint_id`,
)
const DELETE_STATES = sql('webhooks.close_breakers', 'delete from webhook_endpoints where endpoint_id = any ($1)')
const DELETE_STALE = sql('webhooks.purge_breakers', 'delete from webhook_endpoints where updated_at < $1')

export const breakerStore = {
  /** Locks the receivers whose state is about to change. Receivers without a state start with no failures. */
  async lockStates(db: Queryable, endpoints: ReadonlyMap<string, Claim>, now: Date): Promise<EndpointBreaker[]> {
    // Always in the same order, so that two workers that lock the same receivers cannot deadlock.
    const sorted = [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1))
    const ids = sorted.map(([id]) => id)
    const tenants = sorted.map(([, { tenantId }]) => tenantId)
    const modes = sorted.map(([, { livemode }]) => livemode)
    await db.run(INSERT_STATES, [ids, tenants, modes, now])
    return db.rows<EndpointBreaker>(LOCK_STATES, [ids])
  },
  async saveStates(db: Queryable, states: readonly EndpointBreaker[], now: Date): Promise<void> {
    if (states.length === 0) return
    await db.run(SAVE_STATES, [
      ...columns(states, 'endpointId', 'failures', 'openedTimes'),
      states.map((one) => one.openUntil.toISOString()),
      now,
    ])
  },
  async deleteStates(db: Queryable, endpointIds: readonly string[]): Promise<void> {
    if (endpointIds.length > 0) await db.run(DELETE_STATES, [endpointIds])
  },
  /** Deletes the state of receivers to which nothing was sent for a long time. */
  deleteStale: (db: Queryable, before: Date): Promise<number> => db.run(DELETE_STALE, [before]),
}
