import { createHash } from 'node:crypto'
import { LIMITS } from '@ostiary/contract'
import type { FastifyRequest } from 'fastify'
import type { Db, Queryable } from '../db.ts'
import { AppError, invalid } from '../errors.ts'
import { bodyDigestOf } from '../http.ts'
import { purging } from '../purge-in-batches.ts'
import { claim, purge } from './store.ts'

const HOUR_MS = 3_600_000
const KEY_TEXT = /^[\x20-\x7e]+$/

/** The idempotency key of a request, and a digest that tells this request from others. */
export interface IdempotencyUse {
  keyHash: Buffer
  fingerprint: Buffer
}

/**
 * Reads `Idempotency-Key`. Only hashes are kept, because the key and the body may contain personal data. The mode is part of the key:
 * test and live data are separate.
 */
export function readIdempotencyKey(
  request: FastifyRequest,
  operation: string,
  livemode: boolean,
): IdempotencyUse | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key.length > LIMITS.idempotencyKeyChars || !KEY_TEXT.test(key)) {
    throw invalid('/headers/idempotency-key', `must be 1 to ${LIMITS.idempotencyKeyChars} printable characters`)
  }
  return {
    keyHash: createHash('sha256')
      .update(`${livemode ? 'live' : 'test'}\n${key}`)
      .digest(),
    fingerprint: createHash('sha256').update(`${operation}\n`).update(bodyDigestOf(request)).digest(),
  }
}

export interface NewResource<T> {
  tenantId: string
  resourceId: string
  now: Date
  /** Stores the resource in the transaction that claims the key: key and resource exist together or not at all. */
  insert(tx: Queryable): Promise<T>
  /** The resource that an earlier call with this key created, unless it is gone. Runs after the transaction. */
  find(resourceId: string): Promise<T | undefined>
  goneMessage: string
}

/**
 * Creates a resource once per idempotency key. A repeated call gets the resource that the first one created. Calls with the same key
 * at once take one connection together.
 */
export function insertOnce<T>(
  db: Db,
  use: IdempotencyUse,
  resource: NewResource<T>,
): Promise<{ value: T; replayed: boolean }> {
  const queue = `${resource.tenantId} ${use.keyHash.toString('base64')}`
  return db.oneAtATime(queue, () => insertOrFind(db, use, resource))
}

async function insertOrFind<T>(
  db: Db,
  use: IdempotencyUse,
  { insert, find, goneMessage, ...claimed }: NewResource<T>,
): Promise<{ value: T; replayed: boolean }> {
  const stored = await db.transaction(async (tx) => {
    const earlierId = await earlierResource(tx, use, claimed)
    return earlierId === undefined ? { value: await insert(tx) } : { earlierId }
  })
  if ('value' in stored) return { value: stored.value, replayed: false }
  const value = await find(stored.earlierId)
  if (value === undefined) throw new AppError('gone', 'GONE', goneMessage)
  return { value, replayed: true }
}

/**
 * Claims the key in the transaction that creates the resource. Returns the id of the resource that an earlier call with this key
 * created. Only the id is stored, never the reply: deleting the resource deletes its content.
 */
export async function earlierResource(
  tx: Queryable,
  use: IdempotencyUse,
  resource: { tenantId: string; resourceId: string; now: Date },
): Promise<string | undefined> {
  const expiresAt = new Date(resource.now.getTime() + LIMITS.idempotencyHours * HOUR_MS)
  const earlier = await claim(tx, { ...use, ...resource, expiresAt })
  if (!earlier) return undefined
  if (!earlier.fingerprint.equals(use.fingerprint)) throw idempotencyMismatch()
  return earlier.resourceId
}

export const idempotencyMismatch = () =>
  new AppError('conflict', 'IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request')

/** Deletes expired keys. Returns how many. */
export const purgeIdempotencyKeys = purging(purge, 5_000)
