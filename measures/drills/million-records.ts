import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { ENDINGS, type Ending } from './lost-and-found.ts'

/** Records of one width, each with a checksum at its end. A process that is killed leaves at most a torn one, which the next opening cuts off. */
export interface RecordFile {
  /** Resolves when the record is on disk. Records that wait together share one fsync. */
  append(record: Buffer): Promise<void>
  close(): Promise<void>
}

const CHECKSUM_BYTES = 4
const READ_RECORDS = 4_096

export async function openRecords(path: string, width: number): Promise<RecordFile> {
  cutTornEnd(path, width)
  const handle = await open(path, 'a')
  let waiting: { record: Buffer; resolve(): void; reject(error: unknown): void }[] = []
  let flushing: Promise<void> | undefined

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await handle.appendFile(Buffer.concat(batch.map(({ record }) => record)))
        await handle.datasync()
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    flushing = undefined
  }

  return {
    append(record) {
      if (record.length !== width) throw new RangeError(`A record of ${record.length} bytes, not ${width}`)
      return new Promise((resolve, reject) => {
        waiting.push({ record, resolve, reject })
        flushing ??= flush()
      })
    },
    async close() {
      await flushing
      await handle.close()
    },
  }
}

/** The whole records from a number on. A torn one at the end is left out; a wrong checksum before it means that the file is damaged. */
export function* readRecords(path: string, width: number, from = 0): Generator<Buffer> {
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    const count = Math.floor(fstatSync(file).size / width)
    for (let first = from; first < count; first += READ_RECORDS) {
      const bytes = Buffer.alloc(Math.min(READ_RECORDS, count - first) * width)
      readSync(file, bytes, 0, bytes.length, first * width)
      for (let at = 0; at < bytes.length; at += width) {
        const record = bytes.subarray(at, at + width)
        if (isWhole(record)) yield record
        else if (first + at / width < count - 1) throw new Error(`${path}: record ${first + at / width} is damaged`)
      }
    }
  } finally {
    closeSync(file)
  }
}

function cutTornEnd(path: string, width: number): void {
  const file = openSync(path, 'a+')
  try {
    let count = Math.floor(fstatSync(file).size / width)
    const record = Buffer.alloc(width)
    for (; count > 0; count--) {
      readSync(file, record, 0, width, (count - 1) * width)
      if (isWhole(record)) break
    }
    ftruncateSync(file, count * width)
  } finally {
    closeSync(file)
  }
}

function isWhole(record: Buffer): boolean {
  const end = record.length - CHECKSUM_BYTES
  return record.readUInt32LE(end) === checksumOf(record)
}

/** Never 0 for zeros: a crash of the machine may leave a file longer than what was written. */
const checksumOf = (record: Buffer): number => crc32(record.subarray(0, record.length - CHECKSUM_BYTES), 1)

function sealed(record: Buffer): Buffer {
  record.writeUInt32LE(checksumOf(record), record.length - CHECKSUM_BYTES)
  return record
}

export const toId = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
export const toUuid = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A creation that the API acknowledged. */
export interface Creation {
  slot: number
  id: Buffer
  /** The part of an age token that the id does not tell; zeros in area D. */
  secret: Buffer
}
export const CREATION_BYTES = 64

export function writeCreation({ slot, id, secret }: Creation): Buffer {
  const record = Buffer.alloc(CREATION_BYTES)
  record.writeUInt32LE(slot, 0)
  id.copy(record, 4)
  secret.copy(record, 20)
  return sealed(record)
}
export const readCreation = (record: Buffer): Creation => ({
  slot: record.readUInt32LE(0),
  id: Buffer.from(record.subarray(4, 20)),
  secret: Buffer.from(record.subarray(20, 52)),
})

const TOKEN_PREFIX = 'at_'
export const tokenOf = ({ id, secret }: Creation): string =>
  TOKEN_PREFIX + Buffer.concat([id, secret]).toString('base64url')
export const secretOf = (token: string): Buffer =>
  Buffer.from(token.slice(TOKEN_PREFIX.length), 'base64url').subarray(16)

/** What the API acknowledged about the end of a session: it must be so for ever. */
export interface Acknowledgement {
  slot: number
  ending: Ending
  /** The API gave an answer that no caller expects, and the slot was left. */
  isRefused: boolean
}
export const ACKNOWLEDGEMENT_BYTES = 16

export function writeAcknowledgement({ slot, ending, isRefused }: Acknowledgement): Buffer {
  const record = Buffer.alloc(ACKNOWLEDGEMENT_BYTES)
  record.writeUInt32LE(slot, 0)
  record[4] = ENDINGS.indexOf(ending)
  record[5] = Number(isRefused)
  return sealed(record)
}
export const readAcknowledgement = (record: Buffer): Acknowledgement => ({
  slot: record.readUInt32LE(0),
  ending: endingOf(record[4]),
  isRefused: record[5] === 1,
})

/** One request as a receiver saw it. */
export interface Arrival {
  id: Buffer
  deliveryId: Buffer
  /** The first half of the body's SHA-256. */
  bodyHash: Buffer
  receiver: number
  ending: Ending
  isGenuine: boolean
  /** The receiver keeps it: its answer is 2xx, if the answer gets through. */
  isTaken: boolean
}
export const ARRIVAL_BYTES = 64
export const HASH_BYTES = 16

export function writeArrival(arrival: Arrival): Buffer {
  const record = Buffer.alloc(ARRIVAL_BYTES)
  arrival.id.copy(record, 0)
  arrival.deliveryId.copy(record, 16)
  arrival.bodyHash.copy(record, 32, 0, HASH_BYTES)
  record[48] = arrival.receiver
  record[49] = ENDINGS.indexOf(arrival.ending)
  record[50] = Number(arrival.isGenuine)
  record[51] = Number(arrival.isTaken)
  return sealed(record)
}
export const readArrival = (record: Buffer): Arrival => ({
  id: record.subarray(0, 16),
  deliveryId: record.subarray(16, 32),
  bodyHash: record.subarray(32, 48),
  receiver: record[48] ?? 0,
  ending: endingOf(record[49]),
  isGenuine: record[50] === 1,
  isTaken: record[51] === 1,
})

function endingOf(place: number | undefined): Ending {
  const ending = ENDINGS[place ?? -1]
  if (!ending) throw new RangeError(`There is no ending ${place}`)
  return ending
}
