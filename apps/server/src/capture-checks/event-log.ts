import { hash } from 'node:crypto'
import type { LaunchEvent, RiskFlagCode, SealedLog } from '@ostiary/contract'
import { CHAIN_START, eventText } from '@ostiary/crypto'
import { flagsOfEntry, type LogEntry } from './event-rules.ts'
import { CAPTURE_RULES } from './rules.ts'

/** The log of one device. Plain JSON, because the session's row stores it between two calls. */
export interface LogState {
  /** The number of the last entry; 0 for an empty log. */
  seq: number
  hash: string
  entries: LogEntry[]
  /** How often the device's clock went back. */
  regressions: number
  /** All flags that the log has raised so far, each once. */
  flags: RiskFlagCode[]
}

export function emptyLog(): LogState {
  return { seq: 0, hash: CHAIN_START, entries: [], regressions: 0, flags: [] }
}

/** An entry as it arrives: alone with its hash, or inside a sealed payload, where only the last one has it. */
export type NewEvent = Omit<LaunchEvent, 'hash'> & { hash?: string }

/** The entries inside a sealed payload. Their chain has to lead to the hash that the payload names, so they need none of their own. */
export function sealedEvents({ seq, hash, events = [] }: SealedLog): NewEvent[] {
  return events.map(([t, type, n], at) => {
    const after = events.length - 1 - at
    return { seq: seq - after, t, type, ...(n !== undefined && { n }), ...(after === 0 && { hash }) }
  })
}

/**
 * Appends entries to the log, and returns it with the flags that these entries raise for the first time. Entries that the log has
 * already change nothing, because a device sends again what may not have arrived. A fault raises a flag, and the log continues
 * after it: `judgeCapture` decides what the fault means.
 */
export function appendEvents(
  log: LogState,
  events: readonly NewEvent[],
  { maxEvents }: { maxEvents: number },
): { log: LogState; flags: RiskFlagCode[] } {
  const known = new Map(log.entries.map((entry) => [entry.seq, entry]))
  const raised = new Set<RiskFlagCode>()
  const next: LogState = { ...log, entries: [...log.entries] }
  for (const event of events) {
    if (event.seq <= next.seq) {
      const entry = known.get(event.seq)
      // A late entry that belongs into a gap is not known. The gap is flagged already, and the entry cannot be checked any more.
      if (entry && !isSame(entry, event)) raised.add('BH_CHAIN_BROKEN')
      continue
    }
    if (next.entries.length >= maxEvents) {
      raised.add('BH_LOG_GAP')
      break
    }
    const { entry, flags } = append(next, event)
    for (const flag of flags) raised.add(flag)
    known.set(event.seq, entry)
  }
  const flags = [...raised].filter((flag) => !log.flags.includes(flag))
  return { log: { ...next, flags: [...log.flags, ...flags] }, flags }
}

/** Adds one entry. Changes `log`, which must be the caller's own copy. */
function append(log: LogState, event: NewEvent): { entry: LogEntry; flags: RiskFlagCode[] } {
  const { seq, t, type, n } = event
  const flags: RiskFlagCode[] = []
  const isNext = seq === log.seq + 1
  // The chain cannot be checked across a gap, so the first entry after the gap that has a hash starts a new chain.
  const computed = isNext && log.hash !== NO_HASH ? hashOf(log.hash, event) : undefined
  const hash = event.hash ?? computed ?? NO_HASH
  if (!isNext) flags.push('BH_LOG_GAP')
  else if (computed !== undefined && computed !== hash) flags.push('BH_CHAIN_BROKEN')
  // A page that was reloaded has a new clock.
  if (t < (log.entries.at(-1)?.t ?? 0) && type !== 'page_open') log.regressions++
  if (log.regressions > CAPTURE_RULES.regressionsMax) flags.push('BH_TIME_REGRESSION')
  const entry: LogEntry = { seq, t, type, ...(n === undefined ? {} : { n }), mark: markOf(hash) }
  flags.push(...flagsOfEntry(log.entries, entry))
  log.entries.push(entry)
  log.seq = seq
  log.hash = hash
  return { entry, flags }
}

/** Of an entry after a gap that came without a hash. */
const NO_HASH = ''

/** Whether an entry comes again as it was. One of the two may have no hash. */
function isSame({ t, type, n, mark }: LogEntry, event: NewEvent): boolean {
  const hashesDiffer = event.hash !== undefined && mark !== NO_HASH && mark !== markOf(event.hash)
  return t === event.t && type === event.type && n === event.n && !hashesDiffer
}

function hashOf(previousHash: string, event: NewEvent): string {
  return hash('sha256', eventText(previousHash, event), 'base64url')
}

/** 66 bits of the hash. A forger who could find two entries with the same mark could as well have sent either from the start. */
function markOf(hash: string): string {
  return hash.slice(0, 11)
}
