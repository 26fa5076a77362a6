import { createHash, timingSafeEqual } from 'node:crypto'
import { type LaunchState, RETURN_LIMITS } from '@ostiary/contract'
import { takeRandom } from '../platform/random.ts'
import type { BoundDevice, Progress } from './progress.ts'

const CODE_BYTES = 32

/**
 * What is left of a session's devices when it has ended: which of them learn where to continue, and the one-time code by which the host sees
 * that the user comes back in the browser that the result belongs to. Sealed in the session.
 */
export interface ReturnTicket {
  /** The browser that the result belongs to: it alone gets the code. */
  owner: BoundDevice
  /** The other device of a handoff: it gets the redirect without the code. */
  other: BoundDevice | null
  /** Null if no browser has ended the session, or its area gives no code. */
  code: string | null
  /** Codes that the host has sent, right and wrong, oldest first. */
  tries: ReturnTry[]
  /**
   * What the device that held the session learns when it opens the ended session again. Where the reply about the end was lost, it would
   * otherwise delete keys that the person needs. Tickets of the last release have none.
   */
  bound?: BoundKeys & { thumbprint: string }
}

/** What the end has bound to the person, of all that the device holds keys of. */
export type BoundKeys = Pick<LaunchState, 'localKeyBound' | 'tokenBound'>

export interface ReturnTry {
  outcome: 'confirmed' | 'wrong'
  atMs: number
  /** Hashes of the `Idempotency-Key` and of the request; null without a key. */
  keyHash: string | null
  fingerprint: string | null
}

/** The ticket of a session that ends now; null if no device has opened it. */
export function newReturnTicket(
  progress: Progress | null,
  withCode: boolean,
  bound: BoundKeys = {},
): ReturnTicket | null {
  const owner = progress && ownerOf(progress)
  if (!owner) return null
  const { holder, viewer } = progress
  const code = withCode ? takeRandom(CODE_BYTES).toString('base64url') : null
  const other = owner === holder ? viewer : holder
  const isBound = holder !== null && Object.keys(bound).length > 0
  return {
    ...{ owner: keyOf(owner), other: other && keyOf(other), code, tries: [] },
    ...(isBound && { bound: { ...bound, thumbprint: holder.thumbprint } }),
  }
}

/** Where a device was and what its clock showed is forgotten at the end. */
const keyOf = ({ key, thumbprint, counter }: BoundDevice): BoundDevice => ({ key, thumbprint, counter })

/**
 * The browser that the result belongs to. After a handoff that is the first device, where the user signs in to the host, but only if its
 * user has brought the number from its screen to the second one. Otherwise anybody could have sent that user the code.
 */
function ownerOf({ holder, viewer, matched }: Progress): BoundDevice | null {
  if (!holder) return viewer
  return viewer && matched === holder.thumbprint ? viewer : holder
}

/** A device of an ended session has called again: this call is used up like all others. */
export function seenAgain(ticket: ReturnTicket, device: BoundDevice): ReturnTicket {
  const isOwner = device.thumbprint === ticket.owner.thumbprint
  return isOwner ? { ...ticket, owner: keyOf(device) } : { ...ticket, other: keyOf(device) }
}

/** What the end has bound to this device. */
export function boundTo(ticket: ReturnTicket | null, thumbprint: string): BoundKeys {
  if (!ticket?.bound || ticket.bound.thumbprint !== thumbprint) return {}
  const { thumbprint: _thumbprint, ...bound } = ticket.bound
  return bound
}

/** The hash of a code, as the host gets it in the result. In hex, because every language makes that from a SHA-256. */
export function codeHashOf(ticket: ReturnTicket | null): string | null {
  if (!ticket || ticket.code === null) return null
  return createHash('sha256').update(ticket.code).digest('hex')
}

/** A code that the host sends, with its idempotency key. */
export interface SentCode {
  code: string
  keyHash: string | null
  fingerprint: string | null
  nowMs: number
}

export type ReturnAnswer =
  | { outcome: 'confirmed'; atMs: number; isRepeat: boolean }
  | { outcome: 'wrong' | 'used' | 'mismatch' }

/** The answer to a code, and the ticket after it. A ticket that did not change is the same object. */
export function answerCode(ticket: ReturnTicket, sent: SentCode): { answer: ReturnAnswer; ticket: ReturnTicket } {
  const { code, tries } = ticket
  const { keyHash, fingerprint, nowMs } = sent
  const earlier = tries.find((one) => isSameKey(one, sent))
  if (earlier) {
    if (earlier.fingerprint !== fingerprint) return { ticket, answer: { outcome: 'mismatch' } }
    const { outcome, atMs } = earlier
    return { ticket, answer: outcome === 'confirmed' ? { outcome, atMs, isRepeat: true } : { outcome } }
  }
  if (tries.some(({ outcome }) => outcome === 'confirmed')) return { ticket, answer: { outcome: 'used' } }
  if (code === null || tries.length >= RETURN_LIMITS.wrongCodes) return { ticket, answer: { outcome: 'wrong' } }
  const outcome = isEqual(sent.code, code) ? ('confirmed' as const) : ('wrong' as const)
  const after = { ...ticket, tries: [...tries, { outcome, atMs: nowMs, keyHash, fingerprint }] }
  return { ticket: after, answer: outcome === 'confirmed' ? { outcome, atMs: nowMs, isRepeat: false } : { outcome } }
}

function isSameKey(earlier: ReturnTry, { keyHash, nowMs }: SentCode): boolean {
  return keyHash !== null && earlier.keyHash === keyHash && nowMs - earlier.atMs < RETURN_LIMITS.repeatHours * 3_600_000
}

/** Compares hashes, because texts of different lengths cannot be compared in constant time. */
function isEqual(sent: string, code: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(sent), hashOf(code))
}
