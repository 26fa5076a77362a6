import type { LaunchState, OpenedSession } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { createDevice, type Device } from '@ostiary/device'
import { serverAheadMs } from './countdown.ts'
import type { PageDeps } from './deps.ts'
import { createPageLog, type PageLog } from './page-log.ts'
import { callWithRetries, waitMs } from './call-retries.ts'
import { isPassing, problemOf, remedyFor } from './problem-of.ts'
import type { Store } from './store.ts'

/** A page in another tab, or one that was closed at the wrong moment, may have used numbers that nobody kept. */
const COUNTER_HEADROOM = 100

export interface SessionOptions {
  deps: PageDeps
  store: Store
  sessionId: string
  /** Ends with the flow. */
  signal: AbortSignal
  onOpened(session: OpenedSession): Promise<void>
  /** Another tab goes on with this device. */
  onOvertaken(): void
}

/** Why the last try came to nothing, if the session goes on, and why it ended, if it did. */
export interface KnownErrors {
  whileOpen?: number[]
  atEnd?: number[]
}

/** The session on this device: opened, kept over a reload, called until it answers. */
export async function createSession({ deps, store, sessionId, signal, onOpened, onOvertaken }: SessionOptions) {
  const { clock, storage, page } = deps
  // A code may be opened in the browser that made it: two devices then, each with its own key.
  const keptAs = deps.address.joined ? `${sessionId}/2` : sessionId
  const kept = deps.address.handoffCode === null ? await storage.take(keptAs) : undefined
  let secondDevice = kept?.secondDevice ?? false
  let code = deps.address.handoffCode
  let wake: AbortController | null = null
  let losses = 0
  let began = false

  /** What this tab knows is old once another one goes on: it keeps nothing and says nothing more. */
  async function keep(): Promise<void> {
    const saved = await device.save()
    if (await storage.keep(keptAs, { saved, secondDevice, key: device.publicKey.x })) return
    onOvertaken()
    await new Promise(() => {})
  }
  const device: Device = await createDevice({
    baseUrl: deps.baseUrl,
    sessionId,
    platform: deps.browser.platform,
    clock,
    locale: deps.browser.language,
    ...(kept && { saved: { ...kept.saved, counter: kept.saved.counter + COUNTER_HEADROOM } }),
    // What was sent is never ahead of what was kept: after a reload the log and the counter go on where the server is.
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
  /** Until it is answered. */
  const call = <T>(work: (device: Device) => Promise<T>): Promise<T> =>
    callWithRetries(() => work(device), retryOptions)

  function update(session: LaunchState): void {
    store.patch({ session })
    store.dispatch({ type: 'updated', session })
  }

  async function adopt(session: OpenedSession): Promise<void> {
    const barred = session.role === 'viewer' && session.errors.includes(codes.DESKTOP)
    store.patch({ session, brand: session.brand, secondDevice, barred: barred || store.view().barred })
    await onOpened(session)
  }

  async function open(): Promise<OpenedSession> {
    const session = await device.open(code ?? undefined)
    if (code !== null) secondDevice = true
    code = null
    await keep()
    return session
  }

  /** Opens it, and says on the screen what keeps it from being opened. What passes is waited for. */
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
        store.dispatch({ type: 'refused', problem: problemOf(error) })
        if (!isPassing(error)) return
        wake = new AbortController()
        await page.wait(waitMs(failures + 1, undefined), AbortSignal.any([signal, wake.signal])).catch(() => {})
        wake = null
      }
    }
  }

  /** The page has lost track of the session: asks where it stands. What the page knows and the server does not say is added. */
  async function reopen(known: KnownErrors = {}): Promise<void> {
    try {
      const session = await call(() => open())
      await adopt(session)
      const errors = session.flowStatus === null ? known.whileOpen : known.atEnd
      store.dispatch({ type: 'opened', session: errors ? { ...session, errors } : session })
    } catch (error) {
      if (!signal.aborted) store.dispatch({ type: 'refused', problem: problemOf(error) })
    }
  }

  return {
    call,
    log,
    update,
    begin,
    reopen,
    /** A user who presses the button does not wait for the next try. */
    async again(): Promise<void> {
      if (wake) wake.abort()
      else await reopen()
    },
    /** A call was refused. */
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
