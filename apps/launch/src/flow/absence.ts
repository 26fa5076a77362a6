import type { PageControls } from './deps.ts'

/** Longer than it takes to read a notification. */
const GLANCE_MS = 5_000

/** Knows whether the page has been hidden for longer than a glance. Calls `onGone` when that time has passed. */
export function watchAbsence(
  { onVisibility, pause }: Pick<PageControls, 'onVisibility' | 'pause'>,
  onGone: () => void,
) {
  let back = new AbortController()
  let gone = false
  const awaiting = new Set<() => void>()
  onVisibility((visible) => {
    back.abort()
    back = new AbortController()
    gone = false
    if (visible) {
      for (const resolve of awaiting) resolve()
      awaiting.clear()
      return
    }
    pause(GLANCE_MS, back.signal).then(
      () => {
        gone = true
        onGone()
      },
      () => {},
    )
  })
  return {
    isGone: () => gone,
    /** Resolves when the page is visible. */
    returned: (): Promise<void> => (gone ? new Promise((resolve) => awaiting.add(resolve)) : Promise.resolve()),
  }
}
