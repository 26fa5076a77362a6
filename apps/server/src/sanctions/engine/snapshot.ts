/**
 * A snapshot is one immutable file: the records of the entities, the arrays of the index, the prepared expansions, and at its end a
 * description with checksums. Opening a snapshot copies the arrays into shared memory without conversion.
 *
 * The expansions are a part of their own beside the index, so that the format stays the same: a release that does not know them reads
 * the index without them, and this one reads a snapshot that has none.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { ListedEntity } from '../lists/listed.ts'
import { createIndexBuilder } from './build.ts'
import type { Expansions } from './expand.ts'
import { countNames, countWords, type NameIndex } from './name-index.ts'
import { prepareExpansions } from './prepare.ts'

/** Increased whenever names are parsed or stored differently. Lists must then be indexed again. */
export const INDEX_FORMAT = 1

const MAGIC = 'OSTIARY-SNAPSHOT-1\n'
/** The length of the description, its SHA-256, and TAIL_MARK. */
const TAIL_BYTES = 4 + 32 + 4
const TAIL_MARK = 'SNP1'
const READ_CHUNK = 16 * 1024 * 1024
const ALIGNMENT = 8

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array } as const
type ArrayKind = keyof typeof ARRAYS
const LAYOUT: Readonly<Record<keyof NameIndex, ArrayKind>> = {
  wordAt: 'u32',
  wordBytes: 'u8',
  wordRole: 'u8',
  wordTable: 'u32',
  skeletonAt: 'u32',
  skeletonBytes: 'u8',
  soundsAt: 'u32',
  sounds: 'u32',
  near1At: 'u32',
  near1: 'u32',
  near1Tag: 'u16',
  near2At: 'u32',
  near2: 'u32',
  near2Tag: 'u16',
  postAt: 'u32',
  post: 'u32',
  tagsAt: 'u32',
  tags: 'u16',
  pairBits: 'u32',
  nameAt: 'u32',
  nameWords: 'u32',
  nameNear: 'u32',
  nameEntity: 'u32',
  nameNumber: 'u16',
  nameScript: 'u8',
  nameNative: 'u32',
  birthAt: 'u32',
  births: 'i32',
  recordAt: 'f64',
}
/** A change of what words may stand for, or of their similarity, needs a new number. Prepared expansions of another number are not read. */
const EXPANSIONS_RULE = 1
const EXPANSIONS_LAYOUT: Readonly<Record<keyof Expansions, ArrayKind>> = { expansionAt: 'u32', expansions: 'u32' }

/** The description of a snapshot, without the layout of the file. */
export interface SnapshotFacts {
  dataset: string
  version: string
  title: string
  licence: string
  /** The kind of people on the list. It decides which collections the list belongs to. */
  kind: string
  createdAt: string
  sources: { name: string; sha256: string }[]
  entries: number
  names: number
  words: number
  /** How many entities were left out, by reason. */
  skipped: Record<string, number>
  /** The format of the index. An index of another format must be rebuilt. */
  format: number
  /** Names that must find their own entity. They are searched before a snapshot is put into service. */
  canaries: { name: string; entityId: string }[]
}

/** A part of the file, with its checksum. */
interface Part {
  at: number
  length: number
  sha256: string
}

/** Where an array begins within its part, and how many numbers it has. */
interface Section {
  name: string
  at: number
  length: number
}

interface Description extends SnapshotFacts {
  records: Part
  index: Part
  sections: Section[]
  /** Missing in snapshots of older releases. */
  expansions?: Part & { sections: Section[]; rule: number }
}

export class BrokenSnapshot extends Error {
  override readonly name = 'BrokenSnapshot'
}

const CANARIES = 50

/** Writes a snapshot while it reads the list. Only the index is kept in memory. */
export async function writeSnapshot(
  path: string,
  entities: AsyncIterable<ListedEntity>,
  facts: Omit<SnapshotFacts, 'entries' | 'names' | 'words' | 'canaries' | 'format'>,
  onEntity: (count: number) => void = () => undefined,
): Promise<SnapshotFacts> {
  // Creates the file at once: an open that is still pending could create it again after its removal.
  closeSync(openSync(path, 'wx'))
  const file = await open(path, 'r+')
  try {
    const builder = createIndexBuilder()
    const canaries: SnapshotFacts['canaries'] = []
    let stride = 1
    const records = createSink(file, Buffer.byteLength(MAGIC))
    await file.write(MAGIC, 0)
    let entries = 0
    for await (const entity of entities) {
      const bytes = Buffer.from(JSON.stringify(entity))
      if (!builder.add(entity, records.length())) {
        facts.skipped['no comparable name'] = (facts.skipped['no comparable name'] ?? 0) + 1
        continue
      }
      await records.put(bytes)
      // Samples the whole list evenly although its length is not known yet.
      if (entries % stride === 0) canaries.push({ name: entity.names[0]?.text ?? '', entityId: entity.id })
      if (canaries.length === 2 * CANARIES) {
        canaries.splice(0, canaries.length, ...canaries.filter((_, at) => at % 2 === 0))
        stride *= 2
      }
      onEntity(++entries)
    }
    const recordPart = await records.end()
    const index = builder.finish()
    const indexPart = await writeArrays(file, endOf(recordPart), LAYOUT, index)
    const { sections, ...indexSection } = indexPart
    const prepared = await writeArrays(file, endOf(indexPart), EXPANSIONS_LAYOUT, prepareExpansions(index))
    const expansions = { ...prepared, rule: EXPANSIONS_RULE }
    const counts = { entries, names: countNames(index), words: countWords(index) }
    const made: SnapshotFacts = { ...facts, ...counts, format: INDEX_FORMAT, canaries }
    const description: Description = { ...made, sections, records: recordPart, index: indexSection, expansions }
    const text = Buffer.from(JSON.stringify(description))
    const tail = Buffer.alloc(TAIL_BYTES)
    tail.writeUInt32LE(text.length, 0)
    createHash('sha256').update(text).digest().copy(tail, 4)
    tail.write(TAIL_MARK, TAIL_BYTES - 4, 'latin1')
    await file.write(text, 0, text.length, endOf(expansions))
    await file.write(tail, 0, TAIL_BYTES, endOf(expansions) + text.length)
    await file.sync()
    return made
  } finally {
    await file.close()
  }
}

const endOf = ({ at, length }: Part) => at + length

async function writeArrays<Name extends string>(
  file: FileHandle,
  start: number,
  layout: Readonly<Record<Name, ArrayKind>>,
  arrays: Readonly<Record<Name, ArrayBufferView & { length: number }>>,
): Promise<Part & { sections: Section[] }> {
  const sink = createSink(file, start)
  const sections: Section[] = []
  for (const name of Object.keys(layout) as Name[]) {
    const array = arrays[name]
    sections.push({ name, at: sink.length(), length: array.length })
    await sink.put(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    await sink.align()
  }
  return { ...(await sink.end()), sections }
}

const SINK_BYTES = 4 * 1024 * 1024

/** Appends to the file in large blocks and computes the checksum. */
function createSink(file: FileHandle, start: number) {
  const hash = createHash('sha256')
  const buffer = Buffer.alloc(SINK_BYTES)
  let held = 0
  let written = 0
  const flush = async () => {
    if (held === 0) return
    const piece = buffer.subarray(0, held)
    hash.update(piece)
    await file.write(piece, 0, held, start + written)
    written += held
    held = 0
  }
  const put = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; ) {
      if (held === SINK_BYTES) await flush()
      const count = Math.min(SINK_BYTES - held, bytes.length - at)
      buffer.set(bytes.subarray(at, at + count), held)
      held += count
      at += count
    }
  }
  return {
    put,
    length: () => written + held,
    align: () => put(new Uint8Array((ALIGNMENT - ((written + held) % ALIGNMENT)) % ALIGNMENT)),
    async end() {
      await flush()
      return { at: start, length: written, sha256: hash.digest('hex') }
    },
  }
}

/** Reads only the description. */
export async function readFacts(path: string): Promise<SnapshotFacts> {
  return withFile(path, async (file) => {
    return factsOf(await describe(file))
  })
}

/** Whether the snapshot has all that this release writes. One of an older release serves without its prepared expansions. */
export async function isUpToDate(path: string): Promise<boolean> {
  return withFile(path, async (file) => {
    const { format, expansions } = await describe(file)
    return format === INDEX_FORMAT && expansions?.rule === EXPANSIONS_RULE
  })
}

function factsOf(description: Description): SnapshotFacts {
  const { sections: _sections, records: _records, index: _index, expansions: _expansions, ...facts } = description
  return facts
}

export interface OpenSnapshot {
  facts: SnapshotFacts
  index: NameIndex
  /** Undefined in a snapshot of an older release: its words are expanded when they are searched for. */
  expansions: Expansions | undefined
  /** The file that records are read from when a hit is explained. */
  path: string
  recordsAt: number
  recordsLength: number
  bytes: number
}

/** Reads the index and the expansions into shared memory and checks them against their checksums. */
export async function openSnapshot(path: string): Promise<OpenSnapshot> {
  return withFile(path, async (file) => {
    const description = await describe(file)
    if (description.format !== INDEX_FORMAT) {
      throw new BrokenSnapshot('The snapshot was made by another version of the engine: run `ostiary datasets rebuild`')
    }
    const { index: indexPart, sections, records } = description
    const prepared = description.expansions?.rule === EXPANSIONS_RULE ? description.expansions : undefined
    const index = await readArrays(
      file,
      { ...indexPart, sections },
      {
        layout: LAYOUT,
        mismatch: 'The index does not match its checksum',
      },
    )
    const expansions =
      prepared &&
      (await readArrays(file, prepared, {
        layout: EXPANSIONS_LAYOUT,
        mismatch: 'The prepared expansions do not match their checksum',
      }))
    const bytes = indexPart.length + (prepared?.length ?? 0)
    return {
      facts: factsOf(description),
      index: index as unknown as NameIndex,
      expansions: expansions as unknown as Expansions | undefined,
      path,
      recordsAt: records.at,
      recordsLength: records.length,
      bytes,
    }
  })
}

async function readArrays(
  file: FileHandle,
  { at, length, sha256, sections }: Part & { sections: Section[] },
  { layout, mismatch }: { layout: Readonly<Record<string, ArrayKind>>; mismatch: string },
): Promise<Record<string, unknown>> {
  const memory = new SharedArrayBuffer(length)
  const bytes = new Uint8Array(memory)
  const hash = createHash('sha256')
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, Math.min(READ_CHUNK, length - done), at + done)
    if (bytesRead === 0) throw new BrokenSnapshot('The snapshot is cut off')
    hash.update(bytes.subarray(done, done + bytesRead))
    done += bytesRead
  }
  if (hash.digest('hex') !== sha256) throw new BrokenSnapshot(mismatch)
  const arrays = sections.map((section) => {
    const make = ARRAYS[layout[section.name] as ArrayKind] as new (
      memory: SharedArrayBuffer,
      at: number,
      length: number,
    ) => unknown
    return [section.name, new make(memory, section.at, section.length)]
  })
  return Object.fromEntries(arrays)
}

/** Compares the records with their checksum. For `datasets verify` and before a snapshot is put into service. */
export async function checkRecords(path: string): Promise<void> {
  await withFile(path, async (file) => {
    const { at, length, sha256 } = (await describe(file)).records
    const hash = createHash('sha256')
    const buffer = Buffer.alloc(READ_CHUNK)
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(READ_CHUNK, length - done), at + done)
      if (bytesRead === 0) throw new BrokenSnapshot('The snapshot is cut off')
      hash.update(buffer.subarray(0, bytesRead))
      done += bytesRead
    }
    if (hash.digest('hex') !== sha256) throw new BrokenSnapshot('The records do not match their checksum')
  })
}

/**
 * The entities of a snapshot of any format, from which its index can be rebuilt. Of the old index it reads only the offsets
 * of the records.
 */
export async function* readRecords(path: string): AsyncGenerator<ListedEntity> {
  const file = await open(path, 'r')
  try {
    const { records, index, sections } = await describe(file)
    const section = sections.find(({ name }) => name === 'recordAt')
    if (!section) throw new BrokenSnapshot('The snapshot does not say where its records begin')
    const starts = new Float64Array(section.length)
    await readExactly(file, new Uint8Array(starts.buffer), index.at + section.at)
    const startOf = (entity: number) => starts[entity] ?? records.length
    for (let entity = 0; entity < starts.length; ) {
      const from = startOf(entity)
      let next = entity + 1
      while (next < starts.length && startOf(next + 1) - from <= READ_CHUNK) next++
      const bytes = Buffer.alloc(startOf(next) - from)
      await readExactly(file, bytes, records.at + from)
      for (; entity < next; entity++) {
        yield JSON.parse(bytes.toString('utf8', startOf(entity) - from, startOf(entity + 1) - from)) as ListedEntity
      }
    }
  } finally {
    await file.close()
  }
}

async function readExactly(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, Math.min(READ_CHUNK, bytes.length - done), at + done)
    if (bytesRead === 0) throw new BrokenSnapshot('The snapshot is cut off')
    done += bytesRead
  }
}

async function describe(file: FileHandle): Promise<Description> {
  const { size } = await file.stat()
  const tail = Buffer.alloc(TAIL_BYTES)
  if (size > TAIL_BYTES) await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES)
  const length = tail.readUInt32LE(0)
  if (tail.toString('latin1', TAIL_BYTES - 4) !== TAIL_MARK || length > size - TAIL_BYTES) {
    throw new BrokenSnapshot('The file is not a complete snapshot')
  }
  const text = Buffer.alloc(length)
  await file.read(text, 0, length, size - TAIL_BYTES - length)
  const digest = createHash('sha256').update(text).digest()
  if (!digest.equals(tail.subarray(4, 4 + digest.length))) {
    throw new BrokenSnapshot('The description of the snapshot does not match its checksum')
  }
  return JSON.parse(text.toString()) as Description
}

async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r')
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}
