/**
 * Area B with a large list: a generated list is imported as an operator would do it, then a customer's file is screened over
 * HTTP. For comparison its rows are looked up with pg_trgm. 20,000 entities and rows; with --full a million and 40,000.
 *
 *   npm run bench -- sanctions [--full] [--entities N] [--names-each 2.4|6] [--threshold 0.95]
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DatasetList, SANCTIONS_LIMITS, type ScreenReply } from '@ostiary/contract'
import { withServices } from '@ostiary/server/operate'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { copyRows, field, type Row } from '@ostiary/testkit/measuring/copy'
import { type Measure, type MeasureOptions, median } from '@ostiary/testkit/measuring/figure'
import { ostiary, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { namesOf, parseCsv } from '@ostiary/testkit/samples/labelled'
import { syntheticEntities, writeEntities } from '@ostiary/testkit/samples/synthetic-list'
import pg from 'pg'
import { customerFile, originOf } from './customer-file.ts'

const ONE_ROW = 'id,firstname,lastname,dob\n1,Ana,Example,1990-05-04\n'

type Env = Record<string, string>
type Say = MeasureOptions['say']

interface Size {
  entities: number
  namesEach: 2.4 | 6
  threshold: number
  rows: number
  /** Rows made from listed entities. */
  positives: number
  starts: number
  /** More rows on a small list, where a few would be too quick to measure. */
  trigramRows: number
}

export const measure: Measure = async ({ full, say }) => {
  const size = readSize(full)
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-sanctions-'))
  const database = await createDatabase(startServices(), 'bench')
  const settings = testSettings(database.url)
  const withList: Env = { ...settings, SANCTIONS_DIR: join(folder, 'lists') }
  const demoOnly: Env = { ...settings, SANCTIONS_DIR: join(folder, 'none') }
  try {
    const csv = await importList(withList, folder, size, say)
    const key = await createScreeningKey(settings)
    const ours = await screenFile(withList, key, csv, size, say)
    const startSeconds = await measureStart(withList, demoOnly, key, size, say)
    const trigrams = await measureTrigrams(database.url, csv, size, say)
    return [
      { name: 'sanctions.start-seconds', value: startSeconds, floor: 3, is: 'most', load: true },
      {
        name: 'sanctions.rows-per-cpu-second',
        value: size.rows / ours.cpuSeconds,
        floor: 5_000,
        is: 'least',
        load: true,
      },
      { name: 'sanctions.file-seconds', value: ours.seconds, floor: 10, is: 'most', load: true },
      { name: 'sanctions.memory-gb', value: ours.memoryGb, floor: 0.8, is: 'most', load: true },
      { name: 'sanctions.right-entity', value: ours.right, floor: 0.9, is: 'least' },
      // A trigram index slows down as the list grows, so a small one tells less.
      {
        name: 'sanctions.over-pg-trgm',
        value: ours.best / trigrams,
        floor: isLarge(size) ? 20 : 10,
        is: 'least',
        load: true,
      },
    ]
  } finally {
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const isLarge = ({ entities }: Pick<Size, 'entities'>) => entities >= 100_000

function readSize(full: boolean): Size {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      full: { type: 'boolean' },
      entities: { type: 'string' },
      'names-each': { type: 'string' },
      threshold: { type: 'string' },
    },
    allowPositionals: true,
  })
  const entities = Number(values.entities ?? (full ? 1_000_000 : 20_000))
  const threshold = Number(values.threshold ?? SANCTIONS_LIMITS.scoreThresholdDefault)
  const namesEach = values['names-each'] ?? '2.4'
  if (!Number.isInteger(entities) || entities < 1) throw new Error('--entities must be a whole number from 1')
  if (!(threshold > 0 && threshold <= 1)) throw new Error('--threshold must be above 0 and at most 1')
  if (namesEach !== '2.4' && namesEach !== '6') throw new Error('--names-each must be 2.4 or 6')
  const rest = isLarge({ entities })
    ? { rows: 40_000, positives: 2_000, starts: 3, trigramRows: 200 }
    : { rows: 20_000, positives: 1_000, starts: 1, trigramRows: 500 }
  return { entities, threshold, namesEach: namesEach === '6' ? 6 : 2.4, ...rest }
}

/** Makes the list and imports it; returns the customer's file for it. */
async function importList(settings: Env, folder: string, size: Size, say: Say): Promise<string> {
  const { entities, namesEach, rows, positives } = size
  const list = join(folder, 'entities.ftm.json')
  const written = await writeEntities(list, entities, { namesEach, sample: positives })
  say(`${entities} entities, ${written.names} names, ${megabytes(written.bytes)} of JSON`)
  const csv = customerFile({ entities: written.sample, rows, positives })
  say(`${rows} rows to screen, ${positives} of them listed, ${megabytes(Buffer.byteLength(csv))}`)
  const started = performance.now()
  ostiary(settings, 'datasets', 'import', 'bench', list, '--format', 'ftm', '--licence', 'none')
  rmSync(list)
  say(`imported in ${secondsSince(started).toFixed(1)} s, ${megabytes(folderBytes(join(folder, 'lists')))} on disk`)
  return csv
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const secondsSince = (started: number) => (performance.now() - started) / 1000

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/** How much the list adds to the time from the start to the first answer. */
async function measureStart(withList: Env, demoOnly: Env, key: string, { starts }: Size, say: Say): Promise<number> {
  // The first start in a folder makes the demo list; in the other it has been made.
  await timeStart(demoOnly, 'demo', key)
  const times = { bench: [] as number[], demo: [] as number[] }
  for (let turn = 0; turn < starts; turn++) {
    times.demo.push(await timeStart(demoOnly, 'demo', key))
    times.bench.push(await timeStart(withList, 'bench', key))
  }
  const [bench, demo] = [median(times.bench), median(times.demo)]
  say(`first answer ${bench.toFixed(2)} s after the start, ${demo.toFixed(2)} s with the demo list only`)
  return Math.max(0, bench - demo)
}

async function timeStart(env: Env, dataset: string, key: string): Promise<number> {
  const started = performance.now()
  const api = await startApi({ env, logName: 'bench-sanctions-start' })
  try {
    while (!(await isServed(api.url, dataset, key))) {
      if (secondsSince(started) > 60)
        throw new Error(`There is no dataset ${dataset} after 60 s:\n${api.log().slice(-1000)}`)
      await sleep(20)
    }
    return secondsSince(started)
  } finally {
    await api.stop()
  }
}

async function isServed(url: string, dataset: string, key: string): Promise<boolean> {
  const response = await fetch(`${url}/v2/open-sanctions/datasets`, { headers: { 'x-api-key': key } })
  if (!response.ok) throw new Error(`The list of datasets was answered ${response.status}`)
  const { datasets } = (await response.json()) as DatasetList
  if (!datasets.some(({ name }) => name === dataset)) return false
  return (await postFile({ url, dataset, key, csv: ONE_ROW })).status === 200
}

interface Screened {
  seconds: number
  cpuSeconds: number
  memoryGb: number
  right: number
  /** Rows per second of the faster run. */
  best: number
}

/** Screens files one after the other: the process grows with each, until its memory is stable. */
const FILES = ['warm-up', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth']

/** One file warms up, then the measured ones follow. The CPU time is that of all threads of the API. */
async function screenFile(env: Env, key: string, csv: string, size: Size, say: Say): Promise<Screened> {
  const api = await startApi({ env, logName: 'bench-sanctions' })
  try {
    const runs: { seconds: number; cpuSeconds: number; text: string }[] = []
    for (const run of FILES) {
      const cpuBefore = cpuSecondsOf(api.pid)
      const started = performance.now()
      const response = await postFile({
        url: api.url,
        dataset: 'bench',
        key,
        csv,
        query: `?scoreThreshold=${size.threshold}`,
      })
      const text = await response.text()
      const [seconds, cpuSeconds] = [secondsSince(started), cpuSecondsOf(api.pid) - cpuBefore]
      if (!response.ok) throw new Error(`The file was answered ${response.status}: ${text.slice(0, 500)}`)
      say(
        `${run} file: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU, an answer of ${megabytes(text.length)}`,
      )
      if (run !== 'warm-up') runs.push({ seconds, cpuSeconds, text })
    }
    const { rss, peak } = memoryOf(api.pid)
    say(`memory ${rss.toFixed(2)} GB after the runs, ${peak.toFixed(2)} GB at most`)
    return {
      seconds: median(runs.map((run) => run.seconds)),
      cpuSeconds: median(runs.map((run) => run.cpuSeconds)),
      memoryGb: rss,
      right: judge(JSON.parse(runs[0]?.text ?? '') as ScreenReply, size, say),
      best: size.rows / Math.min(...runs.map((run) => run.seconds)),
    }
  } finally {
    await api.stop()
  }
}

/** The share of listed customers whose own entry is among the matches that are shown. */
function judge({ summary, results }: ScreenReply, { rows, positives }: Size, say: Say): number {
  if (summary.total !== rows || results.length !== rows) throw new Error(`${results.length} rows were answered`)
  const records = new Map(summary.matched.records.map((record) => [record.id, record]))
  const kinds = new Map<string, { rows: number; right: number }>()
  let [right, unseen, flagged] = [0, 0, 0]
  for (const { id, match } of results) {
    const origin = originOf(id)
    const record = records.get(id)
    if (!origin) {
      if (match === 'true') flagged++
      continue
    }
    const kind = kinds.get(origin.kind) ?? { rows: 0, right: 0 }
    kinds.set(origin.kind, kind)
    kind.rows++
    if (record?.matches.some(({ entityId }) => entityId === origin.entityId)) {
      kind.right++
      right++
    } else if (record?.moreMatches !== undefined) unseen++
  }
  const shares = [...kinds].map(([kind, of]) => `${kind} ${(of.right / of.rows).toFixed(3)}`)
  say(`own entry found: ${shares.join(', ')}`)
  say(
    `${unseen} rows more may have it among matches that are not shown; ${flagged} of ${rows - positives} strangers match`,
  )
  return right / positives
}

function cpuSecondsOf(pid: number): number {
  // The name of the process comes second, in brackets, and may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

const CLOCK_TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

function memoryOf(pid: number): { rss: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const gigabytes = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e9
  return { rss: gigabytes('VmRSS'), peak: gigabytes('VmHWM') }
}

/**
 * The same names under a trigram index: rows per second with as many connections as there are cores. As with our own
 * files the first run warms up, and the faster of two counts.
 */
async function measureTrigrams(url: string, csv: string, size: Size, say: Say): Promise<number> {
  const clients = Array.from({ length: availableParallelism() }, () => new pg.Client(url))
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const [first] = clients
    if (!first) throw new Error('There is no connection')
    await fillTrigrams(first, size, say)
    const rows = parseCsv(csv).slice(0, size.trigramRows)
    const names = rows.map(({ firstname, lastname }) => `${firstname} ${lastname}`)
    for (const client of clients) await client.query('set pg_trgm.similarity_threshold = 0.6; set jit = off')
    await lookUp(clients, names)
    const seconds = Math.min(await lookUp(clients, names), await lookUp(clients, names))
    const rate = names.length / seconds
    say(
      `pg_trgm: ${names.length} rows in ${seconds.toFixed(2)} s on ${clients.length} connections, ${rate.toFixed(1)}/s`,
    )
    return rate
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

async function fillTrigrams(client: pg.Client, { entities, namesEach }: Size, say: Say): Promise<void> {
  const started = performance.now()
  await client.query('create extension if not exists pg_trgm')
  await client.query('create unlogged table listed_names (entity_id text not null, name text not null)')
  await copyRows(client, 'listed_names (entity_id, name)', listedNames(entities, namesEach))
  await client.query(`set maintenance_work_mem = '512MB'`)
  await client.query('create index listed_names_trigrams on listed_names using gin (name gin_trgm_ops)')
  await client.query('vacuum analyze listed_names')
  const { rows } = await client.query<{ bytes: number }>(
    `select pg_relation_size('listed_names_trigrams')::float8 as bytes`,
  )
  say(`pg_trgm: filled in ${secondsSince(started).toFixed(1)} s, index of ${megabytes(rows[0]?.bytes ?? 0)}`)
}

function* listedNames(entities: number, namesEach: 2.4 | 6): Generator<Row> {
  for (const entity of syntheticEntities(entities, { namesEach }))
    for (const name of namesOf(entity)) yield [field.text(entity.id), field.text(name)]
}

async function lookUp(clients: readonly pg.Client[], names: readonly string[]): Promise<number> {
  const started = performance.now()
  let next = 0
  await Promise.all(
    clients.map(async (client) => {
      while (next < names.length) {
        await client.query({
          name: 'look-up',
          text: `select entity_id, name, similarity(name, $1) as score from listed_names
                 where name % $1 order by score desc limit 10`,
          values: [names[next++]],
        })
      }
    }),
  )
  return secondsSince(started)
}

/** Through the services, which takes less time than the command line. Without a limit on files per minute. */
function createScreeningKey(settings: Record<string, string>): Promise<string> {
  return withServices(settings, async ({ keys, migrate }) => {
    await migrate(() => {})
    const { tenantId } = await keys.createTenant('Bench')
    const scopes = { scopes: ['sanctions:run'], allowedIps: [], usagePlanId: 'unmetered' } as const
    return (await keys.createKey(tenantId, { livemode: true, name: 'bench', ...scopes })).api_key
  })
}

interface FileCall {
  url: string
  dataset: string
  key: string
  csv: string
  query?: string
}

function postFile({ url, dataset, key, csv, query = '' }: FileCall): Promise<Response> {
  const body = new FormData()
  body.set('file', new File([csv], 'customers.csv', { type: 'text/csv' }))
  return fetch(`${url}/v2/open-sanctions/file/${dataset}${query}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body,
  })
}
