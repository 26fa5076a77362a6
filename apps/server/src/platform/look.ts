import { setTimeout as sleep } from 'node:timers/promises'
import type { Outage } from '@ostiary/service-kit/outage'
import type { Reachability } from './reachability.ts'

/** `slow`: there was no answer in time, and nothing says why. */
export type Look = Outage | 'slow' | 'ok'

export const LOOK_SENTENCES: Record<Exclude<Look, 'ok'>, string> = {
  refused: 'The database refuses the login: look at role, password and database of its URL',
  'read-only': 'The database is read-only and stores nothing',
  standby: 'The database is a standby and stores nothing',
  unreplicated: 'Commits wait for a replica, and there is none',
  full: 'The database has no space left',
  unreachable: 'The database cannot be reached',
  slow: 'The database did not answer in time',
}

const FRESH_MS = 1_000
const PATIENCE_MS = 1_500

/** Looks at a database at most once a second, however many ask. `ask` sends a statement through the pool, as calls do. */
export function createLook({ outage, probe }: Reachability, ask: () => Promise<Look>): () => Promise<Look> {
  let lookedMs = Number.NEGATIVE_INFINITY
  let looked: Promise<Look>

  async function lookNow(): Promise<Look> {
    const known = outage()
    if (known !== undefined) return known
    const asked = ask().catch(async () => outage() ?? (await probe()) ?? 'slow')
    const seen = await Promise.race([asked, sleep(PATIENCE_MS, 'slow' as const, { ref: false })])
    if (seen !== 'slow') return seen
    void probe()
    // A call may have met the reason meanwhile.
    return outage() ?? 'slow'
  }

  return () => {
    if (performance.now() - lookedMs < FRESH_MS) return looked
    lookedMs = performance.now()
    looked = lookNow()
    return looked
  }
}
