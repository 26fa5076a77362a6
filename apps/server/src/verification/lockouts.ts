import type { SessionCodeName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { afterFailure, failuresExpireAt, type LockState, waitSecondsOf } from './lockout.ts'
import type { LockoutSubject, VerificationProgress } from './progress.ts'
import { verificationStore } from './store.ts'

/**
 * A face, a passkey or a session that was refused: counts against the person that was named or recognised, the device and the network.
 * Codes in neither list count against nobody: a camera that did not start, for example. A session that was refused because of a lockout
 * (TEMPORARILY_LOCKED) does not count either: otherwise anyone could prolong a person's lockout without end.
 */
const COUNTED_AGAINST_PERSON: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'SPOOF',
  'VIDEO_SPOOF',
  'FACE_NOT_MATCH',
  'USER_NOT_ENROLLED',
  'PASSKEY_FAILED',
  'POLICY_BLOCKED',
])
/**
 * A try without a result (movements not followed, tries begun and not finished): counts against the device and the network only.
 * Otherwise anyone could lock out a person by beginning sessions in their name.
 */
const COUNTED_AGAINST_SOURCE: ReadonlySet<SessionCodeName> = new Set<SessionCodeName>([
  'LIVENESS_INCONCLUSIVE',
  'ATTEMPTS_EXCEEDED',
])

type Kind = LockoutSubject['kind']
/** Where a try came from. */
const SOURCE: ReadonlySet<Kind> = new Set<Kind>(['device', 'network'])
/** All kinds but `retries`, which only `recordSecondTry` counts. */
const PERSON_AND_SOURCE: ReadonlySet<Kind> = new Set<Kind>(['person', ...SOURCE])
const NOBODY: ReadonlySet<Kind> = new Set<Kind>()

function countsAgainst(failures: readonly SessionCodeName[]): ReadonlySet<Kind> {
  if (failures.some((name) => COUNTED_AGAINST_PERSON.has(name))) return PERSON_AND_SOURCE
  return failures.some((name) => COUNTED_AGAINST_SOURCE.has(name)) ? SOURCE : NOBODY
}

/** Makes subjects (persons, devices, networks) wait that fail too often. Everything runs in the caller's transaction. */
export function createLockouts({ clock }: { clock: Clock }) {
  /**
   * Counts one failure against each subject. Returns the longest wait before and after it, in seconds. If one of the subjects has to wait
   * already, nothing is counted against any of them.
   */
  async function count(
    tx: Queryable,
    owner: TenantData,
    subjects: readonly LockoutSubject[],
  ): Promise<{ before: number; after: number }> {
    if (subjects.length === 0) return { before: 0, after: 0 }
    const now = clock.now()
    const begun = { failures: 0, since: now, lockedUntil: null }
    const rows = await verificationStore.createAndLockLockoutRows(tx, owner, subjects.map(toBytes), {
      now,
      purgeAt: failuresExpireAt(begun),
    })
    const before = longestOf(rows, now)
    if (before > 0) return { before, after: before }
    const first = new Map(subjects.map(({ hash, failures }) => [hash, failures]))
    const counted = rows.map((row) => ({
      subject: row.subject,
      ...afterFailure(row, now, first.get(row.subject.toString('base64url'))),
    }))
    for (const row of counted) await verificationStore.putLockout(tx, owner, row, failuresExpireAt(row))
    return { before, after: longestOf(counted, now) }
  }

  return {
    /** The longest wait of these subjects in seconds; 0 when none of them has to wait. */
    async waitOf(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.findLockouts(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /**
     * Like `waitOf`, and locks the rows that the subjects have until the transaction ends. Transactions with the same subjects run one
     * after the other from here on, so each sees what the one before has counted.
     */
    async lockRowsAndGetWait(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[]): Promise<number> {
      if (subjects.length === 0) return 0
      return longestOf(await verificationStore.lockLockoutRows(tx, owner, subjects.map(toBytes)), clock.now())
    },

    /** Counts a failed try or session against the subjects that its failures concern. Returns the same as `count`. */
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
     * A session succeeded after it had counted a failure. The failure is taken back from the network and the device, which colleagues may
     * share. In a SIGN-IN it counts against the recognised person instead, as the subject `retries`, which no
     * success clears. Otherwise a person could try other faces before their own, in session after session
     * (docs/decisions/0022-second-tries-count-by-person.md).
     */
    async recordSecondTry(
      tx: Queryable,
      owner: TenantData,
      { subjects, counted }: Pick<VerificationProgress, 'subjects' | 'counted'>,
    ): Promise<void> {
      const shared = counted.filter(({ kind }) => SOURCE.has(kind))
      if (shared.length > 0) await verificationStore.takeBackFailure(tx, owner, shared.map(toBytes))
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

    /** What counts against these subjects at present, and if so wanted, forgets it. */
    async look(tx: Queryable, owner: TenantData, subjects: readonly LockoutSubject[], clears: boolean) {
      const now = clock.now()
      const rows = await verificationStore.lockLockoutRows(tx, owner, subjects.map(toBytes))
      const current = rows.filter((row) => now < failuresExpireAt(row))
      if (clears && rows.length > 0) await verificationStore.clearLockouts(tx, owner, subjects.map(toBytes))
      return { seconds: longestOf(current, now), failures: Math.max(0, ...current.map(({ failures }) => failures)) }
    },

    /** Test data only: every wait ends `ms` earlier (docs/decisions/0014-test-clock-shifts-deadlines.md). */
    shiftTestTime: (tx: Queryable, tenantId: string, ms: number): Promise<number> =>
      verificationStore.shiftLockouts(tx, tenantId, ms),
  }
}
export type Lockouts = ReturnType<typeof createLockouts>

const longestOf = (states: readonly LockState[], now: Date): number =>
  Math.max(0, ...states.map((state) => waitSecondsOf(state, now)))

const toBytes = ({ hash }: LockoutSubject): Buffer => Buffer.from(hash, 'base64url')
