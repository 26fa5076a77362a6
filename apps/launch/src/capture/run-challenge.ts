import type { Challenge } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import type { Guidance, SeenFace } from '@ostiary/faces'
import type { Sample } from './capture-types.ts'
import { type CaptureDeps, CaptureFailure } from './capture-types.ts'
import { glance, grab, orScanError } from './glance.ts'
import { createPresence, type Presence } from './presence.ts'
import { createSteps, type Steps } from './steps.ts'
import { waitUntil } from './wait.ts'

/** The server accepts a frame up to 250 ms after it was due. The page drops later ones. */
const LATE_MS_MAX = 240
/** The movements fill this share of the progress bar; measuring the remaining samples fills the rest. */
const FILMING_SHARE = 0.8

export interface ChallengeRun {
  challenge: Challenge
  /** The faces seen at rest, before the challenge. */
  restFaces: readonly SeenFace[]
  /** Stops the challenge. */
  stop: AbortController
  /** The camera is no longer needed. */
  onFilmed(): void
}

/** A running challenge. */
interface Run {
  deps: CaptureDeps
  challenge: Challenge
  signal: AbortSignal
  /** Clock time of the start; the times of the challenge count from here. */
  startMs: number
  steps: Steps
  presence: Presence
  /** Samples that wait to be measured. */
  queue: { picture: ImageBitmap; atMs: number }[]
  samples: Sample[]
  taken: number
  measured: number
  guidance: Guidance | null
  /** True until the last movement was shown and the last sample taken. */
  filming: boolean
}

/**
 * Shows the movements and takes the samples at their times. Measures samples while it does not wait for the user, and the rest
 * afterwards. Taking a picture is quick and never waits for the slow measuring.
 */
export async function runChallenge(
  deps: CaptureDeps,
  { challenge, restFaces, stop, onFilmed }: ChallengeRun,
): Promise<readonly Sample[]> {
  const run: Run = {
    deps,
    challenge,
    signal: stop.signal,
    startMs: deps.clock.monotonicMs(),
    steps: createSteps(challenge.steps, restFaces, challenge.answerMs),
    presence: createPresence(),
    queue: [],
    samples: [],
    taken: 0,
    measured: 0,
    guidance: null,
    filming: true,
  }
  const orStop = (part: Promise<void>) =>
    part.catch((error) => {
      stop.abort(error)
      throw error
    })
  showView(run)
  // The clock starts when the first view is on the screen.
  run.startMs = deps.clock.monotonicMs()
  try {
    await Promise.all([orStop(film(run).then(onFilmed)), orStop(work(run))])
  } finally {
    for (const { picture } of run.queue) picture.close()
  }
  if (run.taken === 0) throw new CaptureFailure(codes.LIVENESS_INCONCLUSIVE)
  return run.samples.toSorted((a, b) => a.tMs - b.tMs)
}

async function film(run: Run): Promise<void> {
  await Promise.all([showMovements(run), takeSamples(run)])
  run.filming = false
  run.deps.log('capture_done')
  showView(run)
}

async function showMovements(run: Run): Promise<void> {
  const { deps, challenge, startMs, signal, steps } = run
  for (const { atMs } of challenge.steps) {
    await waitUntil(deps.clock, startMs + atMs, signal)
    deps.log('movement_shown', steps.show(deps.clock.monotonicMs()))
    showView(run)
  }
}

async function takeSamples(run: Run): Promise<void> {
  const { deps, challenge, startMs, signal } = run
  for (const dueMs of challenge.sampleAtMs) {
    await waitUntil(deps.clock, startMs + dueMs, signal)
    const picture = await grab(deps)
    const atMs = deps.clock.monotonicMs()
    if (!picture) continue
    if (signal.aborted || atMs - startMs - dueMs > LATE_MS_MAX) {
      picture.close()
      continue
    }
    run.taken += 1
    run.queue.push({ picture, atMs })
    run.steps.sampled(atMs)
  }
}

/** The engine does one thing at a time: it looks while the page waits for a movement, and measures otherwise. */
async function work(run: Run): Promise<void> {
  while (run.filming || run.queue.length > 0) {
    const isAwaiting = run.filming && run.steps.awaits(run.deps.clock.monotonicMs())
    const next = isAwaiting ? undefined : run.queue.shift()
    if (next) await measure(run, next)
    else await look(run)
    showView(run)
  }
}

async function look(run: Run): Promise<void> {
  const seen = await glance(run.deps, run.signal)
  if (!seen) return
  const { faces, face } = seen.sighting
  const code = run.presence.addLook(faces, seen.atMs)
  if (code !== undefined && run.filming) throw new CaptureFailure(code)
  run.guidance = faces === 0 ? 'no_face' : faces > 1 ? 'one_face_only' : null
  if (face) notice(run, face, seen.atMs)
}

async function measure(run: Run, { picture, atMs }: Run['queue'][number]): Promise<void> {
  const measured = await orScanError(run.deps.engine.measure(picture))
  run.signal.throwIfAborted()
  run.measured += 1
  if (!measured) return
  run.presence.addMeasured(atMs)
  run.samples.push({ tMs: atMs - run.startMs, measured })
  notice(run, measured.face, atMs)
}

/** After the movements the log of this try is closed. The server finds later movements in the samples. */
function notice({ deps, steps, filming }: Run, face: SeenFace, atMs: number): void {
  const number = filming ? steps.observe({ face, atMs }, deps.clock.monotonicMs()) : undefined
  if (number !== undefined) deps.log('movement_seen', number)
}

function showView(run: Run): void {
  const { deps, steps, filming, guidance } = run
  const view = steps.view()
  deps.onView({
    ...view,
    phase: filming ? 'challenge' : 'measure',
    guidance: filming ? guidance : null,
    movement: filming ? view.movement : null,
    progress: progressOf(run),
  })
}

function progressOf({ deps, challenge, startMs, filming, taken, measured }: Run): number {
  if (!filming) return FILMING_SHARE + (1 - FILMING_SHARE) * (taken === 0 ? 0 : measured / taken)
  const lastMs = Math.max(...challenge.sampleAtMs, ...challenge.steps.map(({ atMs }) => atMs))
  return FILMING_SHARE * Math.min(1, (deps.clock.monotonicMs() - startMs) / lastMs)
}
