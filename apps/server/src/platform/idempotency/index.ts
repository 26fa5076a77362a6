import { createHash } from 'node:crypto'
import { LIMITS } from '@ostiary/contract'
import type { FastifyRequest } from 'fastify'
import type { Db, Queryable } from '../db.ts'
import { AppError, invalid } from '../errors.ts'
import { bodyDigestOf } from '../http.ts'
import { claim, purge } from './store.ts'

const HOUR_MS = 3_600_000
const PURGE_BATCH = 5_000
const KEY_TEXT = /^[\x20-\x7e]+$/

/** What a caller said about repeating a create: the key, and what the request was. */
export interface IdempotencyUse {
  keyHash: Buffer
  fingerprint: Buffer
}

/**
 * Reads `Idempotency-Key`. Only hashes are kept: the key and the body may hold anything. Test and live data are apart,
 * so the mode is part of the key.
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

/**
 * Called inside the transaction that creates the resource, so key and resource exist together or not at all.
 * Returns the id of the resource that an earlier call with this key made. Only the id is stored, never the reply:
 * deleting the resource deletes its content.
 */
export async function earlierResource(
  tx: Queryable,
  use: IdempotencyUse,
  resource: { tenantId: string; resourceId: string; now: Date },
): Promise<string | undefined> {
  const expiresAt = new Date(resource.now.getTime() + LIMITS.idempotencyHours * HOUR_MS)
  const earlier = await claim(tx, { ...use, ...resource, expiresAt })
  if (!earlier) return undefined
  if (!earlier.fingerprint.equals(use.fingerprint)) {
    throw new AppError('conflict', 'IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request')
  }
  return earlier.resourceId
}

/** Deletes keys whose time has passed, in batches so that no statement runs long. Returns how many. */
export async function purgeIdempotencyKeys(db: Db, now: Date): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await purge(db, now, PURGE_BATCH)
    total += deleted
    if (deleted < PURGE_BATCH) return total
  }
}
