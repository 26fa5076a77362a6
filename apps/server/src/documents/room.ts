import { DOCUMENT_FORMATS } from '@ostiary/contract'
import { createPairCounter } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import type { Room } from '../platform/room.ts'
import { DOCUMENT_FAILURES } from './judge.ts'
import { createDocuments, KEPT_MS, keptSince } from './service.ts'
import { documentStore } from './store.ts'

/** What the document step of both areas needs: marks of documents that were shown, and what came of each. */
export function createDocumentsRoom({ metrics }: Pick<Platform, 'metrics'>) {
  const shown = createPairCounter(
    'ostiary_documents_total',
    'Documents that were shown, by what came of it and by format',
    {
      labels: ['outcome', 'format'],
      firsts: ['ACCEPTED', ...DOCUMENT_FAILURES],
      seconds: [...DOCUMENT_FORMATS, 'NONE'],
    },
  )
  const purgeMarks = purging((db, now, limit) => documentStore.purge(db, keptSince(now), limit))
  return {
    service: createDocuments({ metrics: metrics.add(shown) }),
    jobs: [
      {
        name: 'purge-document-marks',
        cron: '*/5 * * * *',
        run: purgeMarks,
        due: { table: 'document_marks', column: 'seen_at', keptMs: KEPT_MS },
      },
    ],
    retention: [
      {
        table: 'document_marks',
        key: 'tenant_id, livemode, mark',
        growsWith: 'documents shown to tenants with `documentReuseCheck`',
        after: '24 hours',
        by: 'purge-document-marks',
      },
    ],
  } satisfies Room & Record<string, unknown>
}
export type DocumentsRoom = ReturnType<typeof createDocumentsRoom>
