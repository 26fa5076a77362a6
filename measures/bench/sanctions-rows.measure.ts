/**
 * Files of 2 MB with as many rows as fit, two at a time: how much memory the API needs above what it has when idle. Every answer is read to its
 * end and must have a result for each row.
 *
 *   npm run bench -- sanctions-rows [--full]      --full: a list of 100,000 invented entries, and files of a million rows
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SANCTIONS_LIMITS, type ScreenReply } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ostiary, startApi, startServices } from '@ostiary/testkit/run'
import { writeEntities } from '@ostiary/testkit/samples/synthetic-list'
import { createScreeningKey, postFile } from './screening-calls.ts'

const HEADER = 'id,firstname,lastname,dob\n'
const WARM_UP = `${HEADER}${'1,Ana,Example,1990-05-04\n'.repeat(2_000)}`
const ABOVE_IDLE_MB = 100

interface Kind {
  name: string
  row(n: number): string
  /** Every row is on the demo list. */
  matches?: true
}

const KINDS: readonly Kind[] = [
  { name: 'of-5-bytes', row: (n) => `${n % 10},${letter(n)}${letter(n / 26)}\n` },
  { name: 'of-31-bytes', row: (n) => `${String(n % 1e5).padStart(5, '0')},${word(n)},${word(n + 7)},1990-05-04\n` },
  { name: 'that-match', row: () => '1,Vardo,Quellmar,1961-04-17\n', matches: true },
]
const FULL_KINDS: readonly Kind[] = [{ name: 'of-2-bytes', row: (n) => `${n % 10}\n` }]

export const measure: Measure = async ({ full, say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-sanctions-rows-'))
  const database = await createDatabase(startServices(), 'bench')
  const settings = { ...testSettings(database.url), SANCTIONS_DIR: join(folder, 'lists') }
  try {
    const key = await createScreeningKey(settings)
    if (full) await importInvented(settings, folder, say)
    const figures = []
    for (const kind of full ? [...KINDS, ...FULL_KINDS] : KINDS) {
      const dataset = full && !kind.matches ? 'bench' : 'demo'
      const { aboveIdleMb, whole } = await screenTwo(settings, { key, dataset, kind, say })
      const floor = ABOVE_IDLE_MB
      figures.push(
        {
          name: `sanctions-rows.${kind.name}-mb-above-idle`,
          value: aboveIdleMb,
          floor,
          is: 'most',
          load: true,
        } as const,
        { name: `sanctions-rows.${kind.name}-whole-answers`, value: whole, floor: 2, is: 'least' } as const,
      )
    }
    return figures
  } finally {
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Env = Record<string, string>
type Say = (text: string) => void

async function importInvented(settings: Env, folder: string, say: Say): Promise<void> {
  const list = join(folder, 'entities.ftm.json')
  await writeEntities(list, 100_000, { namesEach: 2.4, sample: 0 })
  ostiary(settings, 'datasets', 'import', 'bench', list, '--format', 'ftm', '--licence', 'none')
  say('100,000 invented entries are imported')
}

/** Two files at once, sent to a process of their own: what one kind of file leaves behind must not count for the next. */
async function screenTwo(
  settings: Env,
  { key, dataset, kind, say }: { key: string; dataset: string; kind: Kind; say: Say },
): Promise<{ aboveIdleMb: number; whole: number }> {
  const { csv, rows } = fill(kind)
  const api = await startApi({ env: settings, logName: `bench-sanctions-rows-${kind.name}` })
  try {
    await (await postFile({ url: api.url, dataset, key, csv: WARM_UP })).text()
    const idle = memoryMb(api.pid, 'VmRSS')
    forgetPeak(api.pid)
    const started = performance.now()
    const answers = await Promise.all([0, 1].map(() => isWhole({ url: api.url, dataset, key, csv }, rows, kind)))
    const peak = memoryMb(api.pid, 'VmHWM')
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    say(
      `${kind.name}: ${rows} rows, twice at once in ${seconds} s; idle ${idle.toFixed(0)} MB, at most ${peak.toFixed(0)} MB`,
    )
    return { aboveIdleMb: Math.max(0, peak - idle), whole: answers.filter((is) => is).length }
  } finally {
    await api.stop()
  }
}

async function isWhole(call: Parameters<typeof postFile>[0], rows: number, kind: Kind): Promise<boolean> {
  const response = await postFile(call)
  if (!response.ok)
    throw new Error(`The file was answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  const { summary, results } = (await response.json()) as ScreenReply
  const areMatches = results.filter(({ match }) => match === 'true').length
  if (kind.matches && areMatches !== rows) return false
  return summary.total === rows && results.length === rows && summary.matched.count === areMatches
}

/** A file of exactly 2 MB. */
function fill({ row }: Kind): { csv: string; rows: number } {
  const parts: string[] = []
  let left = SANCTIONS_LIMITS.fileBytes - HEADER.length
  for (let n = 0; ; n++) {
    const next = row(n)
    if (next.length > left) break
    parts.push(next)
    left -= next.length
  }
  return { csv: HEADER + parts.join('') + '\n'.repeat(left), rows: parts.length }
}

const letter = (n: number) => String.fromCharCode(97 + (Math.floor(n) % 26))
const word = (n: number) =>
  `${letter(n * 7)}${letter(n * 3)}${letter(n / 5)}${letter(n / 11)}${letter(n / 131)}${letter(n)}`

function memoryMb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
}

/** Sets the peak of a process to what it has now. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
