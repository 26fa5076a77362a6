import type { SessionCodeName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { afterFailure, failuresExpireAt, type LockState, waitSecondsOf } from './lockout.ts'
import type { LockoutSubject, VerificationProgress } from './progress.ts'
import { verificationStore } from './store.ts'

/**
 * Failures that show who was there. A camera that did not start counts against nobody. Neither does a session that was refused because
 * of a lockout: otherwise anyone could lock a person out for ever.
 */
const SHOWS_WHO: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'SPOOF',
  'VIDEO_SPOOF',
  'FACE_NOT_MATCH',
  'USER_NOT_ENROLLED',
  'PASSKEY_FAILED',
  'POLICY_BLOCKED',
])
/** These say only that a try was made: they count against the device and the network, not against the person that the host named. */
const SHOWS_TRY_ONLY: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'LIVENESS_INCONCLUSIVE',
  'ATTEMPTS_EXCEEDED',
])

type Kind = LockoutSubject['kind']
const ALL: ReadonlySet<Kind> = new Set<Kind>(['person', 'device', 'network'])
const PLACES: ReadonlySet<Kind> = new Set<Kind>(['device', 'network'])
const NOBODY: ReadonlySet<Kind> = new Set<Kind>()

function countsAgainst(failures: readonly SessionCodeName[]): ReadonlySet<Kind> {
  if (failures.some((name) => SHOWS_WHO.has(name))) return ALL
  return failures.some((name) => SHOWS_TRY_ONLY.has(name)) ? PLACES : NOBODY
}

/** Makes subjects that fail too often wait. Everything runs in the caller's transaction. */
export function createLockouts({ clock }: { clock: Clock }) {
  /** Counts a failure. Returns the waits before and after it. A subject that has to wait already is not counted again. */
  async function count(
    tx: Queryable,
    owner: TenantData,
    subjects: readonly LockoutSubject[],
  ): Promise<{ before: number; after: number }> {
    if (subjects.length === 0) return { before: 0, after: 0 }
    const now = clock.now()
    const begun = { failures: 0, since: now, lockedUntil: null }
    const held = await verificationStore.holdLockouts(tx, owner, subjects.map(toBytes), {
      now,
      purgeAt: failuresExpireAt(begun),
    })
    const before = longestOf(held, now)
    if (before > 0) return { before, after: before }
    const counted = held.map((row) => ({ subject: row.subject, ...afterFailure(row, now) }))
    for (const row of counted) await verificationStore.putLockout(tx, owner, row, failuresExpireAt(row))
    return { before, after: longestOf(counted, now) }
  }

  return {
    /** The longest wait of these subjects in seconds; 0 when none of them has to wait. */
    async waitOf(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.findLockouts(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /** The same, and locks the rows of the subjects: of several transactions at once, each sees the counts of the one before. */
    async holdWaitOf(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.holdKnownLockouts(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /** Counts a failed session. Returns the wait that applied before it and the wait of the next session, in seconds. */
    record(
      tx: Queryable,
      owner: TenantData,
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
     * A sign-in succeeded after a failure that was counted. The failure is taken back from the network and from another person's browser, and
     * counts against the person who signed in. Otherwise a person could try any number of faces before their own.
     */
    async noteRetry(
      tx: Queryable,
      owner: TenantData,
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
    async clear(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[]): Promise<void> {
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
