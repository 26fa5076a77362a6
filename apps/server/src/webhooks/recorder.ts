import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { isAway, logFailure } from '../platform/reachability.ts'
import { type BreakerState, nextBreakerState, type Sign, signOf } from './breaker.ts'
import { breakerStore, type EndpointBreaker } from './breaker-store.ts'
import { type Completion, queueStore } from './queue-store.ts'

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
const COLLECT_MS = 50
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
  let writing: Promise<boolean> | undefined
  let isLast = false

  function schedule(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void write()
    }, delayMs)
  }

  /** Stores one batch at a time, so that the state of a receiver changes in the order of its answers. Returns whether it was stored. */
  function write(): Promise<boolean> {
    writing ??= writeBatch().finally(() => {
      writing = undefined
    })
    return writing
  }

  async function writeBatch(): Promise<boolean> {
    const batch = waiting.splice(0, BATCH_MAX)
    if (batch.length === 0) return true
    let retryMs = 0
    try {
      await save(db, batch, clock.now())
    } catch (err) {
      logFailure(log, 'warn', { err, count: batch.length }, 'attempts of webhooks could not be stored')
      if (!isLast) waiting = [...batch, ...waiting]
      retryMs = isAway(err) ? RETRY_AWAY_MS : RETRY_MS
    }
    if (waiting.length > 0) schedule(retryMs)
    return retryMs === 0
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
        if (!(await write())) await new Promise((done) => setTimeout(done, RETRY_MS))
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
  const { healthy, failing } = sortEndpoints(batch)
  await queueStore.complete(db, batch, [...healthy])
  if (failing.size > 0) await saveBreakers(db, failing, now)
}

interface Signal {
  sign: Sign
  probe: boolean
}

/** Receivers that only answered are healthy, whatever their stored state. For the others the stored state must be read. */
function sortEndpoints(batch: readonly Ended[]): { healthy: Set<string>; failing: Map<string, [Ended, Signal[]]> } {
  const healthy = new Set<string>()
  const failing = new Map<string, [Ended, Signal[]]>()
  for (const ended of batch) {
    const { endpointId } = ended.claim
    const signal = { sign: signOf(ended.outcome), probe: ended.probe }
    const signals = failing.get(endpointId)
    if (signals) signals[1].push(signal)
    else if (signal.sign === 'alive') healthy.add(endpointId)
    else if (signal.sign === 'failing' || signal.probe) {
      const before: Signal[] = healthy.delete(endpointId) ? [{ sign: 'alive', probe: false }] : []
      failing.set(endpointId, [ended, [...before, signal]])
    }
  }
  return { healthy, failing }
}

function saveBreakers(db: Db, failing: ReadonlyMap<string, [Ended, Signal[]]>, now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    const claims = new Map([...failing].map(([id, [{ claim }]]) => [id, claim]))
    const stillFailing: EndpointBreaker[] = []
    const healthy: string[] = []
    for (const before of await breakerStore.lockStates(tx, claims, now)) {
      const { endpointId } = before
      const [, signals] = failing.get(endpointId) ?? [undefined, []]
      const after = signals.reduce<BreakerState | undefined>(
        (state, signal) => nextBreakerState(state, { ...signal, now }),
        before.failures === 0 ? undefined : before,
      )
      if (after) stillFailing.push({ ...after, endpointId })
      else healthy.push(endpointId)
    }
    await breakerStore.saveStates(tx, stillFailing, now)
    await breakerStore.deleteStates(tx, healthy)
  })
}
