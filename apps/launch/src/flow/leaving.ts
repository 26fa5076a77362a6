import type { PageControls } from './deps.ts'
import { END_SCREENS, type EndScreen, type State } from './states.ts'
import type { Store } from './store.ts'

/** Time to read an end screen before the page goes back to the host by itself. */
const LEAVE_AFTER_MS: Readonly<Record<EndScreen, number>> = {
  done: 3_000,
  cancelled: 3_000,
  declined: 4_000,
  ended: 7_000,
  expired: 7_000,
}

/** Browsers have let IndexedDB hang; what stays stored is dropped with the other old devices. */
const FORGET_MAX_MS = 1_000

export interface LeavingOptions {
  store: Store
  page: Pick<PageControls, 'pause' | 'leave' | 'onActivity'>
  /** Forgets the device. Called at the last moment: the service tells the code again to a page that is loaded again. */
  forget(): Promise<void>
}

/** Goes back to the host: by itself after a while, unless the user shows that they are still there. */
export function createLeaving({ store, page, forget }: LeavingOptions) {
  /** Aborted when the page must not leave by itself. */
  const staying = new AbortController()

  function stay(): void {
    if (!isEnd(store.view().state.at)) return
    staying.abort(new Error('The user stays'))
    store.patch({ stays: true })
  }

  async function leave(): Promise<void> {
    const { session } = store.view()
    if (!session || session.redirectUrl === null) return
    await Promise.race([forget(), page.pause(FORGET_MAX_MS, new AbortController().signal)])
    page.leave(session.redirectUrl)
  }

  async function leaveLater(end: EndScreen): Promise<void> {
    // A user who listens gives no sign that the page could notice: screen readers keep their keys to themselves.
    if (store.view().moreTime) return stay()
    page.onActivity(stay)
    const isTime = await page.pause(LEAVE_AFTER_MS[end], staying.signal).then(
      () => true,
      () => false,
    )
    if (isTime) await leave()
  }

  return { stay, leave, leaveLater }
}

export function isEnd(at: State['at']): at is EndScreen {
  return END_SCREENS.some((name) => name === at)
}
