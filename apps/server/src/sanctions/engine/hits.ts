/**
 * The hits of a run as keyed hashes. They are made in the thread that matches, because every row of a file needs one. Without the
 * tenant's key nobody can tell which row or entry a hash stands for.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import type { Person } from '../csv.ts'
import { plainText } from '../plain-text.ts'
import { formatBirth } from './birth.ts'
import { birthsOf, type FoundMatch } from './screen.ts'

export interface Hit {
  rowKey: Buffer
  entityKey: Buffer
  facts: Buffer
  /** In ten-thousandths. */
  score: number
}

const KEY_BYTES = 16
const FACTS_BYTES = 8
const SCORE_AT = 2 * KEY_BYTES + FACTS_BYTES
export const HIT_BYTES = SCORE_AT + 2
const SCORE_DIGITS = 10_000

export const hitScore = (stored: number) => stored / SCORE_DIGITS
/** How a key is written in answers. */
export const keyText = (key: Uint8Array) => Buffer.from(key).toString('base64url')

export function createHitWriter(secret: Uint8Array) {
  const key = createSecretKey(secret)
  const hits: Buffer[] = []
  const hash = (bytes: number, parts: readonly unknown[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, bytes)

  return {
    /**
     * What makes two rows of two files the same: your own id, or name and birth date where the row has none. Rows of one file
     * with the same id count as one.
     */
    rowKey({ id, firstname, lastname, dob }: Person): Buffer {
      const own = id.normalize('NFC').trim()
      return hash(KEY_BYTES, own === '' ? ['person', ...[firstname, lastname, dob].map(plainText)] : ['row', own])
    },
    entityKey({ list, entity }: FoundMatch): Buffer {
      return hash(KEY_BYTES, ['entity', list.dataset, list.record(entity).id])
    },
    add(row: Person, rowKey: Buffer, found: readonly FoundMatch[]): void {
      const person = [row.firstname, row.lastname, row.dob].map(plainText)
      for (const match of found) {
        const hit = Buffer.alloc(HIT_BYTES)
        hit.set(rowKey)
        hit.set(this.entityKey(match), KEY_BYTES)
        hit.set(hash(FACTS_BYTES, ['facts', person, factsOf(match)]), 2 * KEY_BYTES)
        hit.writeUInt16BE(Math.round(match.score * SCORE_DIGITS), SCORE_AT)
        hits.push(hit)
      }
    },
    /** All hits so far, in memory of its own that can be moved to another thread. */
    bytes: (): Uint8Array<ArrayBuffer> => {
      const all = new Uint8Array(hits.length * HIT_BYTES)
      for (const [at, hit] of hits.entries()) all.set(hit, at * HIT_BYTES)
      return all
    },
  }
}
export type HitWriter = ReturnType<typeof createHitWriter>

/** What a reviewer sees of an entry. When it changes, a hit that was reviewed is worth another look. */
function factsOf({ list, entity, name }: FoundMatch): unknown[] {
  const { names, countries, topics, programs } = list.record(entity)
  const matched = names[list.index.nameNumber[name] as number]?.text
  const births = birthsOf(list.index, entity).map(formatBirth)
  return [names[0]?.text, matched, ...[births, countries, topics, programs].map((values) => values.toSorted())]
}

/** The hits of all chunks of a file. Of two with the same row and entry the better one stays. */
export function readHits(chunks: readonly Uint8Array[]): Hit[] {
  const hits = new Map<string, Hit>()
  for (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let at = 0; at < bytes.length; at += HIT_BYTES) {
      const hit = bytes.subarray(at, at + HIT_BYTES)
      const pair = hit.toString('latin1', 0, 2 * KEY_BYTES)
      const score = hit.readUInt16BE(SCORE_AT)
      if (score <= (hits.get(pair)?.score ?? -1)) continue
      const [rowKey, entityKey] = [hit.subarray(0, KEY_BYTES), hit.subarray(KEY_BYTES, 2 * KEY_BYTES)]
      hits.set(pair, { rowKey, entityKey, facts: hit.subarray(2 * KEY_BYTES, SCORE_AT), score })
    }
  }
  return [...hits.values()]
}
