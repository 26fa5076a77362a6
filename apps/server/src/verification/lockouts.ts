import type { SessionCodeName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { afterFailure, forgottenAt, type LockState, waitSecondsOf } from './lockout.ts'
import type { LockoutSubject, VerificationProgress } from './progress.ts'
import { type KeyOwner, verificationStore } from './store.ts'

/**
 * Failures that say something about who was there. A camera that did not start counts against nobody, and neither does a session that
 * was refused for being locked: nobody locks another out by knocking.
 */
const SAYS_WHO: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'SPOOF',
  'VIDEO_SPOOF',
  'FACE_NOT_MATCH',
  'USER_NOT_ENROLLED',
  'PASSKEY_FAILED',
  'POLICY_BLOCKED',
])
/** These say only that a try was made: they count against the device and the network, not against the person that the host named. */
const SAYS_WHERE: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'LIVENESS_INCONCLUSIVE',
  'ATTEMPTS_EXCEEDED',
])

type Kind = LockoutSubject['kind']
const ALL: ReadonlySet<Kind> = new Set<Kind>(['person', 'device', 'network'])
const PLACES: ReadonlySet<Kind> = new Set<Kind>(['device', 'network'])
const NOBODY: ReadonlySet<Kind> = new Set<Kind>()

function countsAgainst(failures: readonly SessionCodeName[]): ReadonlySet<Kind> {
  if (failures.some((name) => SAYS_WHO.has(name))) return ALL
  return failures.some((name) => SAYS_WHERE.has(name)) ? PLACES : NOBODY
}

/** Makes subjects wait that fail too often. Everything runs in the caller's transaction. */
export function createLockouts({ clock }: { clock: Clock }) {
  /** The waits before it and after it. A subject that has to wait already is not counted again. */
  async function count(
    tx: Queryable,
    owner: KeyOwner,
    subjects: readonly LockoutSubject[],
  ): Promise<{ before: number; after: number }> {
    if (subjects.length === 0) return { before: 0, after: 0 }
    const now = clock.now()
    const begun = { failures: 0, since: now, lockedUntil: null }
    const held = await verificationStore.holdLockouts(tx, owner, subjects.map(toBytes), {
      now,
      purgeAt: forgottenAt(begun),
    })
    const before = longestOf(held, now)
    if (before > 0) return { before, after: before }
    const counted = held.map((row) => ({ subject: row.subject, ...afterFailure(row, now) }))
    for (const row of counted) await verificationStore.putLockout(tx, owner, row, forgottenAt(row))
    return { before, after: longestOf(counted, now) }
  }

  return {
    /** The longest wait of those that are asked for, in seconds; 0 when none has to. */
    async waitOf(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.findLockouts(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /** The same, and what is known of them is this transaction's from now on: of several at once each sees the one before. */
    async holdWaitOf(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.holdKnownLockouts(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /** A session failed. How long it would have had to wait before, and how long the next one has to because of it, in seconds. */
    record(
      tx: Queryable,
      owner: KeyOwner,
      subjects: readonly LockoutSubject[],
      failures: readonly SessionCodeName[],
    ): Promise<{ before: number; after: number }> {
      const kinds = countsAgainst(failures)
      return count(
        tx,
        owner,
        subjects.filter(({ kind }) => kinds.has(kind)),
      )
    },

    /**
     * A sign-in went well after a failure that was counted. Its network and a browser that is another's are forgiven, and what it counts against is the
     * person: faces could be tried without end in front of one's own otherwise.
     */
    async noteRetry(
      tx: Queryable,
      owner: KeyOwner,
      { subjects, counted }: Pick<VerificationProgress, 'subjects' | 'counted'>,
    ): Promise<void> {
      const shared = counted.filter(({ kind }) => kind === 'network' || kind === 'device')
      if (shared.length > 0) await verificationStore.forgive(tx, owner, shared.map(toBytes))
      await count(
        tx,
        owner,
        subjects.filter(({ kind }) => kind === 'retries'),
      )
    },

    /** A session succeeded: the failures of its person and its device are deleted. A network is shared, and keeps its failures. */
    async clear(tx: Queryable, owner: KeyOwner, subjects: readonly LockoutSubject[]): Promise<void> {
      const own = subjects.filter(({ kind }) => kind === 'person' || kind === 'device')
      if (own.length > 0) await verificationStore.clearLockouts(tx, owner, own.map(toBytes))
    },

    shiftTestTime: (tx: Queryable, tenantId: string, ms: number): Promise<number> =>
      verificationStore.shiftLockouts(tx, tenantId, ms),
  }
}
export type Lockouts = ReturnType<typeof createLockouts>

const longestOf = (states: readonly LockState[], now: Date): number =>
  Math.max(0, ...states.map((state) => waitSecondsOf(state, now)))

const toBytes = ({ hash }: LockoutSubject): Buffer => Buffer.from(hash, 'base64url')
