import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createIds } from '../../../platform/ids.ts'
import { createManualClock } from '../../../platform/testing/manual-clock.ts'
import { createDatasetFiles } from '../files.ts'
import { createImporter } from '../import.ts'

/** The bytes after the description of a snapshot: its length, its checksum, four letters. */
const TAIL = 40

/** A folder of datasets, an importer for it, and a folder for lists. */
export function setUp(keepVersions = 5) {
  const folder = temporaryFolder('datasets')
  const dir = join(folder, 'datasets')
  const clock = createManualClock()
  const files = createDatasetFiles(dir)
  const ids = createIds(clock)
  const importer = createImporter({ files, clock, ids, keepVersions })
  return {
    folder,
    dir,
    clock,
    ids,
    files,
    importer,
    /** Writes a file and returns its path. */
    write(name: string, text: string): string {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
  }
}

const SYLLABLES = [
  'bar',
  'den',
  'fol',
  'gim',
  'hul',
  'jas',
  'kev',
  'lom',
  'mir',
  'nus',
  'pav',
  'quo',
  'rel',
  'sit',
  'tov',
]

/** A list of invented people with distinct names. */
export function peopleCsv(count: number, from = 0): string {
  const word = (seed: number) =>
    [seed, Math.trunc(seed / 15), Math.trunc(seed / 225)].map((n) => SYLLABLES[n % 15]).join('')
  const rows = Array.from({ length: count }, (_, at) => {
    const n = from + at
    return `p-${n},${word(n)} ${word(n * 7 + 3)} ${word(Math.trunc(n / 3375) + 11)},1960-01-02`
  })
  return `id,name,dob\n${rows.join('\n')}\n`
}

/** Reads the description of a snapshot and writes a changed one. */
export function tamper(path: string) {
  const bytes = readFileSync(path)
  const length = bytes.readUInt32LE(bytes.length - TAIL)
  const start = bytes.length - TAIL - length
  const description = JSON.parse(bytes.toString('utf8', start, bytes.length - TAIL)) as {
    records: { at: number; length: number }
    index: { at: number; length: number }
  }
  return {
    ...description,
    flip(at: number): void {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      writeFileSync(path, changed)
    },
    say(change: Record<string, unknown>): void {
      const text = Buffer.from(JSON.stringify({ ...description, ...change }))
      const tail = Buffer.from(bytes.subarray(bytes.length - TAIL))
      tail.writeUInt32LE(text.length, 0)
      createHash('sha256').update(text).digest().copy(tail, 4)
      writeFileSync(path, Buffer.concat([bytes.subarray(0, start), text, tail]))
    },
    cut: (to: number) => writeFileSync(path, bytes.subarray(0, to)),
    restore: () => writeFileSync(path, bytes),
  }
}

const letters = (n: number) => [...String(n)].map((digit) => 'abdefgikmo'[Number(digit)]).join('')

/** OFAC's main file with so many invented people, as its publisher writes it: no header, `-0-` for nothing, Ctrl-Z at the end. */
export function sdnCsv(count: number): string {
  const rows = Array.from(
    { length: count },
    (_, at) =>
      `${at + 1},"QUELL${letters(at).toUpperCase()}, Vardo","individual","DEMO"${',-0- '.repeat(7)},"DOB 17 Apr 1961."\r\n`,
  )
  return `${rows.join('')}\x1a`
}

export const altCsv = '1,1,"aka","QUELLMAR, Vardo",-0- \r\n\x1a'

const SURNAMES = ['Drohnwick', 'Valshaken', 'Quorimund', 'Karvolt', 'Penhazzard', 'Ostrifel', 'Thumbral', 'Jexwood']

/** The UN's list with so many invented people, at most eight of them with distinct names. */
export function unXml(count: number): string {
  const people = Array.from(
    { length: count },
    (_, at) =>
      `<INDIVIDUAL><DATAID>${7000 + at}</DATAID><FIRST_NAME>Ilsabet</FIRST_NAME><SECOND_NAME>${SURNAMES[at % SURNAMES.length]}</SECOND_NAME>` +
      '<UN_LIST_TYPE>Demo</UN_LIST_TYPE><INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1972-02-03</DATE></INDIVIDUAL_DATE_OF_BIRTH></INDIVIDUAL>',
  )
  return `<?xml version="1.0" encoding="UTF-8"?><CONSOLIDATED_LIST dateGenerated="2026-11-15"><INDIVIDUALS>${people.join('')}</INDIVIDUALS><ENTITIES></ENTITIES></CONSOLIDATED_LIST>`
}
