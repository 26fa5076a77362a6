/** A look that takes no longer than this feels immediate: nothing is gained by more threads. */
export const QUICK_LOOK_MS = 100
const THREADS_MAX = 4

export interface Surroundings {
  /** Only isolated pages may share memory between threads. */
  crossOriginIsolated: boolean
  cores: number
}

/**
 * How many threads are worth a trial beside the one that already runs; undefined for none. Half of the cores, because a page
 * that takes them all makes the camera's picture stutter; and on two cores there is nothing to share.
 */
export function threadsToTry(lookMs: number, { crossOriginIsolated, cores }: Surroundings): number | undefined {
  const threads = Math.min(THREADS_MAX, Math.floor(cores / 2))
  return crossOriginIsolated && lookMs > QUICK_LOOK_MS && threads > 1 ? threads : undefined
}

/** More threads must be clearly quicker: they take the battery of all cores, and a first timing is a rough one. */
export function areWorthIt(oneThreadLookMs: number, manyThreadsLookMs: number): boolean {
  return manyThreadsLookMs < 0.8 * oneThreadLookMs
}
