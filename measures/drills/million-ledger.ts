import { ENDINGS } from './lost-and-found.ts'
import { slotAt } from './million-plan.ts'
import { type Acknowledgement, type Arrival, type Creation, HASH_BYTES } from './million-records.ts'

/** What is wrong after all. Every count must be 0, but that of repeats. */
export interface Balance {
  /** Acknowledged events that no receiver has taken. */
  lost: number
  /** Requests with another body than the first of the same session. */
  doubled: number
  /** Sessions whose event came under several delivery ids. */
  changedIds: number
  /** Events that say another end than the API has acknowledged. */
  changedEndings: number
  wrongSignatures: number
  /** Requests at a receiver that was not named. */
  misplaced: number
  /** Sessions that the API never acknowledged. */
  strangers: number
  /** Events that came once more after they had been taken. Allowed. */
  repeats: number
  /** Calls with an answer that no caller expects. */
  refused: number
  /** Events that are not in the log of deliveries exactly once, as delivered. */
  notInLog: number
}

const NONE = 255

/** Compares what was acknowledged with what arrived. A million slots take 60 MB. */
export function createLedger(slots: number) {
  const slotOf = new Map<string, number>()
  const endings = new Uint8Array(slots).fill(NONE)
  const arrivals = new Uint16Array(slots)
  const taken = new Uint16Array(slots)
  const logged = new Uint8Array(slots)
  const deliveryIds = Buffer.alloc(slots * 16)
  const hashes = Buffer.alloc(slots * HASH_BYTES)
  const changedIds = new Set<number>()
  const changedEndings = new Set<number>()
  const strangers = new Set<string>()
  let [doubled, wrongSignatures, misplaced, refused, acknowledged] = [0, 0, 0, 0, 0]
  const keyOf = (id: Buffer) => id.toString('latin1')
  const deliveryIdOf = (slot: number) => deliveryIds.subarray(slot * 16, slot * 16 + 16)
  const hashOf = (slot: number) => hashes.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES)
  const isEvent = (slot: number) => endings[slot] !== NONE && slotAt(slot).hasEvent

  function countEvents(isCounted: (slot: number) => boolean): number {
    let count = 0
    for (let slot = 0; slot < slots; slot++) if (isEvent(slot) && isCounted(slot)) count++
    return count
  }
  const isLost = (slot: number) => taken[slot] === 0

  return {
    create({ slot, id }: Creation): void {
      slotOf.set(keyOf(id), slot)
    },
    acknowledge({ slot, ending, isRefused }: Acknowledgement): void {
      if (endings[slot] === NONE && slotAt(slot).hasEvent) acknowledged++
      endings[slot] = ENDINGS.indexOf(ending)
      if (isRefused) refused++
    },
    /** Call it when all creations and acknowledgements are in. */
    arrive({ id, deliveryId, bodyHash, receiver, ending, isGenuine, isTaken }: Arrival): void {
      const slot = slotOf.get(keyOf(id))
      if (!isGenuine) wrongSignatures++
      if (slot === undefined) {
        strangers.add(keyOf(id))
        return
      }
      if (slotAt(slot).receiver !== receiver) misplaced++
      if (arrivals[slot] === 0) {
        deliveryId.copy(deliveryIdOf(slot))
        bodyHash.copy(hashOf(slot))
      } else {
        if (!deliveryIdOf(slot).equals(deliveryId)) changedIds.add(slot)
        if (!hashOf(slot).equals(bodyHash)) doubled++
      }
      if (endings[slot] !== ENDINGS.indexOf(ending)) changedEndings.add(slot)
      arrivals[slot] = (arrivals[slot] ?? 0) + 1
      if (isTaken && isGenuine) taken[slot] = (taken[slot] ?? 0) + 1
    },
    /** A row of the log of deliveries. Only one that says delivered, under the id that arrived, counts. */
    log(id: Buffer, deliveryId: Buffer, isDelivered: boolean): void {
      const slot = slotOf.get(keyOf(id))
      if (slot === undefined) return
      const isRight = isDelivered && deliveryIdOf(slot).equals(deliveryId)
      logged[slot] = logged[slot] === 0 && isRight ? 1 : NONE
    },
    acknowledged: () => acknowledged,
    lost: () => countEvents(isLost),
    /** The first bytes of what arrived for a session. */
    hashOf: (slot: number): Buffer => hashOf(slot),
    /** Some of the slots that are lost, to look at. */
    examples: (most: number): number[] =>
      Array.from(endings.keys())
        .filter((slot) => isEvent(slot) && isLost(slot))
        .slice(0, most),
    balance: (): Balance => ({
      lost: countEvents(isLost),
      ...{ doubled, wrongSignatures, misplaced, refused },
      changedIds: changedIds.size,
      changedEndings: changedEndings.size,
      strangers: strangers.size,
      repeats: taken.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
      notInLog: countEvents((slot) => logged[slot] !== 1),
    }),
  }
}
export type Ledger = ReturnType<typeof createLedger>
