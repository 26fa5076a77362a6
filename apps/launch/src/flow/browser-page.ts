import { closePopup, findHost } from '../embed/find-host.ts'
import { pause } from '../pause.ts'
import type { PageControls } from './deps.ts'
import { createWakeLock } from './wake-lock.ts'
import { watchActivity } from './watch-activity.ts'

/** Controls the page in a real browser. */
export function createBrowserPage(sessionId: string | null): PageControls {
  return {
    pause,
    async wait(ms, signal) {
      const early = new AbortController()
      const wake = () => early.abort()
      window.addEventListener('online', wake, { once: true })
      try {
        await pause(ms, AbortSignal.any([signal, early.signal]))
      } catch {
        signal.throwIfAborted()
      } finally {
        window.removeEventListener('online', wake)
      }
    },
    onVisibility(listener) {
      document.addEventListener('visibilitychange', () => listener(document.visibilityState === 'visible'))
    },
    keepAwake: createWakeLock(),
    renew() {
      const reload = () => location.reload()
      if (document.hasFocus()) return reload()
      for (const sign of ['focus', 'click']) window.addEventListener(sign, reload)
    },
    onActivity: watchActivity,
    // Back from the host must lead to the page before this one, not to an end screen that leaves again.
    leave: (url) => location.replace(url),
    findHost: (origins) => (sessionId === null ? null : findHost(sessionId, origins)),
    close: closePopup,
  }
}
