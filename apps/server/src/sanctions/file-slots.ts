import { EventEmitter, once } from 'node:events'
import { AppError } from '../platform/errors.ts'

export interface FileSlotLimits {
  /** Files of one owner at once: the threads are shared, and one customer must not occupy all of them. */
  perOwner: number
  /** Files of all owners that are in memory at once. */
  total: number
  /** How long a file waits for a free slot. A caller who has a reply may send the next file before we see that the reply arrived. */
  waitMs: number
}

/** Limits the files that are screened at once. The returned function takes a slot and resolves to the function that frees it. */
export function createFileSlots({ perOwner, total, waitMs }: FileSlotLimits): (owner: string) => Promise<() => void> {
  const taken = new Map<string, number>()
  let files = 0
  const slots = new EventEmitter().setMaxListeners(0)

  const isOwnerFull = (owner: string) => (taken.get(owner) ?? 0) >= perOwner

  function free(owner: string): void {
    const left = (taken.get(owner) ?? 1) - 1
    if (left > 0) taken.set(owner, left)
    else taken.delete(owner)
    files--
    slots.emit('freed')
  }

  return async (owner) => {
    const timeout = AbortSignal.timeout(waitMs)
    while (isOwnerFull(owner) || files >= total) {
      const freed = await once(slots, 'freed', { signal: timeout }).catch(() => undefined)
      if (freed) continue
      const message = isOwnerFull(owner) ? 'Too many files at once' : 'The service is busy'
      throw new AppError('rate_limited', 'TOO_MANY_FILES', message, { retryAfterSeconds: 2 })
    }
    taken.set(owner, (taken.get(owner) ?? 0) + 1)
    files++
    let isFree = false
    return () => {
      // The end of the reply and a failure may both free the slot of one file.
      if (isFree) return
      isFree = true
      free(owner)
    }
  }
}
