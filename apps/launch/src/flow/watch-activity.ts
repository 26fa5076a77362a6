import { isActivity, SIGNS, staysFromTheStart } from './activity.ts'

/** Calls the listener once, when somebody uses or reads the page. */
export function watchActivity(listener: () => void): void {
  const watch = new AbortController()
  const { signal } = watch
  const found = () => {
    if (signal.aborted) return
    watch.abort()
    listener()
  }
  const [arrival] = performance.getEntriesByType('navigation')
  const isFromHistory = arrival instanceof PerformanceNavigationTiming && arrival.type === 'back_forward'
  if (staysFromTheStart({ isFromHistory, hasOpenDialog: document.querySelector('dialog[open]') !== null })) found()
  const look = (event: Event) => {
    const isOnHeading = event.target instanceof Element && event.target.matches('h1')
    const movedPx = event instanceof MouseEvent ? Math.abs(event.movementX) + Math.abs(event.movementY) : 0
    if (isActivity({ type: event.type, isOnHeading, movedPx })) found()
  }
  const options = { capture: true, passive: true, signal }
  for (const type of SIGNS) if (type !== 'scroll') document.addEventListener(type, look, options)
  // A screen that is shorter than the one before scrolls by itself, once: not before it is painted.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (!signal.aborted) document.addEventListener('scroll', look, options)
    }),
  )
  // The page was kept as it was while the user was elsewhere, and its timers go on.
  window.addEventListener('pageshow', ({ persisted }) => persisted && found(), { signal })
}
