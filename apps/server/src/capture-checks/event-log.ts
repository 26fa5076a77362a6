import { createHash } from 'node:crypto'
import type { LaunchEvent, RiskFlagCode } from '@ostiary/contract'
import { CHAIN_START, eventText } from '@ostiary/crypto'
import { flagsOfEntry, type LogEntry } from './event-rules.ts'
import { CAPTURE_RULES } from './rules.ts'

/** The log of one device. Plain JSON, because it waits in the session's row between two calls. */
export interface LogState {
  /** The last entry: 0 and the chain's start when there is none. */
  seq: number
  hash: string
  entries: LogEntry[]
  /** How often the device's clock went back. */
  regressions: number
  /** Everything the log has shown so far, each once. */
  flags: RiskFlagCode[]
}

export function emptyLog(): LogState {
  return { seq: 0, hash: CHAIN_START, entries: [], regressions: 0, flags: [] }
}

/**
 * The log with further entries, and the flags that these raise anew. Entries that are already there change nothing, because
 * a device sends again what it does not know to have arrived. A fault is noted and the log goes on behind it: what it means
 * is decided when a capture is judged.
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
      // An entry of a gap that arrives late has no mark: the gap is noted already, and nothing can be checked any more.
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

/** Adds one entry to a log that is the caller's own. */
function append(log: LogState, event: LaunchEvent): RiskFlagCode[] {
  const { seq, t, type, n, hash } = event
  const flags: RiskFlagCode[] = []
  // Across a gap the chain cannot be followed: the entry that comes after it is taken as the new beginning.
  if (seq !== log.seq + 1) flags.push('BH_LOG_GAP')
  else if (hashOf(log.hash, event) !== hash) flags.push('BH_CHAIN_BROKEN')
  // A page that was loaded again has a new clock.
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

/** 66 bits of the hash. Who could find two entries with one mark could as well have chosen either from the start. */
function markOf(hash: string): string {
  return hash.slice(0, 11)
}
