/** Long enough to hear an announcement to its end. */
const LEAST_GAP_MS = 1_500

/**
 * Decides what a screen reader announces, and when. Guidance changes several times a second, and each announcement cuts off
 * the one before. So only the latest text waits, and the others are dropped.
 */
export function createAnnouncer() {
  let lastAtMs = Number.NEGATIVE_INFINITY
  let last = ''
  return {
    /** `text`: announce this now (null: nothing). `waitMs`: ask again after this time, with the latest text (null: no need). */
    next(text: string, nowMs: number): { text: string | null; waitMs: number | null } {
      if (text === last || text === '') return { text: null, waitMs: null }
      const dueMs = lastAtMs + LEAST_GAP_MS
      if (nowMs < dueMs) return { text: null, waitMs: dueMs - nowMs }
      last = text
      lastAtMs = nowMs
      return { text, waitMs: null }
    },
  }
}
