import { requestIdStore } from './call-store.ts'
import type { Metrics } from './metrics.ts'
import type { Clock } from './platform/clock.ts'
import type { Db } from './platform/db.ts'
import type { Log } from './platform/log.ts'
import { budgetStore } from './shares/budget-store.ts'
import { nonceStore, shareStore, verdictStore } from './shares/store.ts'

interface Deps {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
}

const EVERY_MS = 60_000
/** It reads all people, so it runs less often. */
const PERSONS_EVERY_MS = 3_600_000

/** Deletes what is past its time. Every process does it; a second one finds nothing. */
export async function purge({ db, clock, log, metrics }: Deps): Promise<void> {
  const now = clock.now()
  const pending = await shareStore.purgePending(db, now)
  metrics.pendingPurged.inc(pending)
  if (pending > 0) log.info({ job: 'purge', count: pending }, 'pending key shares deleted')
  await nonceStore.purge(db, now)
  await verdictStore.purge(db, now)
  await requestIdStore.purge(db, now)
}

/** Deletes people without a token whose failures no longer count. */
export async function purgePersons({ db, clock }: Deps): Promise<void> {
  await budgetStore.purgePersons(db, clock.now())
}

/** Returns how to stop it, which waits for the current runs. */
export function startPurging(deps: Deps): () => Promise<void> {
  const stops = [
    repeat(() => purge(deps), EVERY_MS, deps.log),
    repeat(() => purgePersons(deps), PERSONS_EVERY_MS, deps.log),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function repeat(work: () => Promise<void>, everyMs: number, log: Log): () => Promise<void> {
  let running = Promise.resolve()
  const run = () => {
    running = work().catch((err: unknown) => log.warn({ err, job: 'purge' }, 'a purge failed'))
  }
  run()
  const timer = setInterval(run, everyMs)
  return () => {
    clearInterval(timer)
    return running
  }
}
