import { WEBHOOK_LIMITS } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { firstIdOf } from './message.ts'
import { ITS_LOG, itsMessage, MINE, MINE_IN, type Mode, modeOf, STATE_OF_QUEUE_ROW, WHERE_SETTLED } from './store.ts'

/** SQL of replays. */

// A replay restarts the schedule. Attempt numbers continue after the last one in the log. Messages are locked, so that none is
// removed at the same time: a queue row without a message could never be sent.
const PUT_BACK = `insert into webhook_queue (tenant_id, delivery_id, created_at, livemode, endpoint_id, next_attempt_at, attempts, fail_next)
  select d.tenant_id, d.delivery_id, d.created_at, d.livemode, d.endpoint_id, $3, coalesce(l.attempts, 0), `
const START_AGAIN =
  'next_attempt_at = excluded.next_attempt_at, tries = 0, restarts = webhook_queue.restarts + 1, fail_next = excluded.fail_next, dead_at = null, dead_reason = null'
const REPLAY = sql(
  'webhooks.replay',
  `${PUT_BACK} $6 from webhook_deliveries d ${ITS_LOG}
   where ${MINE} and d.delivery_id = $4 and d.created_at = $5 for key share of d
   on conflict (tenant_id, delivery_id) do update set ${START_AGAIN}`,
)

/**
 * Checks so many deliveries, oldest first, from id $4 on, and restarts those in the wanted state. The place to continue follows from the
 * deliveries that were checked, not from those that were restarted: these may be few among many, and one may be removed at the same
 * time. Deliveries that became pending in the meantime are not changed.
 */
function replayStatement(state: 'dead' | 'delivered' | 'settled', mode: Mode) {
  const range = (alias: string) => `${alias}.delivery_id >= $4 and ${alias}.created_at >= $5`
  const oldest = `order by delivery_id limit ${WEBHOOK_LIMITS.replayMax}`
  const looked =
    state === 'dead'
      ? `select q.tenant_id, q.delivery_id, q.created_at from webhook_queue q
         where q.tenant_id = $1 and q.livemode = $2 and ${STATE_OF_QUEUE_ROW.dead} and ${range('q')} ${oldest}`
      : `select d.tenant_id, d.delivery_id, d.created_at from webhook_deliveries d where ${MINE_IN[mode]} and ${range('d')} ${oldest}`
  return sql(
    `webhooks.replay_${state}_${mode}`,
    `with looked as materialized (${looked}), chosen as materialized (
       select d.tenant_id, d.delivery_id, d.created_at, d.livemode, d.endpoint_id
       from looked q ${itsMessage('for key share', WHERE_SETTLED[state])}
     ), started as (
       ${PUT_BACK} 0 from chosen d ${ITS_LOG}
       on conflict (tenant_id, delivery_id) do update set ${START_AGAIN} where webhook_queue.dead_at is not null
       returning 1
     )
     select (select count(*) from started)::int as started, count(*)::int as looked, max(created_at) as last from looked`,
  )
}
const replaysIn = (mode: Mode) => ({
  dead: replayStatement('dead', mode),
  delivered: replayStatement('delivered', mode),
  settled: replayStatement('settled', mode),
})
const REPLAYS = { live: replaysIn('live'), test: replaysIn('test') }

export const replayStore = {
  /** Returns 0 when there is no such delivery. */
  replay: (
    db: Queryable,
    owner: TenantData,
    id: string,
    { now, failNext }: { now: Date; failNext: number },
  ): Promise<number> => db.run(REPLAY, [owner.tenantId, owner.livemode, now, id, timeOfId(id), failNext]),
  /** Returns how many were restarted, how many were checked, and when the last checked one was created. */
  async replaySince(
    db: Queryable,
    owner: TenantData,
    { state, since, now }: { state: 'dead' | 'delivered' | 'settled'; since: Date; now: Date },
  ): Promise<{ started: number; looked: number; last: Date | null }> {
    const values = [owner.tenantId, owner.livemode, now, firstIdOf(since), since]
    const [found] = await db.rows<{ started: number; looked: number; last: Date | null }>(
      REPLAYS[modeOf(owner)][state],
      values,
    )
    return found ?? { started: 0, looked: 0, last: null }
  },
}
