import type { PageControls } from './deps.ts'

/** Longer than a glance at a message that came in. */
const GLANCE_MS = 5_000

/** Whether the page has been out of view for longer than a glance. `onGone` is called when it becomes so. */
export function watchAbsence(
  { onVisibility, pause }: Pick<PageControls, 'onVisibility' | 'pause'>,
  onGone: () => void,
) {
  let back = new AbortController()
  let gone = false
  onVisibility((visible) => {
    back.abort()
    back = new AbortController()
    gone = false
    if (visible) return
    pause(GLANCE_MS, back.signal).then(
      () => {
        gone = true
        onGone()
      },
      () => {},
    )
  })
  return { isGone: () => gone }
}
