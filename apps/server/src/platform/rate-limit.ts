import { BURST_SECONDS } from '@ostiary/contract'
import { takeRandom } from './random.ts'

export interface RateVerdict {
  allowed: boolean
  /** Requests that may be sent right now. */
  remaining: number
  /** Seconds until the full burst is available again. */
  resetSeconds: number
  retryAfterSeconds: number
}

/** One of several names that a request counts against, and how many times the rate it has. */
export interface Share {
  name: string
  factor: number
}

export interface TableSizes {
  /** Callers with an entry of their own. */
  callers: number
  /** Requests since the start whose caller had to share a slot, because the table was full. */
  overflowed: number
  /** Entries looked at since the start to make room for others: what a full table costs. */
  lookedAt: number
}

/**
 * Generic cell rate algorithm: one number per caller, the time at which the caller has its full burst again. A caller may
 * use up BURST_SECONDS of its rate at once, or the burst that the call names. Kept in memory per process: with N processes a caller
 * can reach N times the rate. Limits that matter for security are also counted in the database (failure-limits).
 */
export interface RateLimiter {
  /** Counts a request. One with several names must be within the rate of all of them, and is counted against none otherwise. */
  take(who: string | readonly Share[], perSecond: number, nowMs: number, burstSeconds?: number): RateVerdict
  /** Seconds to wait before a request would be allowed; 0 when it is allowed now. Does not count as a request. */
  wait(who: string | readonly Share[], perSecond: number, nowMs: number, burstSeconds?: number): number
  /** Counts what others have counted: the caller owes at least so much. */
  raise(name: string, owedMs: number, nowMs: number): void
  /** How long it takes until nothing is owed any more, in milliseconds. */
  owed(name: string, nowMs: number): number
  /** Adds to what is owed, whatever was owed before. Without room it is left out. */
  owe(name: string, owedMs: number, nowMs: number): void
  sizes(): TableSizes
}

const MOST_CALLERS = 50_000
/** Entries that a new caller looks at when the table is full. More would let strangers slow everybody down. */
const LOOK_AT = 32
const SLOTS = 1_024

/**
 * When the table is full, a new caller looks at the 32 oldest entries and takes the place of one that owes nothing. If all of them owe,
 * nobody is forgotten, because a forgotten caller would have a fresh burst: the new caller counts in one of 1,024 slots, whose
 * allowance it shares with the others that fall into it. So strangers can fill the table and be refused early, and that is all.
 */
export function createRateLimiter(maxCallers = MOST_CALLERS): RateLimiter {
  const paidBackAt = new Map<string, number>()
  /** By rate, because callers with different rates cannot share a number. The rates are a handful of constants. */
  const slots = new Map<string, Float64Array>()
  // Nobody can choose names that fall into the slot of somebody else.
  const seed = takeRandom(4).readUInt32LE(0)
  let overflowed = 0
  let lookedAt = 0

  function findRoom(nowMs: number): boolean {
    if (paidBackAt.size < maxCallers) return true
    const oldest: [string, number][] = []
    for (const entry of paidBackAt) {
      oldest.push(entry)
      if (oldest.length === LOOK_AT) break
    }
    lookedAt += oldest.length
    for (const [name, time] of oldest) {
      paidBackAt.delete(name)
      // Those who owe move to the end, so that the next new caller looks at others.
      if (time > nowMs) paidBackAt.set(name, time)
    }
    return paidBackAt.size < maxCallers
  }

  function slotsOf(perSecond: number, burstSeconds: number): Float64Array {
    const rate = `${perSecond}/${burstSeconds}`
    const known = slots.get(rate)
    if (known) return known
    const made = new Float64Array(SLOTS)
    slots.set(rate, made)
    return made
  }

  function read(name: string, perSecond: number, burstSeconds: number): number {
    const own = paidBackAt.get(name)
    if (own !== undefined || slots.size === 0) return own ?? 0
    // The caller may have been counted here while the table was full.
    return slots.get(`${perSecond}/${burstSeconds}`)?.[slotFor(name, seed)] ?? 0
  }

  function write(name: string, time: number, { perSecond, burstSeconds, nowMs }: Asked): void {
    if (paidBackAt.has(name) || findRoom(nowMs)) {
      paidBackAt.set(name, time)
      return
    }
    overflowed++
    slotsOf(perSecond, burstSeconds)[slotFor(name, seed)] = time
  }

  function look(name: string, factor: number, { perSecond, burstSeconds, nowMs }: Asked): Look {
    const cost = 1000 / (perSecond * factor)
    const ahead = burstSeconds * 1000
    const base = Math.max(read(name, perSecond, burstSeconds), nowMs)
    const next = base + cost
    // Five microseconds of tolerance: sums of fractions must not refuse the last request of a burst.
    return { name, cost, ahead, base, next, allowed: next - nowMs <= ahead + 0.005 }
  }

  const waitOf = ({ allowed, next, ahead }: Look, nowMs: number) =>
    allowed ? 0 : Math.max(1, Math.ceil((next - ahead - nowMs) / 1000))

  function verdictOf(one: Look, allowed: boolean, nowMs: number): RateVerdict {
    const owed = (allowed ? one.next : one.base) - nowMs
    return {
      allowed,
      remaining: Math.max(0, Math.floor((one.ahead - owed) / one.cost + 1e-6)),
      resetSeconds: Math.ceil(owed / 1000),
      retryAfterSeconds: waitOf(one, nowMs),
    }
  }

  /** The strictest of them. */
  function takeAll(shares: readonly Share[], asked: Asked): RateVerdict {
    const looks = shares.map((share) => look(share.name, share.factor, asked))
    const allowed = looks.every((one) => one.allowed)
    if (allowed) for (const { name, next } of looks) write(name, next, asked)
    const verdicts = looks.map((one) => verdictOf(one, allowed, asked.nowMs))
    return {
      allowed,
      remaining: Math.min(...verdicts.map(({ remaining }) => remaining)),
      resetSeconds: Math.max(...verdicts.map(({ resetSeconds }) => resetSeconds)),
      retryAfterSeconds: Math.max(...verdicts.map(({ retryAfterSeconds }) => retryAfterSeconds)),
    }
  }

  return {
    take(who, perSecond, nowMs, burstSeconds = BURST_SECONDS) {
      const asked = { perSecond, burstSeconds, nowMs }
      if (typeof who !== 'string') return takeAll(who, asked)
      const one = look(who, 1, asked)
      if (one.allowed) write(who, one.next, asked)
      return verdictOf(one, one.allowed, nowMs)
    },
    wait(who, perSecond, nowMs, burstSeconds = BURST_SECONDS) {
      const asked = { perSecond, burstSeconds, nowMs }
      const shares = typeof who === 'string' ? [{ name: who, factor: 1 }] : who
      return Math.max(...shares.map(({ name, factor }) => waitOf(look(name, factor, asked), nowMs)))
    },
    raise(name, owedMs, nowMs) {
      const time = nowMs + owedMs
      // Without room it is left out: the next count brings it again.
      if (time > (paidBackAt.get(name) ?? 0) && (paidBackAt.has(name) || findRoom(nowMs))) paidBackAt.set(name, time)
    },
    owed: (name, nowMs) => Math.max(0, (paidBackAt.get(name) ?? 0) - nowMs),
    owe(name, owedMs, nowMs) {
      const time = Math.max(paidBackAt.get(name) ?? 0, nowMs) + owedMs
      if (paidBackAt.has(name) || findRoom(nowMs)) paidBackAt.set(name, time)
    },
    sizes: () => ({ callers: paidBackAt.size, overflowed, lookedAt }),
  }
}

interface Asked {
  perSecond: number
  burstSeconds: number
  nowMs: number
}

/** One caller at the time of a request: what is owed before (`base`) and after it (`next`), as times, and the most that may be owed. */
interface Look {
  name: string
  cost: number
  ahead: number
  base: number
  next: number
  allowed: boolean
}

/** FNV-1a: spreads names evenly, which is all that is needed here. */
function slotFor(name: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return (hash >>> 8) % SLOTS
}
