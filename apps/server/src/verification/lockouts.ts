import type { SessionCodeName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { LockoutSubject } from '../sessions/index.ts'
import { afterFailure, forgottenAt, waitSecondsOf } from './lockout.ts'
import { type KeyOwner, verificationStore } from './store.ts'

/**
 * Failures that say something about who was there. A camera that did not start or a room that was too dark count against
 * nobody, and neither does a session that was refused for being locked: nobody locks another out by knocking.
 */
const COUNTED: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'SPOOF',
  'VIDEO_SPOOF',
  'FACE_NOT_MATCH',
  'USER_NOT_ENROLLED',
  'LIVENESS_INCONCLUSIVE',
  'PASSKEY_FAILED',
  'POLICY_BLOCKED',
  'ATTEMPTS_EXCEEDED',
])

/** Makes whoever fails too often wait. Everything runs in the caller's transaction. */
export function createLockouts({ clock }: { clock: Clock }) {
  return {
    /** The longest wait of those that are asked for, in seconds; 0 when none has to. */
    async waitOf(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      const now = clock.now()
      const known = await verificationStore.findLockouts(tx, owner, subjects.map(toBytes))
      return Math.max(0, ...known.map((state) => waitSecondsOf(state, now)))
    },

    /** A session failed. Returns how long the next one has to wait because of it, in seconds. */
    async record(
      tx: Queryable,
      owner: KeyOwner,
      subjects: readonly LockoutSubject[],
      failures: readonly SessionCodeName[],
    ): Promise<number> {
      if (subjects.length === 0 || !failures.some((name) => COUNTED.has(name))) return 0
      const now = clock.now()
      const begun = { failures: 0, since: now, lockedUntil: null }
      const held = await verificationStore.holdLockouts(tx, owner, subjects.map(toBytes), {
        now,
        purgeAt: forgottenAt(begun),
      })
      let waits = 0
      for (const row of held) {
        const after = afterFailure(row, now)
        waits = Math.max(waits, waitSecondsOf(after, now))
        await verificationStore.putLockout(tx, owner, { subject: row.subject, ...after }, forgottenAt(after))
      }
      return waits
    },

    /** A session went well: its person and its device begin anew. A network is shared, and keeps what others did. */
    async clear(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<void> {
      const own = subjects.filter(({ kind }) => kind !== 'network')
      if (own.length > 0) await verificationStore.clearLockouts(tx, owner, own.map(toBytes))
    },

    /** A session that had missed once went well after all: what it counted against its network is taken back. */
    async forgive(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<void> {
      const shared = subjects.filter(({ kind }) => kind === 'network')
      if (shared.length > 0) await verificationStore.forgive(tx, owner, shared.map(toBytes))
    },

    shiftTestTime: (tx: Queryable, tenantId: string, ms: number): Promise<number> =>
      verificationStore.shiftLockouts(tx, tenantId, ms),
  }
}
export type Lockouts = ReturnType<typeof createLockouts>

const toBytes = ({ hash }: LockoutSubject): Buffer => Buffer.from(hash, 'base64url')
