import { EventEmitter, once } from 'node:events'
import { AppError } from '../platform/errors.ts'

export interface FileSlotLimits {
  /** Files of one sender at once: the threads are shared, and one customer must not occupy all of them. */
  perSender: number
  /** Files of all senders that are in memory at once. */
  total: number
  /** How long a file waits for a free slot. A caller who has a reply may send the next file before we see that the reply arrived. */
  waitMs: number
}

/** Limits the files that are screened at once. The returned function takes a slot and resolves to the function that frees it. */
export function createFileSlots({ perSender, total, waitMs }: FileSlotLimits): (sender: string) => Promise<() => void> {
  const taken = new Map<string, number>()
  let files = 0
  const slots = new EventEmitter().setMaxListeners(0)

  const isSenderFull = (sender: string) => (taken.get(sender) ?? 0) >= perSender

  function free(sender: string): void {
    const left = (taken.get(sender) ?? 1) - 1
    if (left > 0) taken.set(sender, left)
    else taken.delete(sender)
    files--
    slots.emit('freed')
  }

  return async (sender) => {
    const timeout = AbortSignal.timeout(waitMs)
    while (isSenderFull(sender) || files >= total) {
      const freed = await once(slots, 'freed', { signal: timeout }).catch(() => undefined)
      if (freed) continue
      const message = isSenderFull(sender) ? 'Too many files at once' : 'The service is busy'
      throw new AppError('rate_limited', 'TOO_MANY_FILES', message, { retryAfterSeconds: 2 })
    }
    taken.set(sender, (taken.get(sender) ?? 0) + 1)
    files++
    let isFree = false
    return () => {
      // The end of the reply and a failure may both free the slot of one file.
      if (isFree) return
      isFree = true
      free(sender)
    }
  }
}
