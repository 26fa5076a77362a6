import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/**
 * Random bytes for nonces, salts and ids, taken from a pool that is filled at once: asking the system for sixteen bytes costs
 * as much as asking for thousands. Copy what is kept: the pool is filled again in the same place.
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
