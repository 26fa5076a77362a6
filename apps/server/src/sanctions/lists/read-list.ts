import { basename } from 'node:path'
import { customColumnsProblem, readCustomCsv } from './custom-csv.ts'
import { readFtm } from './ftm.ts'
import { readFtmWithDeltas } from './ftm-delta.ts'
import type { ListedEntity } from './listed.ts'
import { ofacPart, readOfac } from './ofac.ts'
import { readSimpleCsv, SIMPLE_COLUMNS } from './simple-csv.ts'
import { fileSource, type ListSource, newTally, type Tally } from './source.ts'
import { readUnXml } from './un-xml.ts'

export const LIST_FORMATS = ['ftm', 'simple-csv', 'ofac', 'un-xml', 'custom-csv'] as const
export type ListFormat = (typeof LIST_FORMATS)[number]

/** The progress of an import. Reported after each chunk of a file and once at the end. */
export interface ListProgress extends Readonly<Tally> {
  bytes: number
  /** Null when the size of a file is not known. */
  totalBytes: number | null
  /** Entries given out so far. */
  entities: number
}

export interface ReadList {
  format: ListFormat
  /** Paths, or sources that are no files. For `ftm` one base and, in their order, any `….delta.json`. */
  files: readonly (string | ListSource)[]
  onProgress?: (progress: ListProgress) => void
}

/** Reads a list in any of its formats. Fails on the first thing it cannot read, and on a list with nothing in it. */
export async function* readList({ format, files, onProgress }: ReadList): AsyncGenerator<ListedEntity> {
  const sources = await Promise.all(files.map((file) => (typeof file === 'string' ? fileSource(file) : file)))
  const totalBytes = sources.reduce<number | null>(
    (sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes),
    0,
  )
  const tally = newTally()
  let bytes = 0
  let entities = 0
  const report = () => onProgress?.({ bytes, totalBytes, entities, read: tally.read, skipped: { ...tally.skipped } })
  const counted = sources.map((source) => ({
    ...source,
    open: () =>
      watch(source.open(), (count) => {
        bytes += count
        report()
      }),
  }))
  for await (const entity of importerOf(format, counted, tally)) {
    entities++
    yield entity
  }
  report()
  // A tenant may empty its own list; a published list without entries is a failed download.
  if (entities === 0 && format !== 'custom-csv') throw new Error(`The list has no entries (format ${format})`)
}

/** Detects a format by the beginning of the first file, or for OFAC's files, which have no header, by their names. */
export function detectFormat(fileNames: readonly string[], firstBytes: Uint8Array): ListFormat | null {
  const text = new TextDecoder().decode(firstBytes).trimStart()
  if (text.startsWith('{')) return 'ftm'
  if (text.startsWith('<')) return text.includes('<CONSOLIDATED_LIST') ? 'un-xml' : null
  const header = (text.split(/[\r\n]/, 1)[0] ?? '')
    .split(',')
    .map((name) => name.trim().replaceAll('"', '').toLowerCase())
  if (SIMPLE_COLUMNS.every((column) => header.includes(column))) return 'simple-csv'
  if (customColumnsProblem(header) === undefined) return 'custom-csv'
  const parts = fileNames.map((name) => ofacPart(basename(name)))
  return parts.includes('main') && !parts.includes(undefined) ? 'ofac' : null
}

function importerOf(format: ListFormat, sources: readonly ListSource[], tally: Tally): AsyncGenerator<ListedEntity> {
  if (format === 'ofac') return readOfac(sources, tally)
  if (format === 'ftm' && sources.some(isDelta)) {
    const [base, ...more] = sources.filter((source) => !isDelta(source))
    if (!base || more.length > 0) throw new Error('Deltas apply to exactly one entities.ftm.json')
    return readFtmWithDeltas(base, sources.filter(isDelta), tally)
  }
  const read = { ftm: readFtm, 'simple-csv': readSimpleCsv, 'un-xml': readUnXml, 'custom-csv': readCustomCsv }[format]
  const [only, ...more] = sources
  return only && more.length === 0 ? read(only, tally) : concatenate(sources.map((source) => () => read(source, tally)))
}

async function* concatenate(readers: readonly (() => AsyncGenerator<ListedEntity>)[]): AsyncGenerator<ListedEntity> {
  for (const read of readers) yield* read()
}

function isDelta({ name }: ListSource): boolean {
  return name.endsWith('.delta.json')
}

async function* watch(chunks: AsyncIterable<Uint8Array>, onBytes: (count: number) => void) {
  for await (const chunk of chunks) {
    yield chunk
    onBytes(chunk.length)
  }
}
