/** The part of a camera's track that is used here. */
export interface WatchedTrack extends EventTarget {
  readonly muted: boolean
}

/** Phones mute the camera for a moment when a call comes in or another app is on top; after this long it counts as gone. */
export const MUTED_MS_MAX = 5_000

/** Calls back once when the camera stops by itself: the track ended, or was mute for too long while the page was visible. */
export function watchTrack(track: WatchedTrack, isVisible: () => boolean, onEnded: () => void): { stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => {
    clearTimeout(timer)
    track.removeEventListener('ended', end)
    track.removeEventListener('mute', muted)
    track.removeEventListener('unmute', unmuted)
  }
  const end = () => {
    stop()
    onEnded()
  }
  const unmuted = () => clearTimeout(timer)
  const muted = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (!track.muted) return
      if (isVisible()) end()
      else muted()
    }, MUTED_MS_MAX)
  }
  track.addEventListener('ended', end)
  track.addEventListener('mute', muted)
  track.addEventListener('unmute', unmuted)
  return { stop }
}
