import type { OpenedSession } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import type { Host } from '../embed/host.ts'
import type { DocumentsPart } from './documents-part.ts'
import { createFaceStep, type FaceStep } from './face-step.ts'
import type { FlowDeps } from './flow-deps.ts'
import { createHandoff, type HandoffPart, isRefusal } from './handoff.ts'
import { createLeaving, isEnd } from './leaving.ts'
import { linksIn } from './links.ts'
import { createModels, type Models } from './models.ts'
import { isUnderWay, pageStateOf } from './page-state.ts'
import { ConsentNotTaken, sendConsent } from './send-consent.ts'
import { createSession, type SessionLink } from './session.ts'
import type { EndScreen, State } from './states.ts'
import { createStore, type Store } from './store.ts'
import type { VerificationPart } from './verification-part.ts'
import { type Actions, FIRST_VIEW } from './view.ts'

/** Nobody reads the question in less time; the log must not show a consent that is sooner. */
const CONSENT_READ_MS = 400
const TEXTS_MS_MAX = 4_000
const EXPIRY_LOOK_MS_MAX = 30_000
const AFTER_EXPIRY_MS = 5_000
const JOIN_MS = 1_500
interface Parts {
  session: SessionLink
  face: FaceStep
  handoff: HandoffPart
}

/** Runs the flow behind the screens, from opening the link to going back to the host. */
export function createFlow(deps: FlowDeps) {
  const { address, browser, clock, page, engine } = deps
  const store = createStore({ ...FIRST_VIEW, inApp: browser.inApp })
  const over = new AbortController()
  const { signal } = over
  const leaving = createLeaving({ store, page, forget: async () => parts?.session.forget() })
  const models = modelsFor(deps, store, signal)
  let parts: Parts | null = null
  let verification: VerificationPart | null = null
  let documents: DocumentsPart | null = null
  let host: Host | null = null
  let consentShownMs = 0
  /** As the session was opened last. */
  let opened: OpenedSession | null = null

  async function start(): Promise<void> {
    if (!browser.isSecure) {
      store.dispatch({ type: 'camera_failed', problem: 'insecure_context' })
      return
    }
    if (!browser.hasCameraApi) {
      const why = browser.inApp
        ? ({ kind: 'in_app', app: browser.inApp.name } as const)
        : ({ kind: 'no_camera_api' } as const)
      store.dispatch({ type: 'unsupported', why })
      return
    }
    if (address.sessionId === null) {
      store.dispatch({ type: 'refused', problem: 'unknown_link' })
      return
    }
    await open(address.sessionId)
  }

  async function open(sessionId: string): Promise<void> {
    try {
      parts = await connect(sessionId)
    } catch {
      store.dispatch({ type: 'refused', problem: 'fault' })
      return
    }
    await parts.session.begin()
  }

  async function connect(sessionId: string): Promise<Parts> {
    const session = await createSession({ deps, store, sessionId, signal, onOpened, onOvertaken })
    const face = createFaceStep({
      deps,
      store,
      session,
      models,
      verification: () => verification,
      documents: () => documents,
    })
    const onTakenBack = () => {
      session.log.log('page_open')
      face.begun()
    }
    const handoff = createHandoff({ deps, store, session, signal, onTakenBack })
    page.onVisibility((visible) => {
      if (isHolder() && !signal.aborted) session.log.log(visible ? 'tab_visible' : 'tab_hidden')
    })
    void watchExpiry(session)
    return { session, face, handoff }
  }

  const isHolder = () => store.view().session?.role === 'holder'

  async function addVerification(opened: OpenedSession): Promise<void> {
    if (!parts || verification || opened.verification === null) return
    const create = await deps.loadVerification(opened).catch(asLostConnection)
    verification = create({ deps, store, session: parts.session, signal, opened })
  }

  async function addDocuments(opened: OpenedSession): Promise<void> {
    // A server of the last release does not know the document step.
    if (!parts || documents || !opened.document) return
    const create = await deps.loadDocuments(opened).catch(asLostConnection)
    documents = create({ deps, store, session: parts.session, models, signal, opened })
  }

  async function onOpened(session: OpenedSession): Promise<void> {
    // A document alone needs none of the many megabytes for faces.
    if (session.requirements.includes('face'))
      void (browser.saveData ? models.survey() : models.ready()).catch(() => {})
    // First, so that the texts of ENROLL win over those of the document step.
    await addDocuments(session)
    await addVerification(session)
    if (session.numberNeeded) await deps.loadNumberScreen().catch(asLostConnection)
    // Waits for the texts, so that no screen switches its language while it is shown; but not for ever if they fail to load.
    await Promise.race([deps.onLocale(session.locale).catch(() => {}), page.pause(TEXTS_MS_MAX, signal)])
    opened = session
    showLinks()
    if (host) return
    host = page.findHost(session.embedOrigins)
    store.patch({ embedded: host !== null })
    host?.send({ event: 'ready' })
  }

  function showLinks(): void {
    if (opened) store.patch({ links: linksIn(opened, deps.language()) })
  }

  /** Another tab has taken the device: stops the camera, and reloads this page when the user returns to it. */
  function onOvertaken(): void {
    parts?.face.stop()
    documents?.end()
    page.renew()
  }

  store.onEnter((state, before) => {
    if (!parts) return
    const { session, face, handoff } = parts
    if (state.at !== before.at) host?.send({ event: 'step', step: state.at })
    if (leavesFace(state)) face.stop()
    page.keepAwake(!leavesFace(state) || state.at === 'document')
    if (state.at === 'welcome' && before.at !== 'welcome') {
      consentShownMs = clock.monotonicMs()
      session.log.log('consent_shown')
    }
    if (state.at === 'handoff' && state.status === 'making') void handoff.makeCode()
    if (state.at === 'viewer' || (state.at === 'handoff' && state.status === 'number_wrong')) handoff.watch()
    if (state.at === 'document' && !documents) void findDocuments(session)
    if (state.at === 'sending' && before.at !== 'capture' && before.at !== 'document') void joinWork(session)
    if (isEnd(state.at)) void finish(state.at)
  })

  async function sendNumber(number: string): Promise<void> {
    const { state } = store.view()
    // A second tap must not send it twice.
    if (!parts || state.at !== 'number' || state.sending) return
    const { session } = parts
    store.dispatch({ type: 'number_typed' })
    try {
      const reply = await session.call((device) => device.number(number))
      store.patch({ session: reply })
      store.dispatch({ type: 'opened', session: reply })
    } catch (error) {
      if (!isRefusal(error)) return session.settle(error)
      // This device has no part in the session any more: nothing to cancel, and no time that runs out.
      store.dispatch({ type: 'refused', problem: 'number_wrong' })
      store.patch({ session: null })
      await session.forget()
    }
  }

  async function consent(accepted: boolean): Promise<void> {
    if (!parts) return
    const { session, face } = parts
    // As it was read: the language may change while the answer is being sent.
    const language = deps.language()
    store.dispatch({ type: 'answered' })
    try {
      await page.pause(Math.max(0, consentShownMs + CONSENT_READ_MS - clock.monotonicMs()), signal)
      if (accepted) session.log.log('consent_given')
      const reply = await sendConsent(session, {
        accepted,
        language,
        pause: (ms) => page.pause(ms, signal),
      })
      session.update(reply)
      if (reply.flowStatus !== null) return
      if (pageStateOf(reply).at === 'camera') await face.start()
      else store.dispatch({ type: 'opened', session: reply })
    } catch (error) {
      if (error instanceof ConsentNotTaken) store.dispatch({ type: 'refused', problem: 'busy' })
      else await session.settle(error)
    }
  }

  /** The service is still processing the submit: opens the session again and again until there is an outcome. */
  async function joinWork(session: SessionLink): Promise<void> {
    try {
      for (;;) {
        await page.pause(JOIN_MS, signal)
        if (store.view().state.at !== 'sending') return
        await session.reopen()
      }
    } catch {
      // The flow is over.
    }
  }

  /** A process of the last release opened the session: opens it again until one of this release says what the document step needs. */
  async function findDocuments(session: SessionLink): Promise<void> {
    try {
      while (!documents) {
        await page.pause(JOIN_MS, signal)
        if (store.view().state.at !== 'document') return
        await session.reopen()
      }
      if (store.view().state.at === 'document') store.dispatch({ type: 'document', stage: 'wait' })
    } catch {
      // The flow is over.
    }
  }

  async function cancel(): Promise<void> {
    if (!parts) return
    parts.face.stop()
    try {
      parts.session.update(await parts.session.call((device) => device.cancel()))
    } catch (error) {
      await parts.session.settle(error)
    }
  }

  /** A refusal leaves everything as it is: the user may be in the middle of a step. */
  async function extend(): Promise<void> {
    if (!parts || !store.view().mayExtend) return
    store.patch({ mayExtend: false })
    try {
      parts.session.update(await parts.session.call((device) => device.extend()))
    } catch (error) {
      const isRefused = error instanceof DeviceError && (error.status === 404 || error.status === 409)
      if (!isRefused) await parts.session.settle(error)
    }
  }

  /** When the time is over, asks the server: it may grant more time, and this device's clock may be wrong. */
  async function watchExpiry(session: SessionLink): Promise<void> {
    try {
      while (!signal.aborted) {
        const { session: known, serverAheadMs, state } = store.view()
        const leftMs = known ? Date.parse(known.expiresAt) - clock.nowMs() - serverAheadMs : EXPIRY_LOOK_MS_MAX
        const waits = leftMs > 0 || known === null
        if (!waits && !isUnderWay(state, -leftMs)) await session.reopen()
        await page.pause(waits ? Math.min(leftMs, EXPIRY_LOOK_MS_MAX) : AFTER_EXPIRY_MS, signal)
      }
    } catch {
      // The flow is over.
    }
  }

  async function finish(end: EndScreen): Promise<void> {
    const { session, secondDevice } = store.view()
    over.abort(new Error('The flow is over'))
    documents?.end()
    engine.close()
    await verification?.end(session)
    // Redirect and code belong to the browser with the host's cookie: after a handoff that is the first device.
    const { redirectUrl = null, code } = (!secondDevice && session) || {}
    host?.send({
      event: 'finished',
      ...(session?.flowStatus && { flowStatus: session.flowStatus }),
      ...(redirectUrl !== null && { redirectUrl }),
      ...(code !== undefined && { code }),
    })
    if (host !== null || redirectUrl === null) {
      if (code === undefined) await parts?.session.forget()
      return
    }
    await leaving.leaveLater(end)
  }

  const actions: Actions = {
    sendNumber: (number) => void sendNumber(number),
    consent: (accepted) => void consent(accepted),
    startCamera: () => void parts?.face.start(),
    startAnyway: () => parts?.face.startAnyway(),
    cannot: (kinds) => parts?.face.cannot(kinds),
    askMoreTime: () => parts?.face.askMoreTime(),
    extend: () => void extend(),
    stay: leaving.stay,
    leave: () => void leaving.leave(),
    askHandoff() {
      if (store.view().mayHandOff) store.dispatch({ type: 'handoff_asked' })
    },
    takeBack: () => void parts?.handoff.takeBack(),
    cancel: () => void cancel(),
    document: (command) => documents?.act(command),
    askPasskey: () => verification?.askPasskey(),
    skipPasskey: () => verification?.skipPasskey(),
    popOut: () => verification?.popOut(),
    reopen() {
      store.dispatch({ type: 'reopened' })
      if (parts) void parts.session.again()
      else if (address.sessionId !== null) void open(address.sessionId)
    },
    closePage() {
      void parts?.session.forget()
      host?.send({ event: 'closed' })
      page.close()
    },
  }
  return { start, actions, view: store.view, onChange: store.onChange, languageChanged: showLinks }
}

function modelsFor({ engine, page, clock, browser }: FlowDeps, store: Store, signal: AbortSignal): Models {
  return createModels({
    engine,
    wait: (ms) => page.wait(ms, signal),
    nowMs: clock.monotonicMs,
    onProgress: (loading, download) =>
      store.patch({ loading, download: { ...download, later: browser.saveData ?? false } }),
  })
}

/** True for every screen on which the camera must not run. */
function leavesFace({ at }: State): boolean {
  return at !== 'camera' && at !== 'capture' && at !== 'sending' && at !== 'retry'
}

/** A failed import counts as a lost connection (status 0), so it is retried like any call. */
function asLostConnection(error: unknown): never {
  throw new DeviceError(0, {}, error)
}
