import * as codes from '@ostiary/contract/codes'
import { type CaptureDeps, CaptureFailure, type RunCapture } from './capture-types.ts'
import { findFace } from './find-face.ts'
import { orScanError } from './glance.ts'
import { assembleCapture } from './payload.ts'
import { runChallenge } from './run-challenge.ts'
import { waitUntil } from './wait.ts'

/** One try: finds the face, fetches and runs the challenge, measures the samples, and assembles the capture. */
export const runCapture: RunCapture = async (deps) => {
  const stop = new AbortController()
  const leave = () => stop.abort(deps.signal.reason)
  deps.signal.throwIfAborted()
  deps.signal.addEventListener('abort', leave)
  let needsCamera = true
  deps.camera.onEnded(() => {
    if (needsCamera) stop.abort(new CaptureFailure(codes.CAMERA_FAIL, 'track_ended'))
  })
  try {
    await orScanError(deps.engine.begin(deps.outputs))
    const restFaces = await findFace(deps, stop.signal)
    await getReady(deps, stop.signal)
    const challenge = await deps.challenge()
    stop.signal.throwIfAborted()
    deps.log('challenge_received', challenge.attempt)
    const onFilmed = () => {
      needsCamera = false
    }
    const samples = await runChallenge(deps, { challenge, restFaces, stop, onFilmed })
    deps.onSamples?.(samples)
    return assembleCapture(samples, { models: deps.models, ages: deps.outputs.ages })
  } finally {
    deps.signal.removeEventListener('abort', leave)
  }
}

/** Before the challenge is drawn, so that none of its time is lost to a user who has to hear the announcement first. */
async function getReady({ readyMs, clock, onView }: CaptureDeps, signal: AbortSignal): Promise<void> {
  const ms = readyMs?.() ?? 0
  if (ms === 0) return
  onView({ phase: 'challenge', guidance: null, movement: null, movementsSeen: 0, movementsTotal: 0, progress: 0 })
  await waitUntil(clock, clock.monotonicMs() + ms, signal)
}
