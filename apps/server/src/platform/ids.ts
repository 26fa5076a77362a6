import { BUCKET_COUNT } from '@ostiary/crypto'
import type { Clock } from './clock.ts'
import { takeRandom } from './random.ts'

/**
 * Ids are UUIDv7 that carry the bucket of their tenant, so that an id alone leads to the right database:
 *
 *   tttttttt-tttt-7 bbb - v sss-rrrrrrrrrrrr
 *   48 bits time    |     | 14 bits order within the millisecond, 48 random bits
 *                   |     variant
 *                   10 bits bucket, 2 bits zero
 *
 * A tenant's own id carries the bucket it was given; every id of the tenant's data copies it (decision 0003).
 */
export interface Ids {
  next(bucket: number): string
  /** An id that belongs to no tenant: requests, deliveries of the process itself. */
  nextUnbound(): string
  randomBytes(count: number): Uint8Array
  randomBucket(): number
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const SEQUENCE_LIMIT = 1 << 14

export function isId(text: string): boolean {
  return UUID_V7.test(text)
}

/** The bucket an id carries. Only for texts that `isId` accepts. */
export function bucketOf(id: string): number {
  return Number.parseInt(id.slice(15, 18), 16) >>> 2
}

/** The time inside a UUIDv7. Only for texts that `isId` accepts. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

export function createIds(clock: Clock): Ids {
  let lastMs = 0
  let sequence = 0

  /** Later calls give larger pairs, even within a millisecond and when the wall clock is set back. */
  function tick(): void {
    const now = clock.now().getTime()
    if (now > lastMs) {
      lastMs = now
      sequence = 0
      return
    }
    sequence++
    if (sequence === SEQUENCE_LIMIT) {
      lastMs++
      sequence = 0
    }
  }

  function next(bucket: number): string {
    if (!Number.isInteger(bucket) || bucket < 0 || bucket >= BUCKET_COUNT)
      throw new RangeError(`No such bucket: ${bucket}`)
    tick()
    const time = lastMs.toString(16).padStart(12, '0')
    const bits = (bucket << 2).toString(16).padStart(3, '0')
    const order = (0x8000 | sequence).toString(16)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${bits}-${order}-${takeRandom(6).toString('hex')}`
  }

  return {
    next,
    nextUnbound: () => next((takeRandom(2).readUInt16BE() >>> 6) % BUCKET_COUNT),
    // A copy, because callers may keep it and the pool is refilled in place.
    randomBytes: (count) => new Uint8Array(takeRandom(count)),
    // The first is that of callers without a key, who share its connections.
    randomBucket: () => 1 + (takeRandom(2).readUInt16BE() % (BUCKET_COUNT - 1)),
  }
}
