import type { Store } from '../flow/store.ts'
import type { BrowserApis, OwnWindow } from './browser-apis.ts'

/**
 * Moves the flow into a separate window with a handoff, as to another device; the frame stays and watches. If the browser opens
 * no window, the code is shown on the screen.
 */
export function createPopOut(store: Store, { openWindow }: Pick<BrowserApis, 'openWindow'>): () => void {
  let waiting: OwnWindow | null = null
  store.onEnter((state) => {
    if (!waiting || (state.at === 'handoff' && state.status === 'making')) return
    const { handoff } = store.view()
    if (state.at === 'handoff' && state.status === 'ready' && handoff) waiting.go(handoff.url)
    else waiting.close()
    waiting = null
  })
  return () => {
    waiting = openWindow()
    store.dispatch({ type: 'handoff_asked' })
  }
}
