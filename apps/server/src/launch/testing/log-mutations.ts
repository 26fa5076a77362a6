/** Logs that our page never writes, with a good capture. Only tests import this. */
import type { CapturePayload, Challenge, LaunchEvent } from '@ostiary/contract'
import { SPOOFS } from '@ostiary/device/simulated'
import { CAPTURE_AT_MS, type Changes, type Moment } from './capture.ts'
import { inconclusive, injected, type Judged, spoof } from './capture-mutations.ts'

const NO_CAPTURE = 'BH_RESULT_NO_CAPTURE'
const moments = (change: (moments: Moment[], challenge: Challenge) => Moment[]): Changes => ({ moments: change })
const without = (type: Moment['type']) => moments((all) => all.filter((one) => one.type !== type))
const log = (
  change: (log: CapturePayload['log'], events: readonly LaunchEvent[]) => CapturePayload['log'],
): Changes => ({
  payload: (claimed, _, events) => ({ ...claimed, log: change(claimed.log, events) }),
})
const entry = (at: number, change: Partial<LaunchEvent>): Changes => ({
  events: (all) => all.map((one, index) => (index === at ? { ...one, ...change } : one)),
})

const LOG: Judged[] = [
  injected('no log', NO_CAPTURE, { events: () => [] }),
  injected('a log that was begun and not ended', NO_CAPTURE, { events: (all) => all.slice(0, 9) }),
  injected('the end of the log held back', NO_CAPTURE, { events: (all) => all.slice(0, -1) }),
  injected(
    'a log that went on after sealing',
    NO_CAPTURE,
    log(({ seq }, events) => ({ seq: seq - 1, hash: events[seq - 2]?.hash ?? '' })),
  ),
  injected(
    'a log that is ahead of the payload',
    NO_CAPTURE,
    log(({ seq, hash }) => ({ seq: seq - 1, hash })),
  ),
  injected(
    'a log that is behind the payload',
    NO_CAPTURE,
    log(({ seq, hash }) => ({ seq: seq + 1, hash })),
  ),
  injected(
    'the hash of another log',
    NO_CAPTURE,
    log(({ seq }) => ({ seq, hash: 'x'.repeat(43) })),
  ),
  injected('no challenge in the log', NO_CAPTURE, without('challenge_received')),
  injected('no end of the capture in the log', NO_CAPTURE, without('capture_done')),
  injected('no running camera in the log', NO_CAPTURE, without('camera_ready')),
  injected('nothing of the capture in the log', NO_CAPTURE, spoof(SPOOFS.nocapture)),
  injected(
    'the log of another try',
    NO_CAPTURE,
    moments((all) => all.map((one) => (one.type === 'challenge_received' ? { ...one, n: 2 } : one))),
  ),
  injected(
    'the log of no try',
    NO_CAPTURE,
    moments((all) =>
      all.map(({ type, t, n }) => (type === 'challenge_received' || n === undefined ? { type, t } : { type, t, n })),
    ),
  ),
  injected(
    'a camera that starts after the challenge',
    NO_CAPTURE,
    moments((all) => [...all.filter(({ type }) => type !== 'camera_ready'), { type: 'camera_ready', t: 99_000 }]),
  ),
  injected(
    'a capture that ended before its last frame',
    NO_CAPTURE,
    moments((all) => all.map((one) => (one.t > CAPTURE_AT_MS + 900 ? { ...one, t: CAPTURE_AT_MS + 900 } : one))),
  ),
  injected(
    'a capture that was given up',
    NO_CAPTURE,
    moments((all) => [...all, { type: 'retake', t: 99_000 }]),
  ),
  injected(
    'a challenge after the capture',
    NO_CAPTURE,
    moments((all) => [...all, { type: 'challenge_received', t: 99_000, n: 1 }]),
  ),
]

const BROKEN = 'BH_CHAIN_BROKEN'
const CHAIN: Judged[] = [
  injected('a wrong hash at the beginning', BROKEN, entry(0, { hash: 'y'.repeat(43) })),
  injected('a wrong hash in the middle', BROKEN, entry(7, { hash: 'y'.repeat(43) })),
  injected('a wrong hash at the end', BROKEN, {
    events: (all) => all.map((one) => (one.seq === all.length ? { ...one, hash: 'y'.repeat(43) } : one)),
  }),
  injected('a time that was changed', BROKEN, entry(3, { t: 4_401 })),
  injected('a type that was changed', BROKEN, entry(3, { type: 'tab_visible' })),
  injected('a number that was changed', BROKEN, entry(6, { n: 3 })),
  injected('two entries exchanged under their numbers', BROKEN, {
    events: (all) => all.map((one, at) => ({ ...(all[at === 1 ? 2 : at === 2 ? 1 : at] ?? one), seq: one.seq })),
  }),
  injected('an entry sent twice with different content', BROKEN, {
    events: (all) => all.flatMap((one, at) => (at === 4 ? [one, { ...one, hash: 'y'.repeat(43) }] : [one])),
  }),
  injected('every hash the same', BROKEN, { events: (all) => all.map((one) => ({ ...one, hash: 'y'.repeat(43) })) }),
]

const LATENCY = 'BH_CHALLENGE_LATENCY'
/** The latency of each movement in the log, in milliseconds after it was shown. */
const seenAfter = (ms: (step: number) => number): Changes =>
  moments((all) =>
    all
      .map((one) => {
        const shown = all.find(({ type, n }) => type === 'movement_shown' && n === one.n)
        return one.type === 'movement_seen' && shown ? { ...one, t: shown.t + ms(one.n ?? 0) } : one
      })
      .toSorted((a, b) => a.t - b.t),
  )

const LATENCIES: Judged[] = [
  injected('a robot', LATENCY, spoof(SPOOFS.robot)),
  injected(
    'answers that all take 600 ms',
    LATENCY,
    seenAfter(() => 600),
  ),
  injected(
    'answers that differ by one millisecond',
    LATENCY,
    seenAfter((step) => (step === 2 ? 401 : 400)),
  ),
  injected(
    'answers faster than a human',
    LATENCY,
    seenAfter((step) => 90 + step * 10),
  ),
  injected(
    'one answer faster than a human',
    LATENCY,
    seenAfter((step) => (step === 2 ? 20 : 300 + step * 50)),
  ),
  injected(
    'an answer before the question',
    LATENCY,
    seenAfter((step) => (step === 2 ? -200 : 300 + step * 50)),
  ),
  injected(
    'an answer after more than three seconds',
    LATENCY,
    seenAfter((step) => (step === 1 ? 3_100 : 300 + step * 50)),
  ),
  injected(
    'an answer without its question',
    LATENCY,
    moments((all) => all.filter(({ type, n }) => type !== 'movement_shown' || n !== 2)),
  ),
  inconclusive(
    'answers that differ by four milliseconds',
    seenAfter((step) => 400 + step * 2),
  ),
]

export const LOG_MUTATIONS: readonly Judged[] = [LOG, CHAIN, LATENCIES].flat()
