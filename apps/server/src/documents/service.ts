import { DOCUMENT_LIMITS, type DocumentFormat, type SessionCodeName } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { PairCounter } from '../platform/metrics.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { documentStore } from './store.ts'

export const KEPT_MS = DOCUMENT_LIMITS.reuseHours * 3_600_000

/** Marks older than this count no more, and are deleted. */
export const keptSince = (now: Date): Date => new Date(now.getTime() - KEPT_MS)

export function createDocuments({ metrics }: { metrics: PairCounter }) {
  return {
    /**
     * Whether the same document was shown in another session of the tenant on the same day. Remembers its mark. Two sessions that show it at the
     * same moment pass one after another, so one of them gets true.
     */
    isRepeated(
      tx: Queryable,
      { tenantId, livemode, sessionId }: TenantData & { sessionId: string },
      mark: string,
      now: Date,
    ): Promise<boolean> {
      const bytes = Buffer.from(mark, 'base64url')
      return documentStore.mark(tx, { tenantId, livemode }, { mark: bytes, sessionId, now, since: keptSince(now) })
    },

    /** The format is `NONE` where the device read nothing. */
    count: (outcome: SessionCodeName | 'ACCEPTED', format: DocumentFormat | 'NONE') => metrics.count(outcome, format),
  }
}
export type Documents = ReturnType<typeof createDocuments>
