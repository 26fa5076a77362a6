import type { LaunchEventType, RiskFlagCode } from '@ostiary/contract'
import { CAPTURE_RULES } from './rules.ts'

export interface LogEntry {
  seq: number
  t: number
  type: LaunchEventType
  n?: number
  /** The first characters of its hash: enough to recognise the entry. */
  mark: string
}

type Entries = readonly LogEntry[]

/** The flags that one more entry raises, given the entries before it. */
export function flagsOfEntry(earlier: Entries, entry: LogEntry): RiskFlagCode[] {
  const flags: RiskFlagCode[] = []
  if (!isInOrder(earlier, entry)) flags.push('BH_STEP_ORDER')
  if (isTooFast(earlier, entry)) flags.push('BH_TOO_FAST')
  if (isInstantAfterIdle(earlier, entry)) flags.push('BH_TOO_SLOW')
  if (isHiddenInCapture(earlier, entry)) flags.push('BH_TAB_HIDDEN')
  if (isRetakeTooMany(earlier, entry)) flags.push('BH_RETRY_EXCESS')
  return flags
}

/** The entries of the current try: those since the last challenge, or none after a retake was requested. */
export function currentTry(entries: Entries): Entries {
  const start = entries.findLastIndex(({ type }) => type === 'challenge_received' || type === 'retake')
  return entries[start]?.type === 'challenge_received' ? entries.slice(start) : []
}

/** The entries of the current document: those since the page was opened. A reload forgets what was read before it. */
export function currentDocument(entries: Entries): Entries {
  return entries.slice(
    Math.max(
      0,
      entries.findLastIndex(({ type }) => type === 'page_open'),
    ),
  )
}

/** The event that must come somewhere before an event. A reloaded page does not ask for consent again. */
const AFTER: Partial<Record<LaunchEventType, LaunchEventType>> = {
  consent_shown: 'page_open',
  consent_given: 'consent_shown',
  camera_requested: 'consent_given',
  camera_ready: 'camera_requested',
  challenge_received: 'camera_ready',
  document_shown: 'camera_ready',
  retake: 'challenge_received',
  tab_hidden: 'page_open',
  tab_visible: 'page_open',
  failure: 'page_open',
}

export function isInOrder(earlier: Entries, { type, n }: LogEntry): boolean {
  const started = currentTry(earlier)
  const has = (wanted: LaunchEventType) => started.some((entry) => entry.type === wanted)
  const step = (wanted: LaunchEventType, number: number | undefined) =>
    started.some((entry) => entry.type === wanted && entry.n === number)
  switch (type) {
    case 'movement_shown':
      return started.length > 0 && !has('capture_done') && !step('movement_shown', n) && isNextStep(started, n)
    case 'movement_seen':
      return step('movement_shown', n) && !has('capture_done') && !step('movement_seen', n)
    case 'capture_done':
      return started.length > 0 && !has('capture_done')
    case 'submit':
      return has('capture_done')
    case 'document_read':
      return currentDocument(earlier).some((entry) => entry.type === 'document_shown' && entry.n === n)
    case 'document_confirmed':
      return currentDocument(earlier).some((entry) => entry.type === 'document_read')
    default: {
      const needed = AFTER[type]
      return needed === undefined || earlier.some((entry) => entry.type === needed)
    }
  }
}

function isNextStep(started: Entries, n: number | undefined): boolean {
  return n === started.filter(({ type }) => type === 'movement_shown').length + 1
}

/** No person reads and answers, or opens a page and performs three movements, in so short a time. */
export function isTooFast(earlier: Entries, { type, t }: LogEntry): boolean {
  const since = (wanted: LaunchEventType, leastMs: number) => {
    const start = earlier.findLast((entry) => entry.type === wanted)
    return start !== undefined && t - start.t < leastMs
  }
  if (type === 'consent_given') return since('consent_shown', CAPTURE_RULES.consentMsMin)
  return type === 'capture_done' && since('page_open', CAPTURE_RULES.captureMsMin)
}

/** No event for minutes, and then a submit as the first event or right after it. */
export function isInstantAfterIdle(earlier: Entries, entry: LogEntry): boolean {
  if (entry.type !== 'submit') return false
  const all = [...earlier, entry]
  const woke = all.findLastIndex(({ t }, index) => t - (all[index - 1]?.t ?? t) > CAPTURE_RULES.idleMs)
  return woke >= 0 && entry.t - (all[woke]?.t ?? 0) <= CAPTURE_RULES.instantMs
}

/** After these events the camera records nothing until the next challenge. */
const ENDS_CAPTURE: ReadonlySet<LaunchEventType> = new Set<LaunchEventType>(['capture_done', 'failure', 'page_open'])

/** The tab was hidden during a capture, or the capture began while it was hidden. */
export function isHiddenInCapture(earlier: Entries, { type }: LogEntry): boolean {
  if (type === 'tab_hidden') {
    const started = currentTry(earlier)
    return started.length > 0 && !started.some(({ type }) => ENDS_CAPTURE.has(type))
  }
  const visibility = earlier.findLast((entry) => entry.type === 'tab_hidden' || entry.type === 'tab_visible')
  return type === 'challenge_received' && visibility?.type === 'tab_hidden'
}

function isRetakeTooMany(earlier: Entries, { type }: LogEntry): boolean {
  return type === 'retake' && earlier.filter((entry) => entry.type === 'retake').length >= CAPTURE_RULES.retakesMax
}
