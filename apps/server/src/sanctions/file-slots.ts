import { EventEmitter, once } from 'node:events'
import { AppError } from '../platform/errors.ts'

/** Whose file it is. Files with the same sender count together, and so do files with the same tenant. */
export interface SlotHolder {
  /** A key, or the network of a caller without a key. */
  sender: string
  /** All callers without a key are one. */
  tenant: string
}

export interface FileSlotLimits {
  /** Files of one sender at once: the threads are shared, and one customer must not occupy all of them. */
  perSender: number
  /** Files of one tenant at once, from all its keys. */
  perTenant: number
  /** Files of all senders that are in memory at once. */
  total: number
  /** How long a file waits for a free slot. A caller who has a reply may send the next file before we see that the reply arrived. */
  waitMs: number
}

/** Limits the files that are screened at once. The returned function takes a slot and resolves to the function that frees it. */
export function createFileSlots(limits: FileSlotLimits): (holder: SlotHolder) => Promise<() => void> {
  const senders = new Map<string, number>()
  const tenants = new Map<string, number>()
  let files = 0
  const slots = new EventEmitter().setMaxListeners(0)

  const hasTooMany = ({ sender, tenant }: SlotHolder) =>
    (senders.get(sender) ?? 0) >= limits.perSender || (tenants.get(tenant) ?? 0) >= limits.perTenant

  function add({ sender, tenant }: SlotHolder, change: 1 | -1): void {
    count(senders, sender, change)
    count(tenants, tenant, change)
    files += change
  }

  return async (holder) => {
    const timeout = AbortSignal.timeout(limits.waitMs)
    while (hasTooMany(holder) || files >= limits.total) {
      const freed = await once(slots, 'freed', { signal: timeout }).catch(() => undefined)
      if (freed) continue
      const message = hasTooMany(holder) ? 'Too many files at once' : 'The service is busy'
      throw new AppError('rate_limited', 'TOO_MANY_FILES', message, { retryAfterSeconds: 2 })
    }
    add(holder, 1)
    let isFree = false
    return () => {
      // The end of the reply and a failure may both free the slot of one file.
      if (isFree) return
      isFree = true
      add(holder, -1)
      slots.emit('freed')
    }
  }
}

function count(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
