import { HIT_BUDGET } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { type HitLevel, type HitVerdict, oldestSlot, stricter } from './hit-budget.ts'
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
  /** Until then it tells one band. */
  alarmUntilMs: number
  /** Until then it gets no answer, whatever the face. */
  waitUntilMs: number
  loggedMs: number
}

/**
 * Counts how often answers of area E concerned a person: recognised, or nearly. The key whose answer took the
 * person's last token waits for the next one, with every face: otherwise the answer 429 itself would say whether a face is near the person.
 * Another key learns it once, and that is counted like an answer (docs/decisions/0065-the-pause-is-a-token.md).
 * Test keys are not counted: the people they recognise are invented.
 */
export function createHitCounts({ cells, clock, log, metrics, maxPersons = MAX_PERSONS }: Deps) {
  const persons = createPersonHits({ cells, clock, log, maxPersons })
  const keys = new BoundedMap<string, KeyState>(MAX_KEYS)
  const nowMs = () => clock.now().getTime()

  const stateOf = ({ keyId = '' }: Caller): KeyState =>
    keys.get(keyId) ?? { alarmUntilMs: 0, waitUntilMs: 0, loggedMs: Number.NEGATIVE_INFINITY }

  const waitSecondsOf = (caller: Caller): number =>
    Math.max(0, Math.ceil((stateOf(caller).waitUntilMs - nowMs()) / 1000))

  function levelOfKey(caller: Caller): HitLevel {
    if (waitSecondsOf(caller) > 0) return 'refuse'
    return stateOf(caller).alarmUntilMs > nowMs() ? 'alarm' : 'open'
  }

  function hold(caller: Caller, { level, waitMs }: HitVerdict): void {
    const { tenantId, livemode, keyId = '' } = caller
    const before = stateOf(caller)
    const now = nowMs()
    const isAlarm = level !== 'open'
    const isLogged = !isAlarm || now - before.loggedMs < LOG_EVERY_MS
    keys.set(keyId, {
      alarmUntilMs: isAlarm ? now + HIT_BUDGET.holdSeconds * 1000 : before.alarmUntilMs,
      waitUntilMs: Math.max(before.waitUntilMs, now + Math.min(waitMs, HIT_BUDGET.holdSeconds * 1000)),
      loggedMs: isLogged ? before.loggedMs : now,
    })
    if (level === 'alarm' && before.alarmUntilMs <= now) metrics.hitAlarms.count('alarm')
    if (!isLogged)
      log.warn(
        { tenantId, keyId, livemode },
        `predictions near one person reached ${HIT_BUDGET.hour.alarm} an hour or ${HIT_BUDGET.day.alarm} a day`,
      )
  }

  function holdBy(caller: Caller, verdicts: readonly HitVerdict[]): HitLevel {
    const level = verdicts.map((one) => one.level).reduce(stricter, 'open')
    const waitMs = Math.max(...verdicts.map((one) => one.waitMs))
    if (level !== 'open' || waitMs > 0) hold(caller, { level, waitMs })
    return level
  }

  return {
    levelOfKey,
    waitSecondsOf,

    /**
     * Counts an answer that concerns these people. Returns how the key may be answered, now that it is counted. While the key waits, nothing is
     * counted and every face is refused alike: calls that were on their way when it began to wait must not tell who is near.
     */
    async count(caller: Caller, personIds: readonly string[]): Promise<HitLevel> {
      const levelBefore = levelOfKey(caller)
      if (!caller.livemode || personIds.length === 0 || levelBefore === 'refuse') return levelBefore
      const { tenantId, livemode } = caller
      const counted = personIds.map((personId) => persons.count({ tenantId, livemode }, personId))
      // Before the exchange with the database, during which other calls of the key end.
      holdBy(
        caller,
        counted.map(({ atOnce }) => atOnce),
      )
      const verdicts = await Promise.all(counted.map(({ verdict }) => verdict))
      const level = holdBy(caller, verdicts)
      if (level === 'refuse') metrics.hitAlarms.count('refuse')
      return stricter(level, levelBefore)
    },
  }
}
export type HitCounts = ReturnType<typeof createHitCounts>

export const purgeHits = purging((db, now, limit) => hitStore.purge(db, new Date(oldestSlot(now.getTime())), limit))
