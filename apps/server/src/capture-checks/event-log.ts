import { createHash } from 'node:crypto'
import type { LaunchEvent, RiskFlagCode } from '@ostiary/contract'
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

/**
 * Appends entries to the log, and returns it with the flags that these entries raise for the first time. Entries that the log has
 * already change nothing, because a device sends again what may not have arrived. A fault raises a flag, and the log continues
 * after it: `judgeCapture` decides what the fault means.
 */
export function appendEvents(
  log: LogState,
  events: readonly LaunchEvent[],
  { maxEvents }: { maxEvents: number },
): { log: LogState; flags: RiskFlagCode[] } {
  const known = new Map(log.entries.map(({ seq, mark }) => [seq, mark]))
  const raised = new Set<RiskFlagCode>()
  const next: LogState = { ...log, entries: [...log.entries] }
  for (const event of events) {
    if (event.seq <= next.seq) {
      const mark = known.get(event.seq)
      // A late entry that belongs into a gap has no mark. The gap is flagged already, and the entry cannot be checked any more.
      if (mark !== undefined && mark !== markOf(event.hash)) raised.add('BH_CHAIN_BROKEN')
      continue
    }
    if (next.entries.length >= maxEvents) {
      raised.add('BH_LOG_GAP')
      break
    }
    for (const flag of append(next, event)) raised.add(flag)
    known.set(event.seq, markOf(event.hash))
  }
  const flags = [...raised].filter((flag) => !log.flags.includes(flag))
  return { log: { ...next, flags: [...log.flags, ...flags] }, flags }
}

/** Adds one entry. Changes `log`, which must be the caller's own copy. */
function append(log: LogState, event: LaunchEvent): RiskFlagCode[] {
  const { seq, t, type, n, hash } = event
  const flags: RiskFlagCode[] = []
  // The chain cannot be checked across a gap, so the entry after the gap starts a new chain.
  if (seq !== log.seq + 1) flags.push('BH_LOG_GAP')
  else if (hashOf(log.hash, event) !== hash) flags.push('BH_CHAIN_BROKEN')
  // A page that was reloaded has a new clock.
  if (t < (log.entries.at(-1)?.t ?? 0) && type !== 'page_open') log.regressions++
  if (log.regressions > CAPTURE_RULES.regressionsMax) flags.push('BH_TIME_REGRESSION')
  const entry: LogEntry = { seq, t, type, ...(n === undefined ? {} : { n }), mark: markOf(hash) }
  flags.push(...flagsOfEntry(log.entries, entry))
  log.entries.push(entry)
  log.seq = seq
  log.hash = hash
  return flags
}

function hashOf(previousHash: string, event: LaunchEvent): string {
  return createHash('sha256').update(eventText(previousHash, event)).digest('base64url')
}

/** 66 bits of the hash. A forger who could find two entries with the same mark could as well have sent either from the start. */
function markOf(hash: string): string {
  return hash.slice(0, 11)
}
