/** Fast enough to help, slow enough to be heard to the end. */
const LEAST_GAP_MS = 1_500

/**
 * Decides what a screen reader is told, and when: guidance changes several times a second, and an announcement that is
 * overtaken by the next is heard by nobody. Only the latest text waits for its turn.
 */
export function createAnnouncer() {
  let lastAtMs = Number.NEGATIVE_INFINITY
  let last = ''
  return {
    /** `text` is what to say at this moment (null: nothing new); `waitMs` when to ask again with the then latest text. */
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
export type Announcer = ReturnType<typeof createAnnouncer>
