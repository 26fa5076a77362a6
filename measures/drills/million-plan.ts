import type { Ending } from './lost-and-found.ts'

/**
 * What happens in which order. Everything follows from a slot's number, so a run can go on from its records alone.
 * - `outcome`: the sandbox's one call; `spoof` (area D): the same with a failure
 * - `device`: a simulated telephone plays the whole flow
 * - `expire`: nobody ever opens it; `silent`: the same without a callback, so it gives no event
 */
export type Way = 'outcome' | 'spoof' | 'cancel' | 'device' | 'expire' | 'silent'
type Area = 'C' | 'D'

interface Share {
  area: Area
  way: Way
  /** Of 200 slots. */
  count: number
  ending: Ending
}
/** Devices are few, because one costs as much as ten others. */
const SHARES: readonly Share[] = [
  { area: 'C', way: 'outcome', count: 96, ending: 'COMPLETED' },
  { area: 'C', way: 'expire', count: 48, ending: 'EXPIRED' },
  { area: 'C', way: 'cancel', count: 24, ending: 'CANCELLED' },
  { area: 'C', way: 'device', count: 4, ending: 'COMPLETED' },
  { area: 'C', way: 'silent', count: 4, ending: 'EXPIRED' },
  { area: 'D', way: 'outcome', count: 10, ending: 'SUCCEEDED' },
  { area: 'D', way: 'expire', count: 7, ending: 'EXPIRED' },
  { area: 'D', way: 'cancel', count: 4, ending: 'CANCELLED' },
  { area: 'D', way: 'spoof', count: 2, ending: 'FAILED' },
  { area: 'D', way: 'device', count: 1, ending: 'SUCCEEDED' },
]
const ROW = SHARES.flatMap((share) => Array.from({ length: share.count }, () => share))
const EVENTS_PER_ROW = ROW.filter(({ way }) => way !== 'silent').length
/** No common factor with the row's length: neighbours are of different kinds, and each place is visited once. */
const STRIDE = 77

export const RECEIVERS = 8
export const TENANTS = 4

export interface Slot {
  number: number
  area: Area
  way: Way
  receiver: number
  tenant: number
  /** How it ends unless something unforeseen happens. */
  ending: Ending
  hasEvent: boolean
  /** The webhook may contain a picture, which the read-back does not have. */
  sendsPicture: boolean
}

export function slotAt(number: number): Slot {
  const share = ROW[(number * STRIDE) % ROW.length]
  if (!share) throw new RangeError(`There is no slot ${number}`)
  const { area, way, ending } = share
  // Every receiver gets every kind in turn.
  const receiver = (number + Math.floor(number / ROW.length)) % RECEIVERS
  const tenant = receiver % TENANTS
  // A simulated device has no picture to send.
  const sendsPicture = area === 'D' && way !== 'device' && Math.floor(number / ROW.length) % 2 === 1
  return { number, area, way, ending, receiver, tenant, hasEvent: way !== 'silent', sendsPicture }
}

/** The number of slots that give so many events. */
export function slotsFor(events: number): number {
  let slots = Math.floor(events / EVENTS_PER_ROW) * ROW.length
  for (let found = Math.floor(events / EVENTS_PER_ROW) * EVENTS_PER_ROW; found < events; slots++) {
    if (slotAt(slots).hasEvent) found++
  }
  return slots
}

export const KINDS = ['worker', 'api', 'postgres'] as const
export type Kind = (typeof KINDS)[number]
export const STEPS = ['creation', 'device', 'end', 'delivery', 'sweep'] as const
export type Step = (typeof STEPS)[number]

export interface PlannedKill {
  kind: Kind
  step: Step
  /** So many events are acknowledged when it comes. */
  atEvents: number
}

/** Kinds and steps in turn: after fifteen kills each kind was killed at each step. */
export function killAt(number: number, { kills, events }: { kills: number; events: number }): PlannedKill | undefined {
  const [kind, step] = [KINDS[number % KINDS.length], STEPS[number % STEPS.length]]
  if (number >= kills || !kind || !step) return undefined
  return { kind, step, atEvents: Math.floor(((number + 0.5) * events) / kills) }
}

/** A process of receivers dies at two of five kills' distance; these deaths are not among the kills. */
export function receiverDeaths(kills: number): number {
  return Math.max(1, Math.round(kills * 0.4))
}

const LIFETIME_SECONDS_MIN = 60
const BURST_SECONDS = 30

/** Sessions that expire do so in bursts, twice a minute, so that a kill at such a moment meets a sweeper at work. */
export function lifetimeUntilBurst(nowMs: number): number {
  const intoBurst = Math.floor(nowMs / 1000) % BURST_SECONDS
  return LIFETIME_SECONDS_MIN + ((BURST_SECONDS - intoBurst) % BURST_SECONDS)
}

/** All lifetimes that such a session may have been given, the one of this moment first. */
export function lifetimesOfBursts(nowMs: number): number[] {
  return Array.from({ length: BURST_SECONDS }, (_, seconds) => lifetimeUntilBurst(nowMs - seconds * 1000))
}

/** How long until the next second in which a burst expires. */
export function untilBurstMs(nowMs: number): number {
  const burstMs = BURST_SECONDS * 1000
  return (burstMs - (nowMs % burstMs)) % burstMs
}
