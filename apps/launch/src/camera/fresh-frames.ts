/** The part of a video element that is used here. */
export interface FrameSource {
  readonly currentTime: number
  /** Not every browser has it. */
  requestVideoFrameCallback?(callback: () => void): number
  cancelVideoFrameCallback?(handle: number): void
}

/** Longer than one frame of a slow camera in a dark room (about 7 per second), shorter than a sample may be late. */
export const FRAME_WAIT_MS = 200
/** How often to poll a browser that has no frame callback. */
const ASK_EVERY_MS = 8

export class NoFreshFrameError extends Error {
  constructor() {
    super(`The camera gave no new picture for ${FRAME_WAIT_MS} ms`)
    this.name = 'NoFreshFrameError'
  }
}

/**
 * Waits for a new picture and fails if none arrives in time. It never returns the same picture twice: the server would take
 * that for a recording in a loop.
 */
export function createFreshFrames(video: FrameSource): { next(): Promise<void> } {
  let lastTime = Number.NEGATIVE_INFINITY
  return {
    async next() {
      const fresh = video.requestVideoFrameCallback ? await announced(video) : await changed(video, lastTime)
      if (!fresh) throw new NoFreshFrameError()
      lastTime = video.currentTime
    },
  }
}

function announced(video: FrameSource): Promise<boolean> {
  return new Promise((resolve) => {
    const handle = video.requestVideoFrameCallback?.(() => {
      clearTimeout(timer)
      resolve(true)
    })
    const timer = setTimeout(() => {
      if (handle !== undefined) video.cancelVideoFrameCallback?.(handle)
      resolve(false)
    }, FRAME_WAIT_MS)
  })
}

function changed(video: FrameSource, lastTime: number): Promise<boolean> {
  return new Promise((resolve) => {
    let asked = 0
    const ask = () => {
      if (video.currentTime !== lastTime) return resolve(true)
      asked += ASK_EVERY_MS
      if (asked > FRAME_WAIT_MS) return resolve(false)
      setTimeout(ask, ASK_EVERY_MS)
    }
    ask()
  })
}
