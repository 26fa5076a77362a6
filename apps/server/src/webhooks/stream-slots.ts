import { EVENT_LIMITS } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'

/** The most calls that wait for events in one process, a quarter of them for one tenant. */
const MOST_STREAMS = 1_000
const RETRY_SECONDS = 5

/** Calls that wait for events: few of each key, and not too many of all. Counted in each process. */
export function createStreamSlots({ perKey = EVENT_LIMITS.streamsPerKey as number, total = MOST_STREAMS } = {}) {
  const all = createFairSlots({ total })
  const ofKeys = new Map<string, number>()
  return {
    /** Returns the function that frees the slot; it may be called twice. */
    take(tenantId: string, keyId: string): () => void {
      const extra = { retryAfterSeconds: RETRY_SECONDS }
      const open = ofKeys.get(keyId) ?? 0
      if (open >= perKey) {
        const message = `This API key has ${perKey} event streams open, which is the most`
        throw new AppError('rate_limited', 'RATE_LIMITED', message, extra)
      }
      const freeShared = all.take(tenantId)
      if (!freeShared)
        throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many event streams are open, try again', extra)
      ofKeys.set(keyId, open + 1)
      let isFree = false
      return () => {
        if (isFree) return
        isFree = true
        freeShared()
        const left = (ofKeys.get(keyId) ?? 1) - 1
        if (left > 0) ofKeys.set(keyId, left)
        else ofKeys.delete(keyId)
      }
    },
  }
}
export type StreamSlots = ReturnType<typeof createStreamSlots>
