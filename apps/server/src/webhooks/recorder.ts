import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { isAway, logFailure } from '../platform/reachability.ts'
import { nextTrouble, type Sign, signOf, type Trouble } from './breaker.ts'
import { type Completion, queueStore } from './queue-store.ts'
import { type EndpointTrouble, troubleStore } from './trouble-store.ts'

/** An ended attempt that is to be stored. */
export interface Ended extends Completion {
  probe: boolean
}

interface Deps {
  db: Db
  clock: Clock
  log: Log
}

// Long enough that a busy worker stores many at once. What a dying worker has not stored is sent again.
const COLLECT_MS = 25
const BATCH_MAX = 512
const RETRY_MS = 250
const RETRY_AWAY_MS = 1_000

/**
 * Stores ended attempts, many in one statement. While the database is away it keeps trying: an attempt that is never stored is
 * sent again when its lease ends.
 */
export function createRecorder({ db, clock, log }: Deps) {
  let waiting: Ended[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isLast = false

  function schedule(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void write()
    }, delayMs)
  }

  /** Stores one batch at a time, so that the state of a receiver changes in the order of its answers. */
  function write(): Promise<void> {
    if (writing) return writing
    const batch = waiting.slice(0, BATCH_MAX)
    waiting = waiting.slice(BATCH_MAX)
    if (batch.length === 0) return Promise.resolve()
    writing = save(db, batch, clock.now())
      .then(
        () => 0,
        (err) => {
          logFailure(log, 'warn', { err, count: batch.length }, 'attempts of webhooks could not be stored')
          if (!isLast) waiting = [...batch, ...waiting]
          return isAway(err) ? RETRY_AWAY_MS : RETRY_MS
        },
      )
      .then((delayMs) => {
        writing = undefined
        if (waiting.length > 0) schedule(delayMs)
      })
    return writing
  }

  return {
    add(ended: Ended): void {
      waiting.push(ended)
      if (waiting.length >= BATCH_MAX) void write()
      else schedule(COLLECT_MS)
    },
    /** How many attempts are not stored yet. */
    backlog: () => waiting.length,
    /** Stores everything, or returns at the deadline. */
    async drain(deadlineMs = Number.POSITIVE_INFINITY): Promise<void> {
      while ((waiting.length > 0 || writing) && clock.monotonicMs() < deadlineMs) {
        clearTimeout(timer)
        timer = undefined
        const before = waiting.length
        await write()
        // It failed: wait before the next try.
        if (waiting.length > before) await new Promise((done) => setTimeout(done, RETRY_MS))
      }
    },
    /** From now on a batch that cannot be stored is dropped: the leases end, and another worker sends its deliveries again. */
    giveUp(): void {
      isLast = true
    },
  }
}
export type Recorder = ReturnType<typeof createRecorder>

async function save(db: Db, batch: readonly Ended[], now: Date): Promise<void> {
  const { healed, troubled } = sortEndpoints(batch)
  await queueStore.complete(db, batch, [...healed])
  if (troubled.size > 0) await saveTrouble(db, troubled, now)
}

interface Signal {
  sign: Sign
  probe: boolean
}

/** Receivers that only answered are healthy, whatever their stored state. For the others the stored state must be read. */
function sortEndpoints(batch: readonly Ended[]): { healed: Set<string>; troubled: Map<string, [Ended, Signal[]]> } {
  const healed = new Set<string>()
  const troubled = new Map<string, [Ended, Signal[]]>()
  for (const ended of batch) {
    const { endpointId } = ended.claim
    const signal = { sign: signOf(ended.outcome), probe: ended.probe }
    const signals = troubled.get(endpointId)
    if (signals) signals[1].push(signal)
    else if (signal.sign === 'alive') healed.add(endpointId)
    else if (signal.sign === 'failing' || signal.probe) {
      const before: Signal[] = healed.delete(endpointId) ? [{ sign: 'alive', probe: false }] : []
      troubled.set(endpointId, [ended, [...before, signal]])
    }
  }
  return { healed, troubled }
}

function saveTrouble(db: Db, troubled: ReadonlyMap<string, [Ended, Signal[]]>, now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    const claims = new Map([...troubled].map(([id, [{ claim }]]) => [id, claim]))
    const sick: EndpointTrouble[] = []
    const well: string[] = []
    for (const before of await troubleStore.lockTrouble(tx, claims, now)) {
      const { endpointId } = before
      const [, signals] = troubled.get(endpointId) ?? [undefined, []]
      const after = signals.reduce<Trouble | undefined>(
        (trouble, signal) => nextTrouble(trouble, { ...signal, now }),
        before.failures === 0 ? undefined : before,
      )
      if (after) sick.push({ ...after, endpointId })
      else well.push(endpointId)
    }
    await troubleStore.saveTrouble(tx, sick, now)
    await troubleStore.heal(tx, well)
  })
}
