import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/**
 * Random bytes for nonces, salts and ids, taken from a pool: requesting sixteen bytes from the system costs
 * as much as requesting thousands. Callers must copy bytes that they keep, because the pool is refilled in place.
 */
export function takeRandom(count: number): Buffer {
  if (used + count > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}

/** Random bytes to keep: keys, names of files. */
export function newRandom(count: number): Buffer {
  return Buffer.from(takeRandom(count))
}
