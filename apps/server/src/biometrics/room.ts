import { NODE_PREFIX } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import type { KeysRoom } from '../keys/index.ts'
import type { Queryable } from '../platform/db.ts'
import { createKeyedMutex } from '../platform/keyed-mutex.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SettingsRoom } from '../settings/index.ts'
import { createDeclaredModels } from './declared-models.ts'
import { createEnrolment } from './enrolment.ts'
import { renderNodeError } from './errors.ts'
import { codeAllFaces } from './face-codes.ts'
import { DELETIONS_KEPT_MS, purgeDeletions } from './face-deletions.ts'
import type { GroupId } from './group-keys.ts'
import { createGroups } from './groups.ts'
import { SLOTS_KEPT_MS } from './hit-budget.ts'
import { createHitCounts, purgeHits } from './hit-counts.ts'
import { createNodeMetrics, watchSizes } from './metrics.ts'
import { createNodeAnswers } from './node-answers.ts'
import { createRecognition } from './recognition.ts'
import { nodeRoutes } from './routes.ts'
import { createTransport, purgeUsedEnvelopes } from './transport.ts'
import { createVectorPartitions } from './vector-partitions.ts'

interface Deps {
  keys: KeysRoom
  settings: SettingsRoom
  /** What other rooms keep of a person is deleted in the transaction that deletes the person. */
  onErase: readonly ((tx: Queryable, group: GroupId, personId: string) => Promise<unknown>)[]
}

/** Area E. */
export function createBiometricsRoom(platform: Platform, { keys, settings, onErase }: Deps) {
  const metrics = createNodeMetrics(platform.metrics)
  const groups = createGroups(platform)
  const models = createDeclaredModels(platform)
  const searching = { ...platform, groups, metrics, withLock: createKeyedMutex() }
  const enrolment = createEnrolment(searching)
  const recognition = createRecognition({
    ...searching,
    async onErase(tx, group, personId) {
      for (const erase of onErase) await erase(tx, group, personId)
    },
  })
  const hits = createHitCounts({ ...platform, metrics })
  const answers = createNodeAnswers({ ...platform, enrolment, recognition, hits, settings: settings.service })
  const transport = createTransport(platform)
  const vectorPartitions = createVectorPartitions({ ...platform, groups })
  return {
    groups,
    models,
    enrolment,
    recognition,
    vectorPartitions,
    async routes(app: FastifyInstance) {
      app.register(nodeRoutes, { answers, recognition, transport, models, guard: keys.guard })
    },
    errorShapes: [{ under: NODE_PREFIX, render: renderNodeError }],
    jobs: [
      {
        name: 'purge-used-envelopes',
        cron: '*/5 * * * *',
        run: purgeUsedEnvelopes,
        due: { table: 'used_envelopes', column: 'expires_at' },
      },
      {
        name: 'purge-face-hits',
        cron: '*/5 * * * *',
        run: purgeHits,
        due: { table: 'face_hits', column: 'slot', keptMs: SLOTS_KEPT_MS },
      },
      {
        name: 'purge-face-deletions',
        cron: '*/5 * * * *',
        run: purgeDeletions,
        due: { table: 'face_deletions', column: 'deleted_at', keptMs: DELETIONS_KEPT_MS },
      },
      { name: 'code-faces', cron: '* * * * *', run: codeAllFaces },
      { name: 'drop-unused-vector-partitions', cron: '* * * * *', run: vectorPartitions.dropUnused },
      { name: 'vacuum-deleted-faces', cron: '* * * * *', run: vectorPartitions.vacuumDeleted },
    ],
    retention: RETENTION,
    start: () => watchSizes(platform, vectorPartitions),
  } satisfies Room & Record<string, unknown>
}
export type BiometricsRoom = ReturnType<typeof createBiometricsRoom>

const UNTIL_TENANT = { after: 'until the tenant is removed', by: null }
const UNTIL_PERSON = { after: 'until the person is deleted', by: null }

const RETENTION = [
  {
    table: 'face_models',
    key: 'tenant_id, name',
    growsWith: 'models that customers declare, at most 8 each',
    after: 'until the operator removes it',
    by: null,
  },
  { table: 'face_groups', key: 'tenant_id, livemode', growsWith: 'customers', ...UNTIL_TENANT },
  { table: 'face_spaces', key: 'tenant_id, livemode, version', growsWith: 'customers', ...UNTIL_TENANT },
  { table: 'face_persons', key: 'tenant_id, livemode, person_id', growsWith: 'enrolled people', ...UNTIL_PERSON },
  {
    table: 'face_templates',
    partitions: '16 partitions',
    key: 'tenant_id, livemode, version, seq',
    growsWith: 'enrolled vectors',
    ...UNTIL_PERSON,
  },
  {
    table: 'face_vectors',
    partitions: '16 partitions that spaces share, and one for each space that was rebuilt or moved',
    key: 'tenant_id, livemode, version, seq, shelf',
    growsWith: 'enrolled vectors',
    after: 'until the person is deleted; then vacuumed',
    by: 'vacuum-deleted-faces',
  },
  {
    table: 'face_codes',
    key: 'tenant_id, space, seq',
    growsWith: 'enrolled vectors of large spaces',
    after: 'until the person is deleted; then vacuumed',
    by: 'vacuum-deleted-faces',
  },
  {
    table: 'face_deletions',
    key: 'tenant_id, livemode, version, deleted',
    growsWith: 'people deleted from spaces with a partition of their own',
    after: '15 minutes',
    by: 'purge-face-deletions',
  },
  {
    table: 'face_vacuums_due',
    key: 'table_name',
    growsWith: 'deleted people',
    after: 'until the table is vacuumed',
    by: 'vacuum-deleted-faces',
  },
  {
    table: 'used_envelopes',
    key: 'tenant_id, envelope_hash',
    growsWith: 'encrypted calls',
    after: '11 minutes',
    by: 'purge-used-envelopes',
  },
  {
    table: 'face_hits',
    key: 'tenant_id, livemode, person_id, slot',
    growsWith: 'people recognised five times or more a day, or dropped from memory',
    after: '25 hours, or until the person is deleted',
    by: 'purge-face-hits',
  },
]
