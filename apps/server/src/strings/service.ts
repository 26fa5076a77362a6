import { type CreateStringBody, STRING_LIMITS, type StringPage, type StringRecord } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { type IdempotencyUse, insertOnce } from '../platform/idempotency/index.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import { isStorableText } from '../platform/json-body.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { type Order, readStringCursor, writeStringCursor } from './cursor.ts'
import { type StoredString, stringStore } from './store.ts'

type Deps = Pick<Platform, 'cells' | 'clock' | 'ids'>

export function createStringService({ cells, clock, ids }: Deps) {
  return {
    /** Stores a string. With an idempotency key a repeated call returns the record that the first one made. */
    async create(
      caller: Caller,
      input: CreateStringBody,
      repeat?: IdempotencyUse,
    ): Promise<{ record: StringRecord; replayed: boolean }> {
      checkInput(input)
      const db = cells.forId(caller.tenantId)
      const now = clock.now()
      const fresh: StoredString = {
        id: ids.next(bucketOf(caller.tenantId)),
        value: input.value,
        metadata: input.metadata ?? null,
        createdAt: now,
        expiresAt: input.ttlSeconds === undefined ? null : new Date(now.getTime() + input.ttlSeconds * 1000),
      }
      if (!repeat) {
        await stringStore.insert(db, caller, fresh)
        return { record: toRecord(fresh, caller.livemode), replayed: false }
      }
      const { value, replayed } = await insertOnce<StoredString>(db, repeat, {
        tenantId: caller.tenantId,
        resourceId: fresh.id,
        now,
        async insert(tx) {
          await stringStore.insert(tx, caller, fresh)
          return fresh
        },
        find: (id) => stringStore.find(db, caller, id, now),
        goneMessage: 'The string that this Idempotency-Key created is gone',
      })
      return { record: toRecord(value, caller.livemode), replayed }
    },

    async list(caller: Caller, query: { limit?: number; cursor?: string; order?: Order }): Promise<StringPage> {
      const limit = query.limit ?? STRING_LIMITS.pageDefault
      const from = query.cursor === undefined ? undefined : readStringCursor(query.cursor, query.order)
      const order = from?.order ?? query.order ?? 'desc'
      const { rows, more } = await stringStore.list(cells.forId(caller.tenantId), caller, {
        order,
        afterId: from?.lastId,
        limit,
        maxBytes: STRING_LIMITS.pageBytes,
        now: clock.now(),
      })
      const items = rows.map((row) => toRecord(row, caller.livemode))
      const last = items.at(-1)
      return { items, count: items.length, nextCursor: more && last ? writeStringCursor(order, last.id) : null }
    },

    async get(caller: Caller, id: string): Promise<StringRecord> {
      const db = cells.forId(caller.tenantId)
      const found = isId(id) ? await stringStore.find(db, caller, id, clock.now()) : undefined
      if (!found) throw unknownString()
      return toRecord(found, caller.livemode)
    },

    async delete(caller: Caller, id: string): Promise<void> {
      const deleted = isId(id) ? await stringStore.delete(cells.forId(caller.tenantId), caller, id, clock.now()) : 0
      if (deleted === 0) throw unknownString()
    },
  }
}
export type StringService = ReturnType<typeof createStringService>

/** Deletes records whose ttlSeconds have passed. They were invisible from that moment; this frees the space. */
export const purgeExpiredStrings = purging(stringStore.purgeExpired)

function checkInput(input: CreateStringBody): void {
  if (Buffer.byteLength(input.value) > STRING_LIMITS.valueBytes) {
    throw invalid('/body/value', `must have at most ${STRING_LIMITS.valueBytes} bytes in UTF-8`)
  }
  // A text/plain body has not passed the checks of the JSON parser.
  if (!isStorableText(input.value)) throw invalid('/body/value', 'must not hold NUL characters')
  if (input.metadata && Buffer.byteLength(JSON.stringify(input.metadata)) > STRING_LIMITS.metadataBytes) {
    throw invalid('/body/metadata', `must have at most ${STRING_LIMITS.metadataBytes} bytes as JSON`)
  }
}

function toRecord(stored: StoredString, livemode: boolean): StringRecord {
  const createdAt = stored.createdAt.toISOString()
  return {
    id: stored.id,
    value: stored.value,
    length: countCodePoints(stored.value),
    createdAt,
    // There is no operation that changes a record.
    updatedAt: createdAt,
    ...(stored.expiresAt && { expiresAt: stored.expiresAt.toISOString() }),
    ...(stored.metadata && { metadata: stored.metadata }),
    livemode,
  }
}

function countCodePoints(text: string): number {
  // Most texts have no character outside the basic plane, so their length is the count.
  if (!/[\ud800-\udbff]/.test(text)) return text.length
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
}

function unknownString(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no string with this id')
}
