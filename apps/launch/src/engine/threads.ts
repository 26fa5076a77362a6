/** A look up to this duration feels immediate, so more threads gain nothing. */
export const QUICK_LOOK_MS = 100
const THREADS_MAX = 4

export interface Surroundings {
  /**
   * Only cross-origin isolated pages can share memory between threads. WebKitGTK says that a page is isolated and has no SharedArrayBuffer
   * nevertheless, so both are asked for.
   */
  sharesMemory: boolean
  cores: number
}

/**
 * How many threads to try instead of the one that runs already; undefined for no trial. Half of the cores, because the camera's
 * picture stutters if a page uses all of them. Two cores are too few.
 */
export function threadsToTry(lookMs: number, { sharesMemory, cores }: Surroundings): number | undefined {
  const threads = Math.min(THREADS_MAX, Math.floor(cores / 2))
  return sharesMemory && lookMs > QUICK_LOOK_MS && threads > 1 ? threads : undefined
}

/** Whether more threads are clearly faster. A small gain is not enough: they use more battery, and a first timing is rough. */
export function areMoreThreadsFaster(oneThreadLookMs: number, manyThreadsLookMs: number): boolean {
  return manyThreadsLookMs < 0.8 * oneThreadLookMs
}
