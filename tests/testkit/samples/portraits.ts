/**
 * The portraits for the accuracy of faces. They show real people, so they are kept outside the repository. A machine without
 * them skips the measurement.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Picture } from '@ostiary/faces'
import { ROOT } from '../run.ts'
import { parseCsv } from './labelled.ts'

const FOLDER = `${process.env.OSTIARY_DATA ?? `${ROOT}../shared/data`}/faces`

export interface Portrait {
  path: string
  person: string
  sex: string
  /** Years between birth and the date of the picture. The date is certain only if `isDated`. */
  ageYears: number
  /** The picture records when it was taken. For the others only the date of publication is known. */
  isDated: boolean
}

/** One picture of the anti-spoofing samples, in the orientation of the sensor: rotate it before use. */
export interface SpoofSample {
  path: string
  kind: 'genuine' | 'print' | 'replay'
}

const OURS = `${FOLDER}/eileen_collins_astronaut.png`
/** The same picture, of NASA and in the public domain, where tools/bootstrap puts it on a machine without the portraits. */
const FETCHED = `${ROOT}.services/portrait/astronaut.png`

/** The portrait that golden numbers and puppets are made from. */
export const BASELINE_PORTRAIT = existsSync(OURS) ? OURS : FETCHED

/** A specimen of a passport whose lines are 8 mm apart. */
export const SPECIMEN_PASSPORT = `${FOLDER}/documents/mock_td3_passport_uto.jpg`

export const SPOOF_SAMPLES: readonly SpoofSample[] = [
  { path: `${FOLDER}/spoof/silent_T1.jpg`, kind: 'genuine' },
  { path: `${FOLDER}/spoof/silent_F1.jpg`, kind: 'print' },
  { path: `${FOLDER}/spoof/silent_F2.jpg`, kind: 'replay' },
]

/** Where the portraits should be but are not, or undefined when they are there. */
export function missingPortraits(): string | undefined {
  const path = `${FOLDER}/congress/index.csv`
  return existsSync(path) ? undefined : path
}

const YEAR_MS = 365.2425 * 24 * 60 * 60 * 1000

export function loadPortraits(): Portrait[] {
  const rows = parseCsv(readFileSync(`${FOLDER}/congress/index.csv`, 'utf8'))
  const byPerson = Map.groupBy(rows, (row) => row['person(bioguide)'])
  return rows.map((row) => ({
    path: `${FOLDER}/congress/${row.file}`,
    person: row['person(bioguide)'] ?? '',
    sex: row.sex ?? '',
    ageYears: (Date.parse(row.photo_date_or_commit_date ?? '') - Date.parse(row.birthdate ?? '')) / YEAR_MS,
    // By the set's own description: a person with one portrait is in it because that portrait is dated.
    isDated: byPerson.get(row['person(bioguide)'])?.length === 1,
  }))
}

export interface ReadOptions {
  /** Filters of ffmpeg, for pictures that must be turned, blurred or otherwise spoilt. */
  filters?: readonly string[]
}

/** Reads a picture of any kind ffmpeg knows. */
export async function readPicture(path: string, { filters = [] }: ReadOptions = {}): Promise<Picture> {
  const filtering = filters.length > 0 ? ['-vf', filters.join(',')] : []
  const into = ['-frames:v', '1', '-f', 'image2pipe', '-c:v', 'pam', '-pix_fmt', 'rgba', '-']
  const bytes = await run('ffmpeg', ['-v', 'error', '-nostdin', '-i', path, ...filtering, ...into])
  return parsePam(bytes)
}

/** The portable arbitrary map (PAM): a header of words, then the bytes. */
export function parsePam(bytes: Buffer): Picture {
  const end = bytes.indexOf('ENDHDR\n')
  const header = bytes.subarray(0, Math.max(end, 0)).toString('latin1')
  const numberOf = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(header)?.[1])
  const [width, height] = [numberOf('WIDTH'), numberOf('HEIGHT')]
  const data = bytes.subarray(end + 'ENDHDR\n'.length)
  if (end < 0 || numberOf('DEPTH') !== 4 || data.length !== width * height * 4)
    throw new Error('This is not an RGBA picture')
  return { width, height, data: new Uint8ClampedArray(data) }
}

/** A picture as such a file. */
export function toPam({ width, height, data }: Picture): Buffer {
  const header = `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n`
  return Buffer.concat([Buffer.from(header), Buffer.from(data)])
}

function run(command: string, args: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, complaints]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out))
      else reject(new Error(`${command} ended with ${code}: ${Buffer.concat(complaints).toString().trim()}`))
    })
  })
}
