import type { ModelVersion } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { GroupId, GroupRow } from './group-keys.ts'

/** The vectors that may be compared with each other: one group, one model version. */
export interface SpaceId extends GroupId {
  version: ModelVersion
}

export interface SpaceRow {
  partition: number
  /** The number of the newest vector. Everything up to it is committed and visible. */
  lastSeq: number
}

export interface Neighbour {
  personId: string
  enrollLevel: number
  cosine: number
}

/** Partitions below this number are shared by spaces; one that was rebuilt, or moved by an earlier release, has its own. */
export const FIRST_OWN_PARTITION = 1000
export const SHARED_PARTITIONS = 16

export const isSharedPartition = (partition: number): boolean => partition < FIRST_OWN_PARTITION
export const partitionTable = (partition: number): string => `face_vectors_${Math.trunc(partition)}`

const GROUP = 'tenant_id = $1 and livemode = $2'
const SPACE = `${GROUP} and version = $3`

const FIND_GROUP = sql(
  'faces.find_group',
  `select guid, sealed_key as blob, master_key_id as "masterKeyId" from face_groups where ${GROUP}`,
)
const INSERT_GROUP = sql(
  'faces.insert_group',
  `insert into face_groups (tenant_id, livemode, guid, sealed_key, master_key_id, created_at) values ($1, $2, $3, $4, $5, $6)
   on conflict do nothing`,
)
const SPACE_COLUMNS = 'shelf as "partition", last_seq::float8 as "lastSeq"'
const LOCK_SPACE = sql('faces.lock_space', `select ${SPACE_COLUMNS} from face_spaces where ${SPACE} for update`)
const INSERT_SPACE = sql(
  'faces.insert_space',
  'insert into face_spaces (tenant_id, livemode, version, shelf) values ($1, $2, $3, $4) on conflict do nothing',
)
const LOCK_SPACES = sql(
  'faces.lock_spaces',
  `select version, ${SPACE_COLUMNS} from face_spaces where ${GROUP} order by version for update`,
)
const GROW_SPACE = sql(
  'faces.grow_space',
  `update face_spaces set last_seq = last_seq + $4, vectors = vectors + $4 where ${SPACE}`,
)
const SHRINK_SPACE = sql('faces.shrink_space', `update face_spaces set vectors = vectors - $4 where ${SPACE}`)

const INSERT_PERSON = sql(
  'faces.insert_person',
  `insert into face_persons (tenant_id, livemode, person_id, wrapped_key, external_ref, created_at) values ($1, $2, $3, $4, $5, $6)`,
)
const LOCK_BY_REF = sql(
  'faces.lock_by_ref',
  `select person_id as "personId", wrapped_key as "wrappedKey" from face_persons
   where ${GROUP} and external_ref = $3 for no key update`,
)
const BIND_REF = sql(
  'faces.bind_ref',
  `update face_persons set external_ref = $4 where ${GROUP} and person_id = $3 and external_ref is null
   and not exists (select 1 from face_persons where ${GROUP} and external_ref = $4)`,
)
const LOCK_PERSON = sql(
  'faces.lock_person',
  `select 1 as found from face_persons where ${GROUP} and person_id = $3 for update`,
)
const HOLD_PERSON = sql(
  'faces.hold_person',
  `select 1 as found from face_persons where ${GROUP} and person_id = $3 for key share`,
)
const DELETE_PERSON = sql('faces.delete_person', `delete from face_persons where ${GROUP} and person_id = $3`)
const DELETE_TEMPLATES = sql(
  'faces.delete_templates',
  `delete from face_templates where ${GROUP} and person_id = $3 returning version, seq::float8 as seq, tableoid::regclass::text as "table"`,
)
const DELETE_TEMPLATES_OF = sql(
  'faces.delete_templates_of',
  `delete from face_templates where ${GROUP} and person_id = $3 and version = $4 returning version, seq::float8 as seq, tableoid::regclass::text as "table"`,
)
const FIND_TEMPLATE_SEQS = sql(
  'faces.find_template_seqs',
  `select t.version, t.seq::float8 as seq from face_templates t where t.tenant_id = $1 and t.livemode = $2 and t.person_id = $3`,
)
const RESOLVE_PERSON = sql(
  'faces.resolve_person',
  `select person_id as "personId" from face_persons where ${GROUP} and (person_id = $3 or external_ref = $4)`,
)
const INSERT_TEMPLATE = sql(
  'faces.insert_template',
  `insert into face_templates (tenant_id, livemode, version, seq, person_id, enroll_level, sealed_vector) values ($1, $2, $3, $4, $5, $6, $7)`,
)
const VACUUM_DUE = sql(
  'faces.vacuum_due',
  `insert into face_vacuums_due (table_name, deleted_by, since) select unnest($1::text[]), pg_current_xact_id()::xid, $2
   on conflict (table_name) do update set deleted_by = excluded.deleted_by`,
)
// Losing the newest of these in a crash of the database lets an envelope be used a second time within its five minutes, by
// someone who has the API key anyway: not worth a disk flush for each prediction.
const USE_ENVELOPE = sql(
  'faces.use_envelope',
  `with relaxed as (select set_config('synchronous_commit', 'off', true))
   insert into used_envelopes (tenant_id, envelope_hash, expires_at) select $1, $2, $3 from relaxed on conflict do nothing`,
)
const PURGE_ENVELOPES = sql(
  'faces.purge_envelopes',
  `delete from used_envelopes where (tenant_id, envelope_hash) in (
     select tenant_id, envelope_hash from used_envelopes where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
)
const RESEAL_BATCH = sql(
  'faces.lock_sealed_with_other',
  `select tenant_id as "tenantId", livemode, guid, sealed_key as blob, master_key_id as "masterKeyId" from face_groups
   where master_key_id <> $1 and (tenant_id, livemode) > ($3, $4) order by tenant_id, livemode limit $2 for update`,
)
const RESEAL = sql('faces.reseal', `update face_groups set sealed_key = $3, master_key_id = $4 where ${GROUP}`)
const COUNT_BY_MASTER_KEY = sql(
  'faces.count_by_master_key',
  'select master_key_id as "masterKeyId", count(*)::int as count from face_groups group by master_key_id',
)

// Processes of the release before hold codes in memory and follow these notes. A number may occur a second time only after a repair of the
// space's count; then the newer deletion replaces the older.
const NOTE_DELETION = sql(
  'faces.note_deletion',
  `insert into face_deletions (tenant_id, livemode, version, deleted, seqs, deleted_at)
   select tenant_id, livemode, version, last_seq - vectors, $4, $5 from face_spaces where ${SPACE} and shelf >= ${FIRST_OWN_PARTITION}
   on conflict (tenant_id, livemode, version, deleted) do update set seqs = excluded.seqs, deleted_at = excluded.deleted_at`,
)
const PURGE_DELETIONS = sql(
  'faces.purge_deletions',
  `delete from face_deletions where (tenant_id, livemode, version, deleted) in (
     select tenant_id, livemode, version, deleted from face_deletions where deleted_at < $1 order by deleted_at limit $2 for update skip locked)`,
)

const group = ({ tenantId, livemode }: GroupId) => [tenantId, livemode]
const space = ({ tenantId, livemode, version }: SpaceId) => [tenantId, livemode, version]

export const faceStore = {
  async findGroup(db: Queryable, id: GroupId): Promise<GroupRow | undefined> {
    return (await db.rows<GroupRow & Record<string, unknown>>(FIND_GROUP, group(id)))[0]
  },
  insertGroup: (db: Queryable, id: GroupId, row: GroupRow, now: Date): Promise<number> =>
    db.run(INSERT_GROUP, [...group(id), row.guid, row.blob, row.masterKeyId, now]),

  insertSpace: (db: Queryable, id: SpaceId, partition: number): Promise<number> =>
    db.run(INSERT_SPACE, [...space(id), partition]),
  /** Serialises the enrolments of one space until the end of the transaction. */
  async lockSpace(db: Queryable, id: SpaceId): Promise<SpaceRow> {
    const [row] = await db.rows<SpaceRow & Record<string, unknown>>(LOCK_SPACE, space(id))
    if (!row) throw new Error('The space is gone')
    return row
  },
  lockSpaces: (db: Queryable, id: GroupId): Promise<(SpaceRow & { version: ModelVersion })[]> =>
    db.rows(LOCK_SPACES, group(id)),
  growSpace: (db: Queryable, id: SpaceId, by: number): Promise<number> => db.run(GROW_SPACE, [...space(id), by]),
  shrinkSpace: (db: Queryable, id: SpaceId, by: number): Promise<number> => db.run(SHRINK_SPACE, [...space(id), by]),

  findTemplateSeqs: (db: Queryable, id: GroupId, personId: string): Promise<{ version: string; seq: number }[]> =>
    db.rows(FIND_TEMPLATE_SEQS, [...group(id), personId]),

  insertPerson: (
    db: Queryable,
    id: GroupId,
    person: { personId: string; wrappedKey: Buffer; externalRef: Buffer | null },
    now: Date,
  ): Promise<number> =>
    db.run(INSERT_PERSON, [...group(id), person.personId, person.wrappedKey, person.externalRef, now]),
  async lockByRef(
    db: Queryable,
    id: GroupId,
    ref: Buffer,
  ): Promise<{ personId: string; wrappedKey: Buffer } | undefined> {
    return (await db.rows<{ personId: string; wrappedKey: Buffer }>(LOCK_BY_REF, [...group(id), ref]))[0]
  },
  /** Binds the caller's name to a person without a name, unless another person has it. */
  bindRef: (db: Queryable, id: GroupId, personId: string, ref: Buffer): Promise<number> =>
    db.run(BIND_REF, [...group(id), personId, ref]),
  /** Persons with this id or this reference: at most two. */
  async resolvePerson(db: Queryable, id: GroupId, personId: string | null, ref: Buffer): Promise<string[]> {
    const rows = await db.rows<{ personId: string }>(RESOLVE_PERSON, [...group(id), personId, ref])
    return rows.map((row) => row.personId)
  },
  async lockPerson(db: Queryable, id: GroupId, personId: string): Promise<boolean> {
    return (await db.rows(LOCK_PERSON, [...group(id), personId])).length > 0
  },
  async holdPerson(tx: Queryable, id: GroupId, personId: string): Promise<boolean> {
    return (await tx.rows(HOLD_PERSON, [...group(id), personId])).length > 0
  },
  deletePerson: (db: Queryable, id: GroupId, personId: string): Promise<number> =>
    db.run(DELETE_PERSON, [...group(id), personId]),
  /** Those of one model version, or all. */
  deleteTemplates: (
    db: Queryable,
    id: GroupId,
    personId: string,
    version?: ModelVersion,
  ): Promise<{ version: ModelVersion; seq: number; table: string }[]> =>
    version === undefined
      ? db.rows(DELETE_TEMPLATES, [...group(id), personId])
      : db.rows(DELETE_TEMPLATES_OF, [...group(id), personId, version]),
  insertTemplate: (
    db: Queryable,
    id: SpaceId,
    { personId, enrollLevel }: { personId: string; enrollLevel: number },
    { seq, sealedVector }: { seq: number; sealedVector: Buffer },
  ): Promise<number> => db.run(INSERT_TEMPLATE, [...space(id), seq, personId, enrollLevel, sealedVector]),

  /** In the transaction that deletes the vectors, after the space's count was lowered. */
  noteDeletion: (tx: Queryable, id: SpaceId, seqs: readonly number[], now: Date): Promise<number> =>
    tx.run(NOTE_DELETION, [...space(id), seqs, now]),
  purgeDeletions: (db: Queryable, before: Date, limit: number): Promise<number> =>
    db.run(PURGE_DELETIONS, [before, limit]),

  markVacuumDue: (db: Queryable, tables: readonly string[], now: Date): Promise<number> =>
    db.run(VACUUM_DUE, [tables, now]),

  /** True for the first use of an envelope. */
  async useEnvelope(db: Queryable, tenantId: string, hash: Buffer, expiresAt: Date): Promise<boolean> {
    return (await db.run(USE_ENVELOPE, [tenantId, hash, expiresAt])) === 1
  },
  purgeEnvelopes: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE_ENVELOPES, [now, limit]),

  lockSealedWithOther: (
    db: Queryable,
    { masterKeyId, after, limit }: { masterKeyId: string; after: GroupId; limit: number },
  ): Promise<(GroupRow & GroupId)[]> => db.rows(RESEAL_BATCH, [masterKeyId, limit, ...group(after)]),
  reseal: (db: Queryable, id: GroupId, row: Omit<GroupRow, 'guid'>): Promise<number> =>
    db.run(RESEAL, [...group(id), row.blob, row.masterKeyId]),
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT_BY_MASTER_KEY),
}
