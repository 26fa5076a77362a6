import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CreateExceptionBody, type ExceptionPage, type ExceptionRecord, SANCTIONS_LIMITS } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { readIdCursor, writeCursor } from '../platform/cursor.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { type IdempotencyUse, insertOnce } from '../platform/idempotency/index.ts'
import { DAY_MS } from '../platform/clock.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import { isStorableText } from '../platform/json-body.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { type ActiveException, exceptionStore, type StoredException } from './exceptions-store.ts'
import type { Rows } from './packed-people.ts'
import { plainText } from './plain-text.ts'

const KEPT_YEARS = 1
/** Rows whose exceptions are read by one query. */
const ROWS_PER_QUERY = 10_000
/** Rows that are looked at before other requests have their turn. */
const ROWS_PER_TURN = 1_000
/** The size limit of an index entry of PostgreSQL; the table has the same limit. */
const RECORD_ID_BYTES = 2_000

type Deps = Pick<Platform, 'cells' | 'clock' | 'ids'>

/** The fields of a row that identify the person. */
export interface Person {
  firstname: string
  lastname: string
  dob: string
}

export interface AppliedException {
  entityId: string
  exceptionId: string
  reason: string
  expiresAt: string
  personDigest: Buffer
}

export interface RowExceptions {
  /** By row id. */
  applied: Map<string, AppliedException[]>
  /** Row ids with an exception that does not apply, because the file has another name or birth date under this id. */
  stale: Set<string>
}

export function createExceptionService({ cells, clock, ids }: Deps) {
  return {
    /**
     * Stores an exception. A second one for the same person and entry is a second review: both are kept and both apply.
     * With an idempotency key a repeated call returns the record that the first one made.
     */
    async create(
      caller: Caller,
      input: CreateExceptionBody,
      repeat?: IdempotencyUse,
    ): Promise<{ record: ExceptionRecord; replayed: boolean }> {
      checkTexts(input)
      const db = cells.forId(caller.tenantId)
      const now = clock.now()
      const fresh: StoredException = {
        id: ids.next(bucketOf(caller.tenantId)),
        recordId: input.recordId,
        entityId: input.entityId,
        personDigest: digestPerson(caller.tenantId, input),
        reason: input.reason,
        createdBy: keyOf(caller),
        createdAt: now,
        expiresAt: new Date(input.expiresAt),
      }
      if (!repeat) {
        checkExpiry(fresh.expiresAt, now)
        await exceptionStore.insert(db, caller, fresh)
        return { record: toRecord(fresh), replayed: false }
      }
      const { value, replayed } = await insertOnce<StoredException>(db, repeat, {
        tenantId: caller.tenantId,
        resourceId: fresh.id,
        now,
        async insert(tx) {
          // Checked only when it is created: a repeated call is answered even if the exception has expired since.
          checkExpiry(fresh.expiresAt, now)
          await exceptionStore.insert(tx, caller, fresh)
          return fresh
        },
        find: (id) => exceptionStore.find(db, caller, id),
        goneMessage: 'The exception that this Idempotency-Key created is gone',
      })
      return { record: toRecord(value), replayed }
    },

    /** Newest first, including ended ones: auditors ask about the past. */
    async list(caller: Caller, query: { limit?: number; cursor?: string; recordId?: string }): Promise<ExceptionPage> {
      const { limit = SANCTIONS_LIMITS.pageDefault, cursor, recordId } = query
      if (recordId !== undefined && !isStorableText(recordId)) {
        throw invalid('/query/recordId', 'must not hold NUL characters')
      }
      const beforeId = cursor === undefined ? undefined : readIdCursor(cursor, isId)
      const page = { beforeId, recordId, limit }
      const { rows, more } = await exceptionStore.list(cells.forId(caller.tenantId), caller, page)
      const items = rows.map(toRecord)
      const last = items.at(-1)
      return { items, count: items.length, nextCursor: more && last ? writeCursor(last.id) : null }
    },

    async delete(caller: Caller, id: string): Promise<void> {
      const deleted = isId(id) ? await exceptionStore.delete(cells.forId(caller.tenantId), caller, id) : 0
      if (deleted === 0) throw new AppError('not_found', 'NOT_FOUND', 'There is no exception with this id')
    },

    /**
     * The active exceptions for the rows of a file. Callers without a key have no exceptions. Only row ids are sent to the
     * database, and digests are computed only for rows that have an exception.
     */
    async forRows(caller: Caller, rows: Rows<Person & { id: string }>): Promise<RowExceptions> {
      if (caller.keyId === undefined || rows.length === 0) return { applied: new Map(), stale: new Set() }
      const db = cells.forId(caller.tenantId)
      const now = clock.now()
      // Most tenants have none. Then the ids of a large file, up to a million, need not be sent.
      const isLarge = rows.length > ROWS_PER_QUERY
      if (isLarge && !(await exceptionStore.hasActive(db, caller, now))) return { applied: new Map(), stale: new Set() }
      const found = new Map<string, ActiveException>()
      for await (const some of inGroups(rows, ROWS_PER_QUERY)) {
        const recordIds = [...new Set(some.map(({ id }) => id))]
        for (const one of await exceptionStore.activeOf(db, caller, recordIds, now)) found.set(one.id, one)
      }
      const reviewed = reviewedPersons([...found.values()])
      const persons = new Map<string, Set<string>>()
      for await (const some of inGroups(rows, ROWS_PER_TURN)) {
        addPersons(persons, { tenantId: caller.tenantId, rows: some, reviewed })
      }
      return sortOut([...found.values()], persons)
    },
  }
}
export type ExceptionService = ReturnType<typeof createExceptionService>

/** At most: a year may have a day more. */
export const KEPT_AFTER_END_MS = KEPT_YEARS * 366 * DAY_MS
/** Deletes exceptions a year after their end. They have no effect in that year, but an auditor may ask for them. */
export const purgeOldExceptions = purging((db, now, limit) =>
  exceptionStore.purge(db, yearsAfter(now, -KEPT_YEARS), limit),
)

/**
 * A digest of the reviewed person: an exception applies only while name and birth date stay the same, apart from capitals and
 * spaces. The digest is enough to check that, so we do not store names of people who are on no list. It is not anonymous: a
 * reader of the table can try names until one matches. The digest includes the tenant, so that the table does not show that
 * two tenants have the same person.
 */
export function digestPerson(tenantId: string, { firstname, lastname, dob }: Person): Buffer {
  const fields = [tenantId, ...[firstname, lastname, dob].map(plainText)]
  return createHash('sha256').update(fields.join('\0')).digest()
}

/** Yields the rows in groups, and lets other requests have their turn between two groups. */
async function* inGroups<Row>(rows: Rows<Row>, size: number): AsyncGenerator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += size) {
    yield rows.slice(at, at + size)
    await nextTurn()
  }
}

/** The digests of the persons that exceptions name, by row id. */
function reviewedPersons(found: readonly ActiveException[]): Map<string, Set<string>> {
  const reviewed = new Map<string, Set<string>>()
  for (const { recordId, personDigest } of found) {
    const digests = reviewed.get(recordId) ?? new Set()
    reviewed.set(recordId, digests.add(personDigest.toString('hex')))
  }
  return reviewed
}

/** Stands for every person whom no exception of the row id names. A file may have 200,000 of them under one id. */
const ANOTHER_PERSON = 'another person'

/** Adds the persons under each row id that has an exception. A file may use an id twice. */
function addPersons(
  persons: Map<string, Set<string>>,
  {
    tenantId,
    rows,
    reviewed,
  }: {
    tenantId: string
    rows: readonly (Person & { id: string })[]
    reviewed: ReadonlyMap<string, ReadonlySet<string>>
  },
): void {
  for (const row of rows) {
    const ofRecord = reviewed.get(row.id)
    if (!ofRecord) continue
    const digest = digestPerson(tenantId, row).toString('hex')
    const person = ofRecord.has(digest) ? digest : ANOTHER_PERSON
    persons.set(row.id, (persons.get(row.id) ?? new Set()).add(person))
  }
}

/**
 * An entry is excepted under a row id only if every person with that id in the file has an exception for it. So a caller that
 * uses the id alone never silences the wrong person. `found` is sorted by end, latest first, and the first exception of each
 * person is reported.
 */
function sortOut(found: readonly ActiveException[], persons: ReadonlyMap<string, ReadonlySet<string>>): RowExceptions {
  const result: RowExceptions = { applied: new Map(), stale: new Set() }
  for (const [recordId, ofRecord] of Map.groupBy(found, (exception) => exception.recordId)) {
    const digests = persons.get(recordId) ?? new Set<string>()
    const applied: AppliedException[] = []
    for (const ofEntry of Map.groupBy(ofRecord, ({ entityId }) => entityId).values()) {
      const byPerson = new Map<string, ActiveException>()
      for (const exception of ofEntry) {
        const digest = exception.personDigest.toString('hex')
        if (digests.has(digest) && !byPerson.has(digest)) byPerson.set(digest, exception)
      }
      if (byPerson.size === digests.size) applied.push(...[...byPerson.values()].map(toApplied))
      else result.stale.add(recordId)
    }
    if (applied.length > 0) result.applied.set(recordId, applied)
  }
  return result
}

function checkTexts({ recordId, reason }: CreateExceptionBody): void {
  if (Buffer.byteLength(recordId) > RECORD_ID_BYTES) {
    throw invalid('/body/recordId', `must have at most ${RECORD_ID_BYTES} bytes in UTF-8`)
  }
  if (reason.trim() === '') throw invalid('/body/reason', 'must not be blank')
}

function checkExpiry(expiresAt: Date, now: Date): void {
  const { exceptionYearsMax } = SANCTIONS_LIMITS
  // A leap second passes the schema, but JavaScript cannot parse it.
  if (!(expiresAt > now)) throw invalid('/body/expiresAt', 'must be in the future')
  if (expiresAt > yearsAfter(now, exceptionYearsMax)) {
    throw invalid('/body/expiresAt', `must be at most ${exceptionYearsMax} years ahead`)
  }
}

function yearsAfter(time: Date, years: number): Date {
  const later = new Date(time)
  later.setUTCFullYear(later.getUTCFullYear() + years)
  return later
}

/** The operations need a key, so every caller has one. */
function keyOf({ keyId }: Caller): string {
  if (keyId === undefined) throw new Error('An exception needs a caller with a key')
  return keyId
}

function toApplied({ id, entityId, reason, expiresAt, personDigest }: ActiveException): AppliedException {
  return { entityId, exceptionId: id, reason, expiresAt: expiresAt.toISOString(), personDigest }
}

function toRecord({
  id,
  recordId,
  entityId,
  reason,
  expiresAt,
  createdAt,
  createdBy,
}: StoredException): ExceptionRecord {
  return {
    id,
    recordId,
    entityId,
    reason,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
    createdBy,
  }
}
