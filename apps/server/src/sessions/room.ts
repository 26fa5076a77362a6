import type { Cell } from '../platform/cells.ts'
import type { Db } from '../platform/db.ts'
import { createKeyRing } from '../platform/key-ring.ts'
import { createLabelledCounter } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { dropSessionPartitions, markPurgedSessions, prepareSessionPartitions, purgeSessions } from './jobs.ts'
import { createSessionSecrets } from './reseal.ts'
import { createSessions } from './service.ts'
import { createSweepers } from './sweepers.ts'
import { watchSessions } from './watch.ts'

/** What areas C and D share about a session. */
export function createSessionsRoom(platform: Platform) {
  const { clock, log, metrics } = platform
  const ring = createKeyRing({ ...platform, name: 'sessions' })
  const overtaken = metrics.add(
    createLabelledCounter(
      'ostiary_session_calls_overtaken_total',
      'Calls of devices that another call had overtaken, and that ran again under a lock',
      { label: 'area', values: ['age', 'verification'] },
    ),
  )
  const service = createSessions({ ...platform, ring, overtaken })
  const preparePartitions = (db: Db, now: Date) => prepareSessionPartitions(db, now, log)
  return {
    service,
    secrets: createSessionSecrets({ ...platform, ring }),
    /** Each area starts and stops the sweepers of its own sessions. */
    createSweepers: createSweepers(platform),
    jobs: [
      {
        name: 'purge-sessions',
        cron: '* * * * *',
        run: purgeSessions,
        due: { table: 'session_secrets', column: 'purge_at' },
      },
      {
        name: 'mark-purged-sessions',
        cron: '*/5 * * * *',
        run: markPurgedSessions,
        due: { table: 'sessions', column: 'purge_at', where: `due_at < 'infinity'` },
      },
      { name: 'prepare-session-partitions', cron: '23 * * * *', run: preparePartitions },
      { name: 'drop-session-partitions', cron: '41 * * * *', run: dropSessionPartitions },
    ],
    retention: RETENTION,
    /** Before the first session of the day needs its partition. */
    prepare: ({ db }: Cell) => preparePartitions(db, clock.now()),
    start: () => watchSessions(platform, service),
  } satisfies Room & Record<string, unknown>
}
export type SessionsRoom = ReturnType<typeof createSessionsRoom>

const RETENTION = [
  {
    table: 'sessions',
    key: 'tenant_id, livemode, area, created_at, session_id',
    partitions: 'a partition per day',
    growsWith: 'creates of areas C and D',
    after: '68 days, as tombstones most of it',
    by: 'drop-session-partitions',
  },
  {
    table: 'session_secrets',
    key: 'tenant_id, created_at, session_id',
    partitions: 'a partition per day',
    growsWith: 'creates of areas C and D',
    after: "the tenant's retention after the end",
    by: 'purge-sessions',
  },
  {
    table: 'session_tag_keys',
    key: 'tenant_id',
    growsWith: 'customers',
    after: 'until the tenant is removed',
    by: null,
  },
]
