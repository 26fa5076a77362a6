import { createHmac, hkdfSync } from 'node:crypto'
import { FAILURE_LIMITS, type FailureLimitName } from '@ostiary/contract'
import type { Cells } from '../cells.ts'
import type { Clock } from '../clock.ts'
import type { Db } from '../db.ts'
import type { Share } from '../rate-limit.ts'
import { failureLimitStore } from './store.ts'

/** A failure, and whom it counts against. */
export interface Failure {
  limit: FailureLimitName
  /** Whose cell counts it. Not known for a wrong key: then the first cell counts. */
  tenantId?: string | undefined
  /** The networks of an address, or one key, or one tenant. */
  against: readonly Share[]
  /** Where it is not the rate of the limit. */
  perSecond?: number | undefined
}

interface Deps {
  cells: Cells
  clock: Clock
  masterKey: Buffer
  /** Gets what somebody owes by the count of all processes. */
  onDebt(limit: FailureLimitName, name: string, owedMs: number): void
}

interface Subject {
  tenantId: string
  subject: Buffer
  /** Of all failures of a statement, and of one. */
  costMs: number
  oneMs: number
  /** In the process's own table. */
  name: string
}

const NO_TENANT = '00000000-0000-0000-0000-000000000000'
/** PostgreSQL keeps microseconds: the last failure of an allowance must not be refused for a rounded sum. */
const TOLERANCE_MS = 1

export const perSecondOf = ({ limit, perSecond }: Failure): number => perSecond ?? FAILURE_LIMITS[limit].perSecond

/** The name in the process's own table. */
export const nameOf = ({ limit, tenantId }: Failure, name: string): string =>
  `failures/${limit}/${tenantId ?? ''}/${name}`

/** The counts that all processes share, in PostgreSQL. */
export function createSharedCounts({ cells, clock, masterKey, onDebt }: Deps) {
  // The database shows no network. With a new master key every count begins again.
  const hashKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'ostiary/failure-limits/v1', 32))

  function subjectsOf(failure: Failure): Subject[] {
    const { limit, tenantId = NO_TENANT, against } = failure
    return against.map(({ name, factor }) => {
      const subject = createHmac('sha256', hashKey)
        .update(JSON.stringify([limit, tenantId, name]))
        .digest()
      const oneMs = 1000 / (perSecondOf(failure) * factor)
      return { tenantId, subject, costMs: oneMs, oneMs, name: nameOf(failure, name) }
    })
  }

  return {
    dbFor(tenantId: string | undefined): Db {
      const db = tenantId === undefined ? cells.all()[0]?.db : cells.forId(tenantId).shared
      if (!db) throw new Error('There is no cell')
      return db
    },

    /** Counts failures of one limit in one statement. Returns for each whether it is within the allowance of all that it counts against. */
    async count(db: Db, limit: FailureLimitName, failures: readonly Failure[]): Promise<boolean[]> {
      const burstMs = FAILURE_LIMITS[limit].burstSeconds * 1000
      const subjects = failures.map(subjectsOf)
      const counted = new Map<string, Subject>()
      for (const one of subjects.flat()) {
        const known = counted.get(keyOf(one))
        counted.set(keyOf(one), known ? { ...known, costMs: known.costMs + one.oneMs } : one)
      }
      const left = new Map<string, number>()
      for (const debt of await failureLimitStore.count(db, { limit, burstMs, now: clock.now() }, [
        ...counted.values(),
      ])) {
        const { name, oneMs } = counted.get(keyOf(debt)) ?? {}
        if (name === undefined || oneMs === undefined) continue
        onDebt(limit, name, debt.afterMs - TOLERANCE_MS)
        left.set(keyOf(debt), Math.floor((burstMs + TOLERANCE_MS - debt.beforeMs) / oneMs))
      }
      return subjects.map((own) => {
        const isWithin = own.every((one) => (left.get(keyOf(one)) ?? 0) > 0)
        for (const one of own) left.set(keyOf(one), (left.get(keyOf(one)) ?? 0) - 1)
        return isWithin
      })
    },
  }
}

const keyOf = ({ tenantId, subject }: { tenantId: string; subject: Buffer }) =>
  `${tenantId}/${subject.toString('base64')}`
