import { createStatementBatcher } from '../platform/batcher.ts'
import type { Db } from '../platform/db.ts'
import type { Platform } from '../platform/platform.ts'
import { logFailure } from '../platform/reachability.ts'
import type { GroupId } from './group-keys.ts'
import { type HitSlots, type HitVerdict, oldestSlot, slotOf, verdictOf } from './hit-budget.ts'
import { type AddedHits, hitStore } from './hit-store.ts'

/**
 * A process writes a person's hits after this many: people who are recognised now and then cost no write. One less than this may be
 * answered before they are written, so each process may be behind the others by that many.
 */
const WRITE_EVERY = 5
const MOST_AT_ONCE = 200

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'log'> {
  /** How many people a process keeps in memory, over all tenants. */
  maxPersons: number
}

interface PersonHits {
  group: GroupId
  personId: string
  /** As the database had them at the last exchange, of all processes. */
  stored: HitSlots
  /** Counted here and not written yet. They count as if they were new, and are written so. */
  unwritten: number
  /** All that were counted here. */
  counted: number
  /** The exchange with the database that is under way; a person has one at a time. */
  busy: Promise<void> | undefined
}

/** Counts the hits of each person, over all processes. */
export function createPersonHits({ cells, clock, log, maxPersons }: Deps) {
  /** The least recently counted first. */
  const persons = new Map<string, PersonHits>()
  /** The last writes of people who were dropped from memory. */
  const leaving = new Map<string, Promise<void>>()
  const send = createStatementBatcher(exchangeMany, MOST_AT_ONCE)
  const nowMs = () => clock.now().getTime()

  /** What all processes have written; undefined where these hits were written, and the others could not be read. */
  async function exchangeMany(db: Db, asked: readonly AddedHits[]): Promise<(HitSlots | undefined)[]> {
    const times = { slot: new Date(slotOf(nowMs())), oldest: new Date(oldestSlot(nowMs())) }
    const counted = asked.filter(({ hits }) => hits > 0)
    if (counted.length > 0) await hitStore.add(db, times.slot, counted)
    // Only now, so that of two processes that write at a time the one that commits last sees both.
    const found = await hitStore.find(db, times.oldest, asked).catch((err) => {
      if (counted.length === 0) throw err
      logFailure(log, 'warn', { err }, 'hits could not be read from the database')
    })
    if (!found) return asked.map(() => undefined)
    const rows = Map.groupBy(found, nameOf)
    return asked.map((one) => new Map(rows.get(nameOf(one))?.map(({ slot, hits }) => [slot.getTime(), hits])))
  }

  /** Writes these of a person's unwritten hits, perhaps none, and reads what all processes have written. */
  async function exchange(person: PersonHits, hits: number): Promise<void> {
    const { group, personId } = person
    try {
      const slot = slotOf(nowMs())
      const stored = await send(cells.forId(group.tenantId), { ...group, personId, hits })
      person.stored = stored ?? new Map(person.stored).set(slot, (person.stored.get(slot) ?? 0) + hits)
      person.unwritten -= hits
    } catch (err) {
      // The count of this process holds, and is written with the next hit.
      logFailure(log, 'warn', { err, tenantId: group.tenantId }, 'hits could not be counted in the database')
    } finally {
      person.busy = undefined
    }
  }

  /**
   * Writes if there are at least so many unwritten hits. A hit that is counted during an exchange waits for it, and then for the next one
   * if that has begun or is due. So no more than `WRITE_EVERY` - 1 hits are ever answered and not written, however many come at once.
   */
  async function write(person: PersonHits, unwrittenMin: number): Promise<void> {
    await person.busy
    if (!person.busy && person.unwritten < unwrittenMin) return
    person.busy ??= exchange(person, person.unwritten)
    await person.busy
  }

  /** A person who was not in memory is read first: other processes, or this one before it dropped them, may have used up the budget. */
  function enter(group: GroupId, personId: string): PersonHits {
    const name = nameOf({ ...group, personId })
    const known = persons.get(name)
    persons.delete(name)
    const person = known ?? { group, personId, stored: new Map(), unwritten: 0, counted: 0, busy: undefined }
    persons.set(name, person)
    if (!known) person.busy = (leaving.get(name) ?? Promise.resolve()).then(() => exchange(person, 0))
    if (persons.size > maxPersons) dropOldest()
    return person
  }

  function dropOldest(): void {
    for (const [name, person] of persons) {
      persons.delete(name)
      const written = write(person, 1).finally(() => {
        if (leaving.get(name) === written) leaving.delete(name)
      })
      leaving.set(name, written)
      return
    }
  }

  return {
    /** Counts one hit, whether it is then answered or refused: a refusal says that a face is near, too. */
    count(group: GroupId, personId: string): CountedHit {
      const person = enter(group, personId)
      person.unwritten++
      const place = ++person.counted
      const judge = () => {
        // Hits that came later do not concern the answer to this one.
        const here = person.unwritten - (person.counted - place)
        const slot = slotOf(nowMs())
        return verdictOf(new Map(person.stored).set(slot, (person.stored.get(slot) ?? 0) + here), nowMs())
      }
      return { atOnce: judge(), verdict: write(person, WRITE_EVERY).then(judge) }
    },
  }
}

export interface CountedHit {
  /** By what this process knows now. */
  atOnce: HitVerdict
  /** By what all processes have written, where an exchange was due. */
  verdict: Promise<HitVerdict>
}

const nameOf = ({ tenantId, livemode, personId }: GroupId & { personId: string }) =>
  `${tenantId}/${livemode}/${personId}`
