/** Event logs that a person at the launch page does not leave, each submitted with a good capture. Only tests import this. */
import type { CapturePayload, Challenge, LaunchEvent } from '@ostiary/contract'
import { SPOOFS } from '@ostiary/device/simulated'
import { CAPTURE_AT_MS, type Changes, type Moment } from './capture.ts'
import { type FalseSubmission, inconclusive, injected, spoof } from './capture-mutations.ts'

const NO_CAPTURE = 'BH_RESULT_NO_CAPTURE'

/** Changes what happened, before the log of it is numbered and chained. */
const withMoments = (change: (moments: Moment[], challenge: Challenge) => Moment[]): Changes => ({ moments: change })
const without = (type: Moment['type']) => withMoments((moments) => moments.filter((moment) => moment.type !== type))

/** Changes the number and hash of the last log entry that the sealed payload names. */
const withNamedEntry = (
  change: (named: CapturePayload['log'], events: readonly LaunchEvent[]) => CapturePayload['log'],
): Changes => ({
  payload: (payload, _, events) => ({ ...payload, log: change(payload.log, events) }),
})

/** A gap is no proof of an attack, and gives no verdict. */
const cut = (name: string, changes: Changes): FalseSubmission => ({
  ...inconclusive(name, changes),
  flags: ['BH_LOG_GAP'],
})

/** Changes one entry of the finished log and leaves the hash chain as it was. */
const withEntry = (index: number, change: Partial<LaunchEvent>): Changes => ({
  events: (events) => events.map((event, at) => (at === index ? { ...event, ...change } : event)),
})

const NOTHING_SENT = injected('no log', NO_CAPTURE, { events: () => [] })

/** Something else is sent than was logged. */
const SENT: FalseSubmission[] = [
  NOTHING_SENT,
  injected('a log of which only the first nine entries are sent', NO_CAPTURE, {
    events: (events) => events.slice(0, 9),
  }),
  injected('a log without its last entry', NO_CAPTURE, { events: (events) => events.slice(0, -1) }),
  injected(
    'a log with one more entry than when the payload was sealed',
    NO_CAPTURE,
    withNamedEntry(({ seq }, events) => ({ seq: seq - 1, hash: events[seq - 2]?.hash ?? '' })),
  ),
  injected(
    'a payload that names too low a number for the last log entry',
    NO_CAPTURE,
    withNamedEntry(({ seq, hash }) => ({ seq: seq - 1, hash })),
  ),
  injected(
    'a payload that names too high a number for the last log entry',
    NO_CAPTURE,
    withNamedEntry(({ seq, hash }) => ({ seq: seq + 1, hash })),
  ),
  injected(
    'a payload that names the hash of another log',
    NO_CAPTURE,
    withNamedEntry(({ seq }) => ({ seq, hash: 'x'.repeat(43) })),
  ),
]

/** What was logged tells of no capture. */
const WITHOUT_CAPTURE: FalseSubmission[] = [
  injected('no challenge in the log', NO_CAPTURE, without('challenge_received')),
  injected('no end of the capture in the log', NO_CAPTURE, without('capture_done')),
  injected('no running camera in the log', NO_CAPTURE, without('camera_ready')),
  injected('nothing of the capture in the log', NO_CAPTURE, spoof(SPOOFS.nocapture)),
  injected(
    'the log of another attempt',
    NO_CAPTURE,
    withMoments((moments) =>
      moments.map((moment) => (moment.type === 'challenge_received' ? { ...moment, n: 2 } : moment)),
    ),
  ),
  injected(
    'a log that does not name its attempt',
    NO_CAPTURE,
    withMoments((moments) =>
      moments.map(({ type, t, n }) =>
        type === 'challenge_received' || n === undefined ? { type, t } : { type, t, n },
      ),
    ),
  ),
  injected(
    'a camera that starts after the challenge',
    NO_CAPTURE,
    withMoments((moments) => [
      ...moments.filter(({ type }) => type !== 'camera_ready'),
      { type: 'camera_ready', t: 99_000 },
    ]),
  ),
  injected(
    'a capture that ended before its last frame',
    NO_CAPTURE,
    withMoments((moments) =>
      moments.map((moment) => (moment.t > CAPTURE_AT_MS + 900 ? { ...moment, t: CAPTURE_AT_MS + 900 } : moment)),
    ),
  ),
  injected(
    'a retake after the capture',
    NO_CAPTURE,
    withMoments((moments) => [...moments, { type: 'retake', t: 99_000 }]),
  ),
  injected(
    'another challenge after the capture',
    NO_CAPTURE,
    withMoments((moments) => [...moments, { type: 'challenge_received', t: 99_000, n: 1 }]),
  ),
]

const BROKEN = 'BH_CHAIN_BROKEN'
const WRONG_HASH = 'y'.repeat(43)
const HASHES: FalseSubmission[] = [
  injected('a wrong hash at the beginning', BROKEN, withEntry(0, { hash: WRONG_HASH })),
  injected('a wrong hash in the middle', BROKEN, withEntry(7, { hash: WRONG_HASH })),
  injected('a wrong hash at the end', BROKEN, {
    events: (events) => events.map((event) => (event.seq === events.length ? { ...event, hash: WRONG_HASH } : event)),
  }),
  injected('an entry sent twice with different content', BROKEN, {
    events: (events) => events.flatMap((event, at) => (at === 4 ? [event, { ...event, hash: WRONG_HASH }] : [event])),
  }),
  injected('every hash the same', BROKEN, {
    events: (events) => events.map((event) => ({ ...event, hash: WRONG_HASH })),
  }),
]

/** Whether the entries carry their hashes or the service computes them makes no difference. */
const CHANGED: FalseSubmission[] = [
  injected('a time that was changed', BROKEN, withEntry(3, { t: 4_401 })),
  injected('a type that was changed', BROKEN, withEntry(3, { type: 'tab_visible' })),
  injected("a movement's number that was changed", BROKEN, withEntry(6, { n: 3 })),
  injected('two entries that swapped everything but their sequence numbers', BROKEN, {
    events: (events) =>
      events.map((event, at) => ({ ...(events[at === 1 ? 2 : at === 2 ? 1 : at] ?? event), seq: event.seq })),
  }),
]

const LATENCY = 'BH_CHALLENGE_LATENCY'
/** Sets the time from `movement_shown` to `movement_seen`, for each movement by its number (1 to 3). */
const withReactionTimes = (reactionMs: (movementNumber: number) => number): Changes =>
  withMoments((moments) =>
    moments
      .map((moment) => {
        const shown = moments.find(({ type, n }) => type === 'movement_shown' && n === moment.n)
        return moment.type === 'movement_seen' && shown ? { ...moment, t: shown.t + reactionMs(moment.n ?? 0) } : moment
      })
      .toSorted((a, b) => a.t - b.t),
  )

const LATENCIES: FalseSubmission[] = [
  injected('a program that reacts after exactly 400 ms', LATENCY, spoof(SPOOFS.robot)),
  injected(
    'every movement seen 600 ms after it was shown',
    LATENCY,
    withReactionTimes(() => 600),
  ),
  injected(
    'reaction times that differ by one millisecond',
    LATENCY,
    withReactionTimes((number) => (number === 2 ? 401 : 400)),
  ),
  injected(
    'all reactions faster than a human',
    LATENCY,
    withReactionTimes((number) => 90 + number * 10),
  ),
  injected(
    'one reaction faster than a human',
    LATENCY,
    withReactionTimes((number) => (number === 2 ? 20 : 300 + number * 50)),
  ),
  injected(
    'a movement seen before it was shown',
    LATENCY,
    withReactionTimes((number) => (number === 2 ? -200 : 300 + number * 50)),
  ),
  injected(
    'a movement seen more than three seconds after it was shown',
    LATENCY,
    withReactionTimes((number) => (number === 1 ? 3_100 : 300 + number * 50)),
  ),
  injected(
    'a movement that was seen but never shown',
    LATENCY,
    withMoments((moments) => moments.filter(({ type, n }) => type !== 'movement_shown' || n !== 2)),
  ),
]

/** It happens to one person in some thousands, so it costs an attempt but is not judged as an attack. */
export const DOUBTFUL: FalseSubmission = inconclusive(
  'reaction times that differ by four milliseconds',
  withReactionTimes((number) => 400 + number * 2),
)

/** Entries inside the payload have no numbers and hashes of their own: these follow from those of the last one, which it names. */
const INSIDE: FalseSubmission[] = [
  NOTHING_SENT,
  injected(
    'inside: the hash of another log',
    BROKEN,
    withNamedEntry(({ seq }) => ({ seq, hash: WRONG_HASH })),
  ),
  injected(
    'inside: the hash of the last entry but one',
    BROKEN,
    withNamedEntry(({ seq }, events) => ({ seq, hash: events[seq - 2]?.hash ?? '' })),
  ),
  injected('inside: an entry left out and another one put in', BROKEN, {
    events: (events) => events.flatMap((event) => (event.seq === 3 ? [] : event.seq === 8 ? [event, event] : [event])),
  }),
  injected('inside: only the first nine entries', NO_CAPTURE, { events: (events) => events.slice(0, 9) }),
  cut('inside: all entries but the first', { events: (events) => events.slice(1) }),
  cut('inside: all entries but the last', { events: (events) => events.slice(0, -1) }),
  cut(
    'inside: too high a number for the last entry',
    withNamedEntry(({ seq, hash }) => ({ seq: seq + 1, hash })),
  ),
]

/** Sent before the payload, with their hashes. */
export const LOG_MUTATIONS: readonly FalseSubmission[] = [
  SENT,
  WITHOUT_CAPTURE,
  HASHES,
  CHANGED,
  LATENCIES,
  [DOUBTFUL],
].flat()
/** Sent inside the payload. */
export const INSIDE_MUTATIONS: readonly FalseSubmission[] = [
  WITHOUT_CAPTURE,
  CHANGED,
  LATENCIES,
  [DOUBTFUL],
  INSIDE,
].flat()
