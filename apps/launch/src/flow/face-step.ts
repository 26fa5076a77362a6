import type { LaunchState, MovementKind } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { DeviceError } from '@ostiary/device'
import { type Camera, CameraError, type CameraProblem } from '../camera/camera-types.ts'
import { CaptureFailure, type CaptureView } from '../capture/capture-types.ts'
import { orScanError } from '../capture/glance.ts'
import { EngineLoadError } from '../engine/engine.ts'
import { watchAbsence } from './absence.ts'
import type { DocumentsPart } from './documents-part.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { ModelPart, Models } from './models.ts'
import { needsOf, withKinds } from './needs.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'
import { type Finished, submitCapture } from './submit-capture.ts'
import type { VerificationPart } from './verification-part.ts'

/** The service ends the session when a device reports one of these. */
const FINAL_CODES: readonly number[] = [codes.USER_NOT_ENROLLED, codes.INTERNAL]

/** A browser that refuses sooner has asked nobody: a person needs longer to read and answer. */
const UNASKED_MS_MAX = 400

/** After this time a user who cannot follow the guidance may start without it. */
const START_ANYWAY_MS = 12_000
/** For users who have asked for more time: long enough to hear what comes next. */
const LONG_READY_MS = 2_500

/** By then a download that has begun has a rate. */
const RATE_KNOWN_MS = 1_500

/** So long the camera stays on for the last nets. */
const REST_MS = 12_000

/** So long the log waits for a challenge that it can travel with. */
const LOG_WAIT_MS = 15_000

/** The face is in place, and the nets for the movements are still far. */
class RestMissing extends Error {}

export interface FaceStepOptions {
  deps: FlowDeps
  store: Store
  session: SessionLink
  models: Models
  /** Null for age checks. */
  verification(): VerificationPart | null
  /** Null for sessions that never ask for a document. */
  documents(): DocumentsPart | null
}

/** The face step: opens the camera, captures, submits, and reports whatever fails. */
export function createFaceStep({ deps, store, session, models, verification, documents }: FaceStepOptions) {
  let activity = new AbortController()
  let startAnyway = new AbortController()
  /** A challenge was received and no `retake` logged since. The log needs one before the next challenge. */
  let answered = false
  /** This capture has requested its challenge. */
  let asked = false
  /** The refusal of the camera was reported, and the camera has not run since. */
  let refused = false
  /** Stops the movements alone: the camera stays on for another challenge. */
  let movements = new AbortController()
  /** The next challenge replaces one that the user cannot meet. */
  let replaces = false
  const absence = watchAbsence(deps.page, () => {
    const { state, offline, camera } = store.view()
    if (state.at === 'capture' && camera && (!asked || offline)) rest()
  })

  /** In the document step the face is looked at for the comparison alone: no age, no claims, and no try of the face step. */
  const isLook = () => store.view().session?.state === 'DOC_ACTIVE'

  async function report(code: number, reason?: string): Promise<void> {
    // The try is over, and with it the challenge that could be replaced.
    replaces = false
    if (isLook()) return
    try {
      session.update(await session.call((device) => device.failure(code, reason)))
    } catch (error) {
      return session.settle(error, { whileOpen: [code] })
    }
    const { session: known } = store.view()
    // A code that costs no try can occur on the last one. The server ends the flow when the page asks for another challenge.
    if (known && known.flowStatus === null && known.attemptsLeft === 0) await giveUp()
  }

  async function giveUp(): Promise<void> {
    await session.call((device) => device.challenge()).catch(() => {})
    await session.reopen({ atEnd: [codes.ATTEMPTS_EXCEEDED] })
  }

  /**
   * A camera that does not start costs a try (docs/session-codes.md), except when the browser repeats a refusal without asking: nobody has
   * refused again, and the user may be looking for the setting.
   */
  async function cameraFailed(problem: CameraProblem, tookMs: number = UNASKED_MS_MAX): Promise<void> {
    store.dispatch({ type: 'camera_failed', problem })
    const isRepeated = refused && problem === 'permission_denied' && tookMs < UNASKED_MS_MAX
    if (isRepeated) return
    refused = problem === 'permission_denied'
    if (deps.browser.inApp) await report(codes.UNSUPPORTED_BROWSER, 'in_app')
    await report(codes.CAMERA_FAIL, problem)
  }

  async function start(): Promise<void> {
    stop()
    activity = new AbortController()
    const { signal } = activity
    const obstacle = isLook() ? undefined : await verification()?.obstacle()
    if (signal.aborted) return
    if (obstacle) return failed(obstacle)
    try {
      // Nobody waits for a download to learn that there is no camera.
      if (!(await deps.isCameraOutOfReach())) await awaitModels('look', signal)
      signal.throwIfAborted()
      while ((await film(signal)) === 'rest_missing') await awaitModels('all', signal)
    } catch (error) {
      if (signal.aborted) return
      // Only the capture screen leads on to another try.
      store.dispatch({ type: 'models_awaited' })
      await failed(error)
    }
  }

  /** Waits with the camera off until this part of the models is near. Usually it is. */
  async function awaitModels(part: ModelPart, signal: AbortSignal): Promise<void> {
    const near = models.near(part, signal)
    await Promise.race([near, deps.page.pause(RATE_KNOWN_MS, signal)])
    if (!models.isNear(part)) store.dispatch({ type: 'models_awaited' })
    await near
    await absence.returned()
    signal.throwIfAborted()
  }

  /** Opens the camera and captures. Without all models there is no time for the movements: their challenge is short-lived. */
  async function film(signal: AbortSignal): Promise<'rest_missing' | undefined> {
    store.dispatch({ type: 'camera_asked' })
    session.log.log('camera_requested')
    const askedAtMs = deps.clock.monotonicMs()
    const camera = await deps.openCamera().catch((error: unknown) => {
      // Browsers may refuse the camera to a hidden page; that is not a failure.
      if (!signal.aborted && !absence.isGone())
        void cameraFailed(error instanceof CameraError ? error.problem : 'in_use', deps.clock.monotonicMs() - askedAtMs)
      return null
    })
    if (!signal.aborted && absence.isGone()) rest()
    if (!camera) return
    if (signal.aborted) return void camera.stop()
    refused = false
    session.log.log('camera_ready')
    store.patch({ camera, capture: null })
    store.dispatch({ type: 'camera_ready' })
    void sendLateLog(signal)
    try {
      await send(await captureAsNeeded(camera, signal))
    } catch (error) {
      if (error instanceof RestMissing) return 'rest_missing'
      if (!signal.aborted) await failed(error)
    } finally {
      camera.stop()
      if (activity.signal === signal) {
        store.patch({ camera: null, capture: null, mayStartAnyway: false })
        // The engine forgets the samples of this try, however it ended.
        deps.engine.begin().catch(() => {})
      }
    }
  }

  /** The log travels with the challenge. Of a user who does not get that far the service shall have it too. */
  async function sendLateLog(signal: AbortSignal): Promise<void> {
    await deps.page.pause(LOG_WAIT_MS, signal).catch(() => {})
    if (!signal.aborted) await sendLog()
  }

  async function sendLog(): Promise<void> {
    if (asked) return
    // Without an answer the next call takes it along.
    const reply = await session.call((device) => device.flushEvents()).catch(() => undefined)
    if (reply) session.update(reply)
  }

  /** Captures. Whenever the user says meanwhile what they need, begins again with another challenge and the camera still on. */
  async function captureAsNeeded(camera: Camera, signal: AbortSignal): Promise<Finished> {
    for (;;) {
      movements = new AbortController()
      asked = false
      try {
        return await capture(camera, AbortSignal.any([signal, movements.signal]))
      } catch (error) {
        if (signal.aborted || !movements.signal.aborted) throw error
        // The service takes this for the same try, so the log has no `retake`.
        replaces ||= answered
        answered = false
      }
    }
  }

  async function capture(camera: Camera, signal: AbortSignal): Promise<Finished> {
    const signals = deps.collectSignals({ label: camera.label })
    // Its code may fail to load, long before it is awaited.
    signals.catch(() => {})
    // The camera may be unplugged while the models load.
    const ended = new Promise<never>((_resolve, reject) =>
      camera.onEnded(() => reject(new CaptureFailure(codes.CAMERA_FAIL, 'track_ended'))),
    )
    ended.catch(() => {})
    const loaded = await Promise.race([models.ready(), ended, aborted(signal)])
    if (answered) session.log.log('retake', store.view().session?.attempt)
    answered = false
    startAnyway = new AbortController()
    const offerStart = new AbortController()
    const facts = store.view().verification
    const look = isLook()
    let nonce = ''
    deps.page.pause(START_ANYWAY_MS, offerStart.signal).then(
      () => store.patch({ mayStartAnyway: true }),
      () => {},
    )
    try {
      const face = await deps.runCapture({
        camera,
        engine: deps.engine,
        models: loaded,
        clock: deps.clock,
        readyMs: () => (store.view().moreTime ? LONG_READY_MS : 0),
        outputs: { ages: !look && (facts?.estimateAge ?? true), selfie: !look && (facts?.sendImages ?? false) },
        challenge: async () => {
          if (!models.isNear('all')) throw new RestMissing()
          // The connection may stop just now, and the camera must not wait for it.
          await Promise.race([models.complete(), deps.page.pause(REST_MS, signal)])
          if (!models.isThere('all')) throw new RestMissing()
          await orScanError(deps.engine.warmUp())
          asked = true
          const challenge = await session.call((device) => {
            // An abandoned capture must not keep asking beside the next one.
            signal.throwIfAborted()
            return device.challenge(look ? 'match' : undefined, { ...needsOf(store.view()), replaces })
          })
          replaces = false
          offerStart.abort()
          answered = true
          nonce = challenge.nonce
          return challenge
        },
        log: (type, n) => session.log.log(type, n),
        onView: (view) => show(view, camera),
        onSamples: (samples) => verification()?.seen(samples),
        startAnyway: startAnyway.signal,
        signal,
      })
      const match = await orScanError(Promise.resolve(documents()?.captured(nonce)))
      const completion = look ? undefined : await orScanError(Promise.resolve(verification()?.complete(nonce, signal)))
      signal.throwIfAborted()
      const { width, height } = camera
      return {
        ...completion,
        capture: { ...face, ...match, ...(await signals), metadata: { camera: { width, height } } },
      }
    } finally {
      offerStart.abort()
    }
  }

  function show(view: CaptureView, camera: Camera): void {
    // Filming is over, so the camera's light goes out while the device computes.
    if (view.phase === 'measure') camera.stop()
    store.patch({
      capture: view,
      ...(view.phase !== 'find' && { mayStartAnyway: false }),
      ...(view.phase === 'measure' && { camera: null }),
    })
  }

  async function send(finished: Finished): Promise<void> {
    store.dispatch({ type: 'captured' })
    const lossesBefore = session.losses()
    const wasLost = () => session.losses() > lossesBefore
    try {
      const judged = await judge(finished)
      store.patch({ session: judged })
      store.dispatch({ type: 'judged', session: judged })
      if (wasLost() && judged.flowStatus === null) await report(codes.NETWORK_LOST)
    } catch (error) {
      if (error instanceof CaptureFailure) return failed(error)
      // Refused after the connection was lost: the answer to an earlier submit was lost, or the challenge is too old.
      await session.settle(error, wasLost() ? { whileOpen: [codes.NETWORK_LOST] } : {})
    }
  }

  /** Submits. If the service asks for claims that were left out, submits the same capture with them: no second capture. */
  async function judge(finished: Finished): Promise<LaunchState> {
    const look = isLook()
    const judged = await submitCapture(finished, session)
    const claims = look ? undefined : await verification()?.judged(judged)
    return claims ? judge({ ...finished, claims }) : judged
  }

  async function failed(error: unknown): Promise<void> {
    if (error instanceof DeviceError) return session.settle(error, isLook() ? { atEnd: [codes.ATTEMPTS_EXCEEDED] } : {})
    const { code, reason } = failureOf(error)
    if (code === codes.CAMERA_FAIL) return cameraFailed('track_ended')
    // With a reason it was not the engine.
    if (code === codes.FACE_SCAN_ERROR && reason === undefined) models.drop()
    if (FINAL_CODES.includes(code)) store.patch({ endReason: reason ?? null })
    else store.dispatch({ type: 'capture_failed', code, reason })
    await report(code, reason)
  }

  /** Another challenge for a user who cannot meet the one under way. Before and after the movements there is nothing to replace. */
  function beginAgain(): void {
    const { state, capture } = store.view()
    if (state.at === 'capture' && asked && capture?.phase !== 'measure')
      movements.abort(new Error('The user needs another challenge'))
  }

  function stop(): void {
    activity.abort(new Error('The capture was left'))
    store.view().camera?.stop()
    store.patch({ camera: null, capture: null, mayStartAnyway: false })
  }

  /** The user is away: turns the camera off. This is not a failure, and a tap turns it on again. */
  function rest(): void {
    stop()
    store.dispatch({ type: 'camera_failed', problem: 'track_ended' })
    void sendLog()
  }

  return {
    start,
    stop,
    startAnyway: () => startAnyway.abort(),
    cannot(kinds: readonly MovementKind[]): void {
      const { cannot: known } = store.view()
      const cannot = withKinds(known, kinds)
      if (cannot === known) return
      store.patch({ cannot })
      beginAgain()
    },
    askMoreTime(): void {
      if (store.view().moreTime) return
      store.patch({ moreTime: true })
      beginAgain()
    },
    /** The log starts again, so no challenge in it was answered. */
    begun: () => {
      answered = false
      replaces = false
    },
  }
}
export type FaceStep = ReturnType<typeof createFaceStep>

function failureOf(error: unknown): { code: number; reason: string | undefined } {
  if (error instanceof CaptureFailure) return { code: error.code, reason: error.reason }
  return { code: error instanceof EngineLoadError ? codes.MODEL_LOAD_FAILED : codes.FACE_SCAN_ERROR, reason: undefined }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )
}
