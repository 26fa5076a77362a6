/**
 * The answer to a file, packed. Its JSON repeats itself and takes a tenth of its memory or less so. It is complete before its first byte is sent,
 * so that a file that cannot be answered gets a status that says so.
 */
import { pipeline, Readable } from 'node:stream'
import { constants, createInflateRaw, deflateRawSync } from 'node:zlib'

/** Packed texts can be joined: together they unpack to the joined texts. */
export type PackedText = Uint8Array<ArrayBuffer>

/**
 * The fastest level, with little working memory: every call allocates it again, and it is freed only with the garbage of the whole thread. Ending
 * with a flush instead of a last block makes packed texts joinable.
 */
const PACKING = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 8_192, finishFlush: constants.Z_SYNC_FLUSH }
const UNPACKING = { windowBits: PACKING.windowBits, finishFlush: constants.Z_SYNC_FLUSH }

export function packText(text: string): PackedText {
  // Copied, because zlib returns a part of a larger buffer, and a message between threads carries the whole of it.
  return text === '' ? new Uint8Array(0) : new Uint8Array(deflateRawSync(text, PACKING))
}

const COMMA = packText(',')

/** The texts that are not empty, separated by commas. */
export function* joinPacked(texts: Iterable<PackedText>): Generator<Uint8Array> {
  let isFirst = true
  for (const text of texts) {
    if (text.length === 0) continue
    yield isFirst ? text : Buffer.concat([COMMA, text])
    isFirst = false
  }
}

/** The texts one after the other. One unpacker for all of them: each holds its memory until the next full garbage collection. */
export function unpackTexts(texts: Iterable<Uint8Array>): Readable {
  const unpacker = createInflateRaw(UNPACKING)
  // An error reaches the reader of the unpacker; a reader that leaves early ends the source.
  pipeline(Readable.from(texts, { objectMode: true }), unpacker, () => {})
  return unpacker
}
