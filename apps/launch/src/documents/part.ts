import type { DocumentStep } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { DOCUMENT_CONSENT_VERSION } from '@ostiary/contract/documents'
import type { DocumentFacts } from '@ostiary/device'
import { type Camera, CameraError } from '../camera/camera-types.ts'
import { watchAbsence } from '../flow/absence.ts'
import type { DocumentsLink, DocumentsPart } from '../flow/documents-part.ts'
import { isAlone } from '../texts/documents-texts.ts'
import { type CameraControls, documentConstraints } from './document-camera.ts'
import type {
  DocumentChoice,
  DocumentCommand,
  DocumentProblem,
  DocumentStage,
  DocumentView,
  ReadFacts,
} from './document-types.ts'
import { doubtOf, problemOf, stageAfter } from './judgement.ts'
import { choicesOf } from './offers.ts'
import type { DocumentReader } from './reader.ts'
import { type ShownDocument, showDocument } from './show-document.ts'

/** What the document step needs from the browser. */
export interface DocumentApis {
  createReader(): DocumentReader
  controls: CameraControls
}

/** After this time a user may say that the document cannot be read. */
const GIVE_UP_MS = 15_000
/** Nobody holds a document for longer; then it counts as unreadable. */
const SHOW_MS_MAX = 120_000
const NO_PICTURE_PAUSE_MS = 100

/** The document step: asks what is wanted, shows the camera, and sends what the user agrees to. */
export function createDocuments(link: DocumentsLink, apis: DocumentApis): DocumentsPart {
  const { deps, store, session, models, opened } = link
  const { engine, page } = deps
  const alone = isAlone(opened)
  let activity = new AbortController()
  let reader: DocumentReader | null = null
  /** The capture whose face the engine holds, and the step whose portrait it holds, by their nonces. */
  let heldFace: string | null = null
  let heldPortrait: string | null = null
  let mayAskForReal = true
  let mayOfferPhone = deps.browser.platform === 'desktop'
  let lastRead: ReadFacts | null = null

  store.patch({ document: firstView(link, alone) })
  const view = (): DocumentView => store.view().document ?? firstView(link, alone)
  const patch = (part: Partial<DocumentView>) => store.patch({ document: { ...view(), ...part } })
  const go = (stage: DocumentStage) => store.dispatch({ type: 'document', stage })
  const isAt = (stage: DocumentStage) => {
    const { state } = store.view()
    return state.at === 'document' && state.stage === stage
  }
  const absence = watchAbsence(page, () => {
    if (isAt('show')) noCamera('track_ended')
  })

  store.onEnter((state, before) => {
    if (state.at === 'document' && state.stage === 'wait') void begin(before.at === 'sending')
    if (state.at !== 'document') stop()
    // Another device goes on: no text stays here. The engine keeps face and portrait, for taking the session back.
    if (state.at === 'handoff' || state.at === 'viewer') forget()
  })

  async function begin(wasJudged: boolean): Promise<void> {
    try {
      const step = await session.call((device) => device.documentStep())
      if (!isAt('wait')) return
      patch({ step, toSend: null, doubt: null, problem: null })
      const errors = store.view().session?.errors ?? []
      if (step.match && step.match.capture !== heldFace) go(wasJudged && errors.length > 0 ? 'look_again' : 'look')
      else {
        const problem = problemOf(errors, { expiredLately: lastRead?.expiredLately ?? false })
        if (problem) showProblem(problem)
        else go('intro')
      }
    } catch (error) {
      await session.settle(error, { atEnd: [codes.ATTEMPTS_EXCEEDED] })
    }
  }

  function showProblem(problem: DocumentProblem): void {
    stop()
    patch({ problem })
    go('problem')
  }

  function noCamera(problem: CameraError['problem']): void {
    stop()
    patch({ cameraProblem: problem })
    go('no_camera')
  }

  function choose(choice: DocumentView['choice']): void {
    patch({ choice, cameraProblem: null })
    if (mayOfferPhone && store.view().mayHandOff) go('device')
    else void show()
  }

  /** Opens the camera and reads the chosen document. */
  async function show(): Promise<void> {
    const { step, choice } = view()
    if (!step || !choice) return void go('choose')
    stop()
    activity = new AbortController()
    const { signal } = activity
    go('asking')
    patch({ problem: null, cameraProblem: null, toSend: null, doubt: null, mayGiveUp: false })
    const camera = await openCamera(signal)
    if (!camera) return
    const signals = deps.collectSignals({ label: camera.label })
    signals.catch(() => {})
    go('show')
    try {
      const shown = await readWith(camera, choice, step, signal)
      const { width, height } = camera
      camera.stop()
      await read(shown, step, { ...(await signals), metadata: { camera: { width, height } } }, signal)
    } catch {
      if (signal.aborted) return
      reader?.close()
      reader = null
      showProblem('not_loaded')
      // Noted for the host, and no try: it says nothing about the document.
      session.call((device) => device.failure(codes.DOCUMENT_SCAN_ERROR)).catch(() => {})
    }
  }

  /** Returns null if no camera starts, or if the user has left the screen meanwhile. */
  async function openCamera(signal: AbortSignal): Promise<Camera | null> {
    const { focus, list, torchOf, idOf } = apis.controls
    session.log.log('camera_requested')
    const camera = await deps.openCamera(documentConstraints(view().cameraId)).catch((error: unknown) => {
      // Browsers may refuse the camera to a hidden page.
      const problem = error instanceof CameraError ? error.problem : 'in_use'
      if (!signal.aborted) noCamera(absence.isGone() ? 'track_ended' : problem)
      return null
    })
    if (!camera) return null
    signal.addEventListener('abort', () => camera.stop())
    if (signal.aborted) camera.stop()
    else session.log.log('camera_ready')
    camera.onEnded(() => {
      if (!signal.aborted) noCamera('track_ended')
    })
    await focus(camera)
    const cameras = await list()
    if (signal.aborted) return null
    patch({ camera, cameras, cameraId: idOf(camera), torch: torchOf(camera), ...FRESH })
    return camera
  }

  async function readWith(
    camera: Camera,
    choice: DocumentChoice,
    step: DocumentStep,
    signal: AbortSignal,
  ): Promise<ShownDocument> {
    reader ??= apis.createReader()
    const faces = alone ? null : models.ready()
    faces?.catch(() => {})
    await reader.load(choice, (loading) => patch({ loading }))
    await faces
    signal.throwIfAborted()
    patch({ loading: null })
    offerGivingUp(signal)
    const { today, acceptedTypes, expiryGraceDays, age, reuseKey } = step
    const wanted = { choice, today, acceptedTypes, expiryGraceDays, age }
    await reader.begin({ ...wanted, ...(reuseKey !== undefined && { reuseKey }) })
    return showDocument({
      camera,
      reader,
      engine,
      choice,
      needsPortrait: !alone,
      log: (type, side) => session.log.log(type, side),
      onView: patch,
      pause: () => page.pause(NO_PICTURE_PAUSE_MS, signal),
      signal,
    })
  }

  async function read(
    { facts, sides }: ShownDocument,
    step: DocumentStep,
    browser: Pick<DocumentFacts, 'indicators' | 'browser' | 'metadata'>,
    signal: AbortSignal,
  ): Promise<void> {
    lastRead = facts
    if (facts.unusable) return report(UNUSABLE[facts.unusable])
    const score = step.match ? await engine.comparePortrait() : undefined
    signal.throwIfAborted()
    if (step.match && score === undefined) {
      // The face engine was started again since, and holds the face no more.
      heldFace = null
      stop()
      return void go('look')
    }
    if (!alone && !step.match) heldPortrait = step.nonce
    const { unusable: _unusable, expiredLately: _expiredLately, ...sent } = facts
    const toSend: DocumentFacts = {
      ...sent,
      sides,
      ...(step.match &&
        score !== undefined && { match: { score: Math.round(1000 * score), capture: step.match.capture } }),
      consent: { version: DOCUMENT_CONSENT_VERSION, locale: deps.language() },
      ...browser,
    }
    const stage = stageAfter(toSend, step, mayAskForReal)
    stop()
    patch({ toSend, doubt: doubtOf(toSend, step), ...(stage === 'problem' && { problem: 'screen' }) })
    if (stage === 'problem') mayAskForReal = false
    go(stage)
  }

  function offerGivingUp(signal: AbortSignal): void {
    page.pause(GIVE_UP_MS, signal).then(
      () => patch({ mayGiveUp: true }),
      () => {},
    )
    page.pause(SHOW_MS_MAX, signal).then(
      () => report(codes.DOCUMENT_UNREADABLE),
      () => {},
    )
  }

  /** Uses up a try of the document step, and no other. */
  async function report(code: number): Promise<void> {
    stop()
    go('reporting')
    try {
      const reply = await session.call((device) => device.failure(code))
      session.update(reply)
      if (reply.flowStatus !== null) return
      store.patch({ session: { ...reply, errors: [code] } })
      go('wait')
    } catch (error) {
      await session.settle(error, { atEnd: [code] })
    }
  }

  async function send(): Promise<void> {
    const { toSend, sent } = view()
    if (!toSend || !isAt('review')) return
    store.dispatch({ type: 'captured' })
    try {
      // The user may have changed the language on the last screen.
      const facts = { ...toSend, consent: { ...toSend.consent, locale: deps.language() } }
      // Before the reply, which may be lost: what was sent has left this device.
      patch({ sent: [...sent, facts], toSend: null })
      const judged = await session.call((device) => device.submitDocument(facts))
      store.patch({ session: judged })
      store.dispatch({ type: 'judged', session: judged })
    } catch (error) {
      await session.settle(error)
    }
  }

  async function turnTorch(): Promise<void> {
    const { camera, torch } = view()
    if (camera && torch !== null) patch({ torch: await apis.controls.setTorch(camera, !torch) })
  }

  function stop(): void {
    activity.abort(new Error('The document was left'))
    if (view().camera) patch({ camera: null, torch: null, mayGiveUp: false })
  }

  function forget(): void {
    reader?.close()
    reader = null
    lastRead = null
    patch({ toSend: null, doubt: null })
  }

  /** Where only one kind of document can count, there is nothing to choose. */
  function chooseAny(): void {
    const [only, another] = choicesOf(view().asked)
    if (only && another === undefined) choose(only)
    else go('choose')
  }

  async function act(command: DocumentCommand): Promise<void> {
    if (command.do === 'choose') choose(command.choice)
    if (command.do === 'camera') patch({ cameraId: command.id })
    if (command.do === 'use_camera') mayOfferPhone = false
    if (command.do === 'begin') chooseAny()
    if (command.do === 'torch') await turnTorch()
    if (command.do === 'give_up') await report(codes.DOCUMENT_UNREADABLE)
    if (command.do === 'send') await send()
    if (command.do === 'again' || command.do === 'camera' || command.do === 'use_camera') await show()
    if (command.do === 'go_on' && isAt('light')) go('review')
    if (command.do !== 'other') return
    stop()
    go('choose')
  }

  return {
    async captured(nonce) {
      await engine.keepFace()
      heldFace = nonce
      if (heldPortrait === null || store.view().session?.state === 'DOC_ACTIVE') return {}
      const score = await engine.comparePortrait()
      return score === undefined ? {} : { match: { score: Math.round(1000 * score), document: heldPortrait } }
    },
    act: (command) => void act(command),
    end() {
      stop()
      forget()
    },
  }
}

const FRESH = { guidance: 'doc_find', sharpness: 0, mayGiveUp: false, isSecondSide: false } as const

const UNUSABLE = { unsupported: codes.DOCUMENT_UNSUPPORTED, no_birth_date: codes.DOB_NOT_FOUND } as const

function firstView({ opened }: DocumentsLink, alone: boolean): DocumentView {
  if (!opened.document) throw new Error('This session never asks for a document')
  return {
    asked: opened.document,
    alone,
    step: null,
    choice: null,
    side: 'page',
    camera: null,
    cameras: [],
    cameraId: null,
    torch: null,
    cameraProblem: null,
    loading: null,
    toSend: null,
    doubt: null,
    sent: [],
    problem: null,
    ...FRESH,
  }
}
