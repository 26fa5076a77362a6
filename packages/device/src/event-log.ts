import type { LaunchEvent, LaunchEventType } from '@ostiary/contract'
import { CHAIN_START, chainEvent } from '@ostiary/crypto'

export interface DeviceClock {
  /** Unix milliseconds. */
  nowMs(): number
  /** Milliseconds that never go back, from any zero: a browser’s performance timer. */
  monotonicMs(): number
}

/** The state of a log, saved over a reload together with the device's key. */
export interface SavedLog {
  seq: number
  hash: string
  t: number
  /** Entries the server has not confirmed yet. */
  pending: readonly LaunchEvent[]
}

const EMPTY: SavedLog = { seq: 0, hash: CHAIN_START, t: 0, pending: [] }

/** The event log of this device. Entries are numbered, hash-chained, and kept until the server has confirmed them. */
export function createEventLog(clock: DeviceClock, saved: SavedLog = EMPTY) {
  const zeroMs = clock.monotonicMs()
  let { seq, t } = saved
  let head: Omit<SavedLog, 'pending'> = { seq, hash: saved.hash, t }
  let pending = [...saved.pending]
  let written: Promise<void> = Promise.resolve()

  async function write(event: Omit<LaunchEvent, 'hash'>): Promise<void> {
    const chained = await chainEvent(head.hash, event)
    head = { seq: chained.seq, hash: chained.hash, t: chained.t }
    pending.push(chained)
  }

  return {
    /** Takes number and time at once; the entry is in the log when the promise resolves. */
    append(type: LaunchEventType, n?: number): Promise<void> {
      seq += 1
      t = Math.max(t, saved.t + Math.round(clock.monotonicMs() - zeroMs))
      const event = { seq, t, type, ...(n !== undefined && { n }) }
      written = written.then(() => write(event))
      return written
    },
    /** The last entry and all that the server has not confirmed, once everything appended so far is written. */
    async read(): Promise<SavedLog> {
      await written
      return { ...head, pending: [...pending] }
    },
    confirm(upToSeq: number): void {
      pending = pending.filter((event) => event.seq > upToSeq)
    },
    /** Starts a new log of the same device; its time continues. */
    async beginAnew(): Promise<void> {
      await written
      seq = EMPTY.seq
      head = { seq, hash: EMPTY.hash, t }
      pending = []
    },
  }
}
