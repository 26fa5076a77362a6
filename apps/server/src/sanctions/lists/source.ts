import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** What an importer reads: a file on disk, an upload, a download. `open` may be called once only. */
export interface ListSource {
  /** The path or file name, for messages and for telling the parts of a list apart. */
  name: string
  /** Null where the sender did not say. */
  bytes: number | null
  open(): AsyncIterable<Uint8Array>
}

/** What an importer counts while it reads. */
export interface Tally {
  /** Records seen, kept or not. */
  read: number
  /** How many were left out, by reason. */
  skipped: Record<string, number>
}

const READ_BYTES = 1 << 20
const LINE_FEED = 10

export async function fileSource(path: string): Promise<ListSource> {
  const { size } = await stat(path)
  return { name: path, bytes: size, open: () => createReadStream(path, { highWaterMark: READ_BYTES }) }
}

export function newTally(): Tally {
  return { read: 0, skipped: {} }
}

export function skip(tally: Tally, reason: string, count = 1): void {
  tally.skipped[reason] = (tally.skipped[reason] ?? 0) + count
}

/** Importers fail closed: half a list must never replace a whole one. The message quotes no list content. */
export function listError(file: string, line: number, problem: string): Error {
  return new Error(`${file}, line ${line}: ${problem}`)
}

/** Decoded text, without a byte order mark. Bytes that are no UTF-8 fail: a garbled name would never be found. */
export async function* readText({ name, open }: ListSource): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for await (const chunk of open()) {
    yield decode(
      () => decoder.decode(chunk, { stream: true }),
      name,
      () => line + linesBeforeFault(chunk),
    )
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) line++
  }
  yield decode(
    () => decoder.decode(),
    name,
    () => line,
  )
}

function decode(work: () => string, name: string, line: () => number): string {
  try {
    return work()
  } catch {
    throw listError(name, line(), 'is not UTF-8')
  }
}

function linesBeforeFault(chunk: Uint8Array): number {
  const [before = ''] = new TextDecoder().decode(chunk).split('\ufffd', 1)
  return before.split('\n').length - 1
}
