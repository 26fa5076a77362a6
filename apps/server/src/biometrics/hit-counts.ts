import { HIT_BUDGET } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import { logFailure } from '../platform/reachability.ts'
import type { GroupId } from './group-keys.ts'
import { type HitLevel, levelOf, oldestSlot, slotOf, stricter } from './hit-budget.ts'
import { hitStore } from './hit-store.ts'
import type { NodeMetrics } from './metrics.ts'

/**
 * A process writes a person's hits after this many: people who are recognised now and then cost no write. Each process may be behind the
 * others by one less than this.
 */
const WRITE_EVERY = 5
const MAX_PERSONS = 50_000
const MAX_KEYS = 20_000
const LOG_EVERY_MS = 600_000
const PURGE_BATCH = 2_000

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  metrics: NodeMetrics
}

interface PersonHits {
  /** As the database had them at the last write, of all processes. */
  stored: Map<number, number>
  /** Counted here and not written yet. They count as if they were new, and are written so. */
  unwritten: number
  /** Being written. */
  onTheWay: number
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
export function createHitCounts({ cells, clock, log, metrics }: Deps) {
  const persons = new BoundedMap<string, PersonHits>(MAX_PERSONS)
  const keys = new BoundedMap<string, KeyState>(MAX_KEYS)
  const nowMs = () => clock.now().getTime()

  function levelOfKey({ keyId = '' }: Caller): HitLevel {
    const state = keys.get(keyId)
    return state && state.untilMs > nowMs() ? state.level : 'open'
  }

  /** Counts one hit, writes when it is time, and returns the level of the person. */
  async function countPerson(group: GroupId, personId: string): Promise<HitLevel> {
    const name = `${group.tenantId}/${personId}`
    const person = persons.get(name) ?? { stored: new Map<number, number>(), unwritten: 0, onTheWay: 0 }
    persons.set(name, person)
    person.unwritten++
    if (person.unwritten >= WRITE_EVERY) await write(group, personId, person)
    const slot = slotOf(nowMs())
    const here = person.unwritten + person.onTheWay
    return levelOf(new Map(person.stored).set(slot, (person.stored.get(slot) ?? 0) + here), nowMs())
  }

  async function write(group: GroupId, personId: string, person: PersonHits): Promise<void> {
    const { unwritten: hits } = person
    person.unwritten = 0
    person.onTheWay += hits
    const [slot, oldest] = [new Date(slotOf(nowMs())), new Date(oldestSlot(nowMs()))]
    try {
      const rows = await hitStore.add(cells.forId(group.tenantId), group, personId, { slot, hits, oldest })
      for (const at of person.stored.keys()) if (at < oldest.getTime()) person.stored.delete(at)
      // The larger one: counts only grow, and an answer may arrive after that of a later write.
      for (const { slot, hits } of rows) {
        person.stored.set(slot.getTime(), Math.max(person.stored.get(slot.getTime()) ?? 0, hits))
      }
    } catch (err) {
      // The count of this process holds, and is written with the next hit.
      person.unwritten += hits
      logFailure(log, 'warn', { err, tenantId: group.tenantId }, 'hits could not be counted in the database')
    } finally {
      person.onTheWay -= hits
    }
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
      const levels = await Promise.all(personIds.map((personId) => countPerson({ tenantId, livemode }, personId)))
      const level = levels.reduce(stricter, 'open')
      const held = stricter(level, levelOfKey(caller))
      if (level !== 'open') hold(caller, held)
      return held
    },
  }
}
export type HitCounts = ReturnType<typeof createHitCounts>

export function purgeHits(db: Db, now: Date): Promise<number> {
  return purgeInBatches(PURGE_BATCH, (limit) => hitStore.purge(db, new Date(oldestSlot(now.getTime())), limit))
}
