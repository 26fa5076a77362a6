import type { Handoff, LaunchState } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import type { FlowDeps } from './flow-deps.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'

/** Bounds for a device with a wrong clock: a session has few codes, and none lasts longer than five minutes. */
const CODE_LASTS_MS = { min: 60_000, max: 300_000 } as const

export interface HandoffOptions {
  deps: FlowDeps
  store: Store
  session: SessionLink
  /** Ends with the flow. */
  signal: AbortSignal
  /** This device holds the session again, and its log starts again. */
  onTakenBack(): void
}

/** Moves the session to another device, watches it there, and takes it back. */
export function createHandoff({ deps, store, session, signal, onTakenBack }: HandoffOptions) {
  let watching: AbortController | null = null
  let making: Promise<void> = Promise.resolve()
  let letGo = false
  let taking: Promise<void> | null = null

  async function askForCode(): Promise<void> {
    try {
      const handoff = await session.call((device) => device.handoff())
      letGo = true
      store.patch({ handoff, takeBackRefused: false })
      setNumber(handoff.number ?? null)
      store.dispatch({ type: 'handoff_ready' })
      watch()
      void replaceInTime(handoff)
    } catch (error) {
      if (isRefusal(error)) store.dispatch({ type: 'handoff_refused' })
      else await session.settle(error)
    }
  }

  /** Saves it too: the other device may ask for it while this page is loaded again. */
  function setNumber(number: string | null): void {
    store.patch({ number })
    void session.keep()
  }

  /** Replaces an unused code when it expires. */
  async function replaceInTime(handoff: Handoff): Promise<void> {
    const leftMs = Date.parse(handoff.expiresAt) - deps.clock.nowMs() - store.view().serverAheadMs
    try {
      await deps.page.pause(
        Math.min(Math.max(leftMs, CODE_LASTS_MS.min), CODE_LASTS_MS.max),
        watching?.signal ?? signal,
      )
    } catch {
      return
    }
    const { state, handoff: shown } = store.view()
    if (state.at === 'handoff' && state.status === 'ready' && shown === handoff)
      store.dispatch({ type: 'handoff_asked' })
  }

  function watch(): void {
    if (watching) return
    watching = new AbortController()
    const until = AbortSignal.any([signal, watching.signal])
    // Ignores updates that arrive after watching has ended: this device may hold the session again.
    const follow = (state: LaunchState) => {
      if (until.aborted) return
      session.update(state)
      // The other device has gone on, or made a code with a number of its own.
      const { number, state: shown } = store.view()
      if (number !== null && shown.at === 'viewer' && state.state !== 'OPENED') setNumber(null)
    }
    session
      .call((device) => device.watch(follow, until))
      .catch((error: unknown) => {
        if (!until.aborted) return session.settle(error)
      })
  }

  function unwatch(): void {
    watching?.abort()
    watching = null
  }

  async function makeItOurs(): Promise<void> {
    await making
    // This device never made a code, so there is nothing to take back: only the screen changes.
    const { role, state } = store.view().session ?? {}
    if (!letGo && role === 'holder' && state !== 'HANDOFF_WAIT') return session.reopen()
    unwatch()
    try {
      const taken = await session.call((device) => device.takeBack())
      letGo = false
      onTakenBack()
      store.patch({ session: taken, handoff: null })
      store.dispatch({ type: 'opened', session: taken })
    } catch (error) {
      if (!isRefusal(error)) return session.settle(error)
      store.patch({ takeBackRefused: true })
      watch()
    }
  }

  return {
    /** Requests a code for another device. */
    makeCode(): Promise<void> {
      making = askForCode()
      return making
    },
    watch,
    /** A second tap while it runs has no effect. */
    takeBack(): Promise<void> {
      taking ??= makeItOurs().finally(() => {
        taking = null
      })
      return taking
    },
  }
}
export type HandoffPart = ReturnType<typeof createHandoff>

export function isRefusal(error: unknown): boolean {
  return error instanceof DeviceError && error.code === 'HANDOFF_REFUSED'
}
