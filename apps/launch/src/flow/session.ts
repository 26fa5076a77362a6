import type { LaunchState, OpenedSession } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { createDevice, type Device } from '@ostiary/device'
import { callWithRetries, waitMs } from './call-retries.ts'
import { serverAheadMs } from './countdown.ts'
import type { PageDeps } from './deps.ts'
import { withKinds } from './needs.ts'
import { createPageLog, type PageLog } from './page-log.ts'
import { isPassing, problemOf, remedyFor } from './problem-of.ts'
import type { SessionProblem } from './states.ts'
import type { Store } from './store.ts'

/** Another tab, or a page closed at the wrong moment, may have used counter values that were never saved. */
const COUNTER_HEADROOM = 100

export interface SessionOptions {
  deps: PageDeps
  store: Store
  sessionId: string
  /** Ends with the flow. */
  signal: AbortSignal
  onOpened(session: OpenedSession): Promise<void>
  /** Another tab has taken this device. */
  onOvertaken(): void
}

/** Errors that only the page knows: of the last try if the session is still open, of the end if it has ended. */
export interface KnownErrors {
  whileOpen?: number[]
  atEnd?: number[]
}

/** The session on this device: opens it, saves the device for a reload, and retries its calls. */
export async function createSession({ deps, store, sessionId, signal, onOpened, onOvertaken }: SessionOptions) {
  const { clock, storage, page } = deps
  // A code may be opened in the browser that made it. Then one browser is two devices, each stored under its own name.
  const keptAs = deps.address.joined ? `${sessionId}/2` : sessionId
  const kept = deps.address.handoffCode === null ? await storage.take(keptAs) : undefined
  let secondDevice = kept?.secondDevice ?? false
  store.patch({ number: kept?.number ?? null })
  let code = deps.address.handoffCode
  let wake: AbortController | null = null
  let losses = 0
  let began = false

  /** Saves the device. If another tab has taken it, never resolves: this tab's state is outdated and must not be sent. */
  async function keep(): Promise<void> {
    const saved = await device.save()
    const { number } = store.view()
    if (await storage.keep(keptAs, { saved, secondDevice, number, key: device.publicKey.x })) return
    onOvertaken()
    await new Promise(() => {})
  }
  const device: Device = await createDevice({
    baseUrl: deps.baseUrl,
    sessionId,
    platform: deps.browser.platform,
    clock,
    locale: deps.browser.language,
    utcOffsetMinutes: deps.browser.utcOffsetMinutes,
    ...(kept && { saved: { ...kept.saved, counter: kept.saved.counter + COUNTER_HEADROOM } }),
    // Saves before sending: after a reload, the log and the counter are never behind what the server has.
    fetch: async (input, init) => {
      await keep()
      const response = await deps.fetch(input, init)
      const aheadMs = serverAheadMs(response.headers.get('date'), clock.nowMs())
      if (aheadMs !== null) store.patch({ serverAheadMs: aheadMs })
      return response
    },
  })
  const log: PageLog = createPageLog(device.logEvent)

  const retryOptions = {
    signal,
    wait: page.wait,
    onLost: () => {
      losses++
      store.patch({ offline: true })
    },
    onBack: () => store.patch({ offline: false }),
  }
  /** Retries until the service answers. */
  const call = <T>(work: (device: Device) => Promise<T>): Promise<T> =>
    callWithRetries(() => work(device), retryOptions)

  function update(session: LaunchState): void {
    store.patch({ session })
    store.dispatch({ type: 'updated', session })
  }

  async function adopt(session: OpenedSession): Promise<void> {
    const barred = session.role === 'viewer' && session.errors.includes(codes.DESKTOP)
    const { brand, host } = session
    // A server of the last release does not say whether it allows a handoff: it always does.
    const mayHandOff = session.handoff !== false
    const { cannot, moreTime, barred: wasBarred } = store.view()
    const { ages = null } = session
    const mayExtend = session.mayExtend === true
    store.patch({ session, brand, host, mayHandOff, mayExtend, secondDevice, ages, barred: barred || wasBarred })
    // What the user said before a reload, or on another device.
    store.patch({ cannot: withKinds(session.cannot ?? [], cannot), moreTime: moreTime || session.pace === 'slow' })
    await onOpened(session)
  }

  async function open(): Promise<OpenedSession> {
    const session = await device.open(code ?? undefined)
    if (code !== null) secondDevice = true
    code = null
    await keep()
    return session
  }

  /** Opens the session. Shows the problem if that fails, and retries if the problem is temporary. */
  async function begin(): Promise<void> {
    if (!began) log.log('page_open')
    began = true
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const session = await open()
        await adopt(session)
        store.dispatch({ type: 'opened', session })
        return
      } catch (error) {
        store.dispatch({ type: 'refused', problem: openingProblem(error) })
        if (!isPassing(error)) return
        wake = new AbortController()
        await page.wait(waitMs(failures + 1, undefined), AbortSignal.any([signal, wake.signal])).catch(() => {})
        wake = null
      }
    }
  }

  /** Opens the session again because the page's state is outdated. Adds errors that only the page knows. */
  async function reopen(known: KnownErrors = {}): Promise<void> {
    try {
      const session = await call(() => open())
      await adopt(session)
      const errors = session.flowStatus === null ? known.whileOpen : known.atEnd
      store.dispatch({ type: 'opened', session: errors ? { ...session, errors } : session })
    } catch (error) {
      if (!signal.aborted) store.dispatch({ type: 'refused', problem: openingProblem(error) })
    }
  }

  /** Refused without a handoff code: this desktop may neither run nor hand over the session. */
  function openingProblem(error: unknown): SessionProblem {
    const problem = problemOf(error)
    return problem === 'code_refused' && !deps.address.joined ? 'phone_needed' : problem
  }

  return {
    call,
    log,
    keep,
    update,
    begin,
    reopen,
    /** The user asks for another try: skips the waiting. */
    async again(): Promise<void> {
      if (wake) wake.abort()
      else await reopen()
    },
    /** Handles a refused call: opens the session again or shows the problem. */
    async settle(error: unknown, known?: KnownErrors): Promise<void> {
      if (signal.aborted) return
      if (remedyFor(error) === 'reopen') await reopen(known)
      else store.dispatch({ type: 'refused', problem: problemOf(error) })
    },
    /** How often a call got no answer. */
    losses: () => losses,
    forget: () => storage.forget(keptAs),
  }
}
export type SessionLink = Awaited<ReturnType<typeof createSession>>
