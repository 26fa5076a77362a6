import { AREA_LETTERS, type SessionArea } from '@ostiary/contract'
import { dayOf, dayStatement, onDay } from '../platform/day-statement.ts'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import { rowsByPlace } from '../platform/plan-mode.ts'
import type { Claim } from './claim.ts'

/** SQL that takes deliveries from the queue, with their messages. */

/** The message of a claim. */
export interface Payload {
  area: SessionArea
  event: string
  subjectId: string
  sequence: number
  keyId: string
  blob: Buffer
  masterKeyId: string
  /** A number, not a Date: parsing a time from text is the largest cost of reading a row. */
  purgeAtMs: number
}

/** A claim with its message; undefined when the message was removed. */
export interface Taken {
  claim: Claim
  payload: Payload | undefined
}

// A claim and its message come as two texts: a column for each of their values costs the reader more than the values, and so do numbers that
// are nearly always zero. Sealed bytes come as base64: PostgreSQL's own text form for bytes is longer and takes three times as long to parse.
const CLAIM_TEXT = `concat(c.tenant_id, c.delivery_id, c.endpoint_id, c.livemode, c.place, case
    when c.attempts + c.tries + c.restarts + c.fail_next > 0 or c.has_once
    then concat(' ', c.attempts, ' ', c.tries, ' ', c.restarts, ' ', c.fail_next, ' ', c.has_once)
  end)`
const MESSAGE_TEXT = `concat(d.subject_id, d.key_id, d.area, ' ', d.sequence, ' ', (date_part('epoch', d.purge_at) * 1000)::int8, ' ',
  d.master_key_id, ' ', d.event, ' ', encode(d.sealed, 'base64'))`

const CLAIMED = `q.tenant_id, q.delivery_id, q.livemode, q.endpoint_id, q.attempts, q.tries, q.restarts, q.fail_next,
  q.once_sealed is not null as has_once, q.ctid as place, q.created_at`
// Looks up the message of each claim by its key, one by one. For a plain join the planner would read whole partitions: a second where
// this takes milliseconds. LIMIT keeps the planner from turning it into a join. It looks in one day's partition: finding the partition again for
// each claim took four times as long as reading the message. Messages of other days are read by MESSAGES.
// ORDER BY makes the planner use the primary key: while a new day is empty, the index of a tenant's sessions looks as good, and the plan stays for
// as long as the connection or until PostgreSQL counts the rows.
const withMessages = (day: string) => `select ${CLAIM_TEXT} as claim, d.message
  from claimed c left join lateral (
    select ${MESSAGE_TEXT} as message from webhook_deliveries${day} d
    where d.tenant_id = c.tenant_id and d.delivery_id = c.delivery_id and d.created_at between c.created_at and c.created_at
    order by d.created_at limit 1
  ) d on true`

/**
 * Visits at most $2 receivers with pending deliveries in the order of their ids, starting after $1, with one index lookup each, however
 * many deliveries a receiver has. From each receiver with due deliveries (by $3) and a closed breaker it takes as many as the receiver's
 * capacity ($4, or $5 without a lane), $6 in all, and sets their due time to the end of the lease ($7). It skips tenants that have their
 * share ($8) and rows that another worker is claiming. So one receiver's backlog does not delay another receiver.
 * Rows are updated by ctid, because the planner could turn any join into a scan of the table (and by ctid too, but for `rowsByPlace`).
 * The last row of the answer says how many receivers were visited, and the last of them.
 */
const CLAIM = dayStatement(
  'webhooks.claim',
  (day) => `with recursive visited (endpoint_id, tenant_id, first_due, n) as (
     (select endpoint_id, tenant_id, next_attempt_at, 1 from webhook_queue where dead_at is null and endpoint_id > $1
      order by endpoint_id, next_attempt_at limit 1)
     union all
     select next.endpoint_id, next.tenant_id, next.next_attempt_at, v.n + 1 from visited v cross join lateral (
       select endpoint_id, tenant_id, next_attempt_at from webhook_queue q where q.dead_at is null and q.endpoint_id > v.endpoint_id
       order by q.endpoint_id, q.next_attempt_at limit 1
     ) next where v.n < $2
   ), picked as materialized (
     select due.place from visited v cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = v.endpoint_id and q.next_attempt_at <= $3
       order by q.next_attempt_at limit coalesce(($4::jsonb ->> v.endpoint_id::text)::int, $5) for update skip locked
     ) due
     where v.first_due <= $3 and v.tenant_id <> all ($8::uuid[])
       and not exists (select from webhook_endpoints e where e.endpoint_id = v.endpoint_id and e.opened_times > 0)
     limit $6
   ), claimed as (
     update webhook_queue q set next_attempt_at = $7 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}
   )
   ${withMessages(day)}
   union all
   select (select endpoint_id::text from visited order by n desc limit 1), (select count(*)::text from visited)`,
)

/**
 * Claims one delivery for each receiver whose breaker may be probed. The breaker stays open until the end of the lease ($2), so that no
 * other worker probes the receiver too, and it is probed again if this worker dies.
 */
const PROBE = dayStatement(
  'webhooks.probe',
  (day) => `with rested as materialized (
     select e.endpoint_id from webhook_endpoints e
     where e.opened_times > 0 and e.open_until <= $1 and exists (
       select from webhook_queue q where q.dead_at is null and q.endpoint_id = e.endpoint_id and q.next_attempt_at <= $1)
     order by e.open_until limit 32 for update of e skip locked
   ), probed as (
     update webhook_endpoints e set open_until = $2, updated_at = $1
     where e.endpoint_id = any (array(select endpoint_id from rested))
   ), picked as materialized (
     select due.place from rested r cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = r.endpoint_id and q.next_attempt_at <= $1
       order by q.next_attempt_at limit 1 for update skip locked
     ) due
   ), claimed as (
     update webhook_queue q set next_attempt_at = $2 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}
   )
   ${withMessages(day)}`,
)

/** Messages of any day, by their keys. */
const MESSAGES = sql(
  'webhooks.messages',
  `select t.place::int - 1 as index, d.message
   from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) with ordinality as t (tenant_id, delivery_id, created_at, place) cross join lateral (
     select ${MESSAGE_TEXT} as message from webhook_deliveries d
     where d.tenant_id = t.tenant_id and d.delivery_id = t.delivery_id and d.created_at = t.created_at limit 1
   ) d`,
)

export interface ClaimRequest {
  after: string
  visit: number
  now: Date
  /** Capacity of the receivers that have a lane in this worker. */
  capacities: Readonly<Record<string, number>>
  capacityOfOthers: number
  /** Tenants that have their share and get no more now. */
  fullTenants: readonly string[]
  limit: number
  leaseUntil: Date
}

/** Returns the claimed rows, how many receivers were visited, and the last of them. */
export async function claim(
  db: Db,
  request: ClaimRequest,
): Promise<{ taken: Taken[]; visited: number; last: string | null }> {
  const { after, visit, now, capacities, capacityOfOthers, fullTenants, limit, leaseUntil } = request
  const values = [after, visit, now, JSON.stringify(capacities), capacityOfOthers, limit, leaseUntil, fullTenants]
  const rows = await onDay(db, dayOf(now), (day) => rowsByPlace<TakenRow>(db, CLAIM.on(day), values))
  const walk = rows.pop()
  return { taken: await readTaken(db, rows), visited: Number(walk?.message ?? 0), last: walk?.claim ?? null }
}

export async function probe(db: Db, now: Date, leaseUntil: Date): Promise<Taken[]> {
  return readTaken(
    db,
    await onDay(db, dayOf(now), (day) => rowsByPlace<TakenRow>(db, PROBE.on(day), [now, leaseUntil])),
  )
}

interface TakenRow {
  claim: string
  message: string | null
}

async function readTaken(db: Queryable, rows: readonly TakenRow[]): Promise<Taken[]> {
  const taken = rows.map(({ claim, message }): Taken => {
    return { claim: toClaim(claim), payload: message === null ? undefined : toPayload(message) }
  })
  const others = taken.filter(({ payload }) => !payload)
  // Messages of another day, or of a day without a partition; or they were removed.
  for (const { index, message } of others.length > 0 ? await findMessages(db, others) : []) {
    const one = others[index]
    if (one) one.payload = toPayload(message)
  }
  return taken
}

function findMessages(db: Queryable, taken: readonly Taken[]): Promise<{ index: number; message: string }[]> {
  const ids = taken.map(({ claim }) => claim.deliveryId)
  const times = ids.map((id) => timeOfId(id).toISOString())
  return db.rows(MESSAGES, [taken.map(({ claim }) => claim.tenantId), ids, times])
}

const ID_CHARS = 36
const AFTER_IDS = 3 * ID_CHARS

function toClaim(text: string): Claim {
  const pastAt = text.indexOf(' ', AFTER_IDS)
  const claim = {
    tenantId: text.slice(0, ID_CHARS),
    deliveryId: text.slice(ID_CHARS, 2 * ID_CHARS),
    endpointId: text.slice(2 * ID_CHARS, AFTER_IDS),
    livemode: text[AFTER_IDS] === 't',
    place: text.slice(AFTER_IDS + 1, pastAt < 0 ? undefined : pastAt),
    attempts: 0,
    tries: 0,
    restarts: 0,
    failNext: 0,
    hasOnce: false,
  }
  if (pastAt < 0) return claim
  const [attempts, tries, restarts, failNext, hasOnce] = text.slice(pastAt + 1).split(' ')
  return {
    ...claim,
    attempts: Number(attempts),
    tries: Number(tries),
    restarts: Number(restarts),
    failNext: Number(failNext),
    hasOnce: hasOnce === 't',
  }
}

function toPayload(text: string): Payload {
  const [start = '', sequence, purgeAtMs, masterKeyId = '', event = '', sealed = ''] = text.split(' ')
  return {
    area: start[2 * ID_CHARS] === AREA_LETTERS.age ? 'age' : 'verification',
    event,
    subjectId: start.slice(0, ID_CHARS),
    sequence: Number(sequence),
    keyId: start.slice(ID_CHARS, 2 * ID_CHARS),
    blob: Buffer.from(sealed, 'base64'),
    masterKeyId,
    purgeAtMs: Number(purgeAtMs),
  }
}
