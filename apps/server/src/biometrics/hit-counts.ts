import { HIT_BUDGET } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { type HitLevel, oldestSlot, stricter } from './hit-budget.ts'
import { hitStore } from './hit-store.ts'
import type { NodeMetrics } from './metrics.ts'
import { createPersonHits } from './person-hits.ts'

const MAX_PERSONS = 50_000
const MAX_KEYS = 20_000
const LOG_EVERY_MS = 600_000
interface Deps extends Pick<Platform, 'cells' | 'clock' | 'log'> {
  metrics: NodeMetrics
  maxPersons?: number
}

interface KeyState {
  level: HitLevel
  untilMs: number
  loggedMs: number
}

/**
 * Counts how often answers of area E concerned a person: recognised, or nearly. Over the budget the key that asked is held at the level
 * of that answer for an hour. Otherwise the answer 429 itself would say whether a face is near the person.
 * Test keys are not counted: the people they recognise are invented.
 */
export function createHitCounts({ cells, clock, log, metrics, maxPersons = MAX_PERSONS }: Deps) {
  const persons = createPersonHits({ cells, clock, log, maxPersons })
  const keys = new BoundedMap<string, KeyState>(MAX_KEYS)
  const nowMs = () => clock.now().getTime()

  function levelOfKey({ keyId = '' }: Caller): HitLevel {
    const state = keys.get(keyId)
    return state && state.untilMs > nowMs() ? state.level : 'open'
  }

  function hold(caller: Caller, level: HitLevel): void {
    const { tenantId, livemode, keyId = '' } = caller
    const before = keys.get(keyId)
    const isNew = levelOfKey(caller) === 'open'
    const isLogged = before !== undefined && nowMs() - before.loggedMs < LOG_EVERY_MS
    const loggedMs = isLogged ? before.loggedMs : nowMs()
    keys.set(keyId, { level, untilMs: nowMs() + HIT_BUDGET.holdSeconds * 1000, loggedMs })
    if (isNew || level === 'refuse') metrics.hitAlarms.count(level)
    if (!isLogged)
      log.warn(
        { tenantId, keyId, livemode },
        `predictions near one person reached ${HIT_BUDGET.hour.alarm} an hour or ${HIT_BUDGET.day.alarm} a day`,
      )
  }

  return {
    levelOfKey,

    /** Counts an answer that concerns these people. Returns how the key may be answered, now that it is counted. */
    async count(caller: Caller, personIds: readonly string[]): Promise<HitLevel> {
      if (!caller.livemode || personIds.length === 0) return levelOfKey(caller)
      const { tenantId, livemode } = caller
      const levels = await Promise.all(personIds.map((personId) => persons.count({ tenantId, livemode }, personId)))
      const level = levels.reduce(stricter, 'open')
      const held = stricter(level, levelOfKey(caller))
      if (level !== 'open') hold(caller, held)
      return held
    },
  }
}
export type HitCounts = ReturnType<typeof createHitCounts>

export const purgeHits = purging((db, now, limit) => hitStore.purge(db, new Date(oldestSlot(now.getTime())), limit))
