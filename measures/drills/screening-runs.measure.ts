/**
 * A customer's monthly screening, through the SDK with a live key: a large file against a list, and the same file again when the list has a
 * newer version. Ten people of the file are new on it, two are gone and one has changed; the second run must show exactly these. A live key may
 * send six files a minute, so parts have to wait; the waits must be visible and nothing may be lost by them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWire, loadConfig } from '@ostiary/server/measure'
import { createClient, type FileScreening, type ScreeningChange, type ScreenProgress } from '@ostiary/testkit/client'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ostiary, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { syntheticEntities } from '@ostiary/testkit/samples/synthetic-list'
import { asCustomer, DATASET, type Env, markedPerson, type Person, quoted } from './swap.ts'

const PLANTED = { new: 10, gone: 2, changed: 1, stay: 30 } as const
const SERIES = 'customers'
const PART_BYTES = 2 * 1024 * 1024
/** Eight parts: with six files a minute the last ones have to wait. The second run of the short form is one part: how a file was cut makes no difference. */
const SHORT = { rows: 6_000, entities: 2_000, partBytes: 180_000 }
const FULL = { rows: 120_000, entities: 5_000, partBytes: PART_BYTES }

export const measure: Measure = async ({ full, say }) => {
  const { rows, entities, partBytes } = full ? FULL : SHORT
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-screening-runs-'))
  const database = await createDatabase(startServices(), 'drill')
  const settings = { ...testSettings(database.url), SANCTIONS_DIR: join(folder, 'lists') }
  const list = createList(folder, entities)
  const load = (number: 1 | 2) =>
    ostiary<{ version: string }>(settings, 'datasets', 'import', DATASET, list.write(number), '--licence', 'none')
  load(1)
  const api = await startApi({ env: settings, logName: 'drill-screening-runs' })
  try {
    const client = createClient({ baseUrl: api.url, apiKey: await createLiveKey(settings) })
    const file = () => customers(list.people, rows)
    const shared = { dataset: DATASET, series: SERIES, since: 'last' }
    const first = watch(say, 'first run')
    // A stream: it is cut as it is read.
    const before = await client.sanctions.screenAll({ ...shared, partBytes, file: file(), onProgress: first.show })
    say(`first run: ${describe(before)}, no earlier one: ${before.changes?.since === null}`)
    const { version } = load(2)
    await untilServed(async () => {
      const { summary } = await client.sanctions.match({ dataset: DATASET, people: [{ lastname: 'Example' }] })
      return summary.version === version
    })
    const second = watch(say, 'second run')
    const after = await client.sanctions.screenAll({ ...shared, file, onProgress: second.show })
    say(`second run: ${describe(after)}`)
    const changes = after.changes ?? { new: [], gone: [], changed: [] }
    const wrong = [
      ...misnamed('new', changes.new),
      ...misnamed('gone', changes.gone),
      ...misnamed('changed', changes.changed),
    ]
    for (const fault of wrong.slice(0, 10)) say(`WRONG ${fault}`)
    const kept = await client.sanctions.runs.list({ dataset: DATASET, series: SERIES, state: 'COMPLETE' })
    say(`${changes.new.length} new, ${changes.gone.length} gone, ${changes.changed.length} changed`)
    const exactly = (name: string, value: number, expected: number) => [
      { name: `screening-runs.${name}`, value, floor: expected, is: 'least' as const },
      { name: `screening-runs.${name}-at-most`, value, floor: expected, is: 'most' as const },
    ]
    return [
      ...exactly('rows', Math.min(before.total, after.total), rows),
      ...exactly('new', changes.new.length, PLANTED.new),
      ...exactly('gone', changes.gone.length, PLANTED.gone),
      ...exactly('changed', changes.changed.length, PLANTED.changed),
      { name: 'screening-runs.wrong', value: wrong.length, floor: 0, is: 'most' },
      { name: 'screening-runs.waits', value: first.waits() + second.waits(), floor: 1, is: 'least' },
      { name: 'screening-runs.kept', value: kept.count, floor: 2, is: 'least' },
    ]
  } finally {
    await api.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const describe = ({ total, matched, runIds, run }: FileScreening) =>
  `${total} rows in ${runIds.length} parts, ${matched.length} matched, ${run?.hits} hits`

/** Says what the caller of the SDK sees, and counts the waits. */
function watch(say: (text: string) => void, name: string) {
  let [waits, isWaiting] = [0, false]
  return {
    show({ pause, part, rows }: ScreenProgress): void {
      if (pause && !isWaiting) {
        waits++
        say(`${name}: ${rows} rows screened, part ${part} waits ${pause.seconds} s: ${pause.reason}`)
      }
      isWaiting = pause !== undefined
    },
    waits: () => waits,
  }
}

/** The ids of rows say what was planted: every change must be of its own kind, with its row. */
function misnamed(change: keyof typeof PLANTED, found: readonly ScreeningChange[]): string[] {
  return found.flatMap(({ row }) =>
    row?.id.startsWith(`${change}/`) ? [] : [`${row?.id ?? 'a row that is not in the file'} is shown as ${change}`],
  )
}

interface PlantedList {
  write(number: 1 | 2): string
  people: readonly Person[]
}

function createList(folder: string, entities: number): PlantedList {
  const base = Array.from(syntheticEntities(entities), (entity) => `${JSON.stringify(entity)}\n`).join('')
  let n = 0
  const group = (kind: keyof typeof PLANTED) =>
    Array.from({ length: PLANTED[kind] }, (_, at) => markedPerson(`${kind}/${at}`, n++))
  const groups = { new: group('new'), gone: group('gone'), changed: group('changed'), stay: group('stay') }
  const listed = {
    1: [...groups.gone, ...groups.changed, ...groups.stay].map((person) => entityOf(person, ['sanction'])),
    2: [
      ...[...groups.new, ...groups.stay].map((person) => entityOf(person, ['sanction'])),
      ...groups.changed.map((person) => entityOf(person, ['sanction', 'crime'])),
    ],
  }
  return {
    people: Object.values(groups).flat(),
    write(number) {
      const path = join(folder, `version-${number}.ftm.json`)
      writeFileSync(path, base + listed[number].join(''))
      return path
    },
  }
}

function entityOf({ row, first, last, dob }: Person, topics: readonly string[]): string {
  const name = `${first} ${last}`
  const properties = { name: [name], birthDate: [dob], topics }
  const entity = { id: row.replace('/', '-'), caption: name, schema: 'Person', properties, datasets: ['syn'] }
  return `${JSON.stringify({ ...entity, target: true })}\n`
}

const REMARKS =
  'no remarks; papers complete; next review as planned; letters by post; account in good standing; referred by branch office 12'

/** A file as customers export it, with columns that are skipped. The planted people stand at its beginning and its end. */
async function* customers(planted: readonly Person[], rows: number): AsyncGenerator<Uint8Array> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const line = ({ row, first, last, dob }: Person, n: number) =>
    `${row},${quoted(first)},${quoted(last)},${dob},"Invented Street ${n % 97}, 2nd floor, Sampletown",active since ${2000 + (n % 26)},${REMARKS}\n`
  yield encode('id,firstname,lastname,dob,address,status,remarks\n')
  const half = Math.floor(planted.length / 2)
  yield encode(planted.slice(0, half).map(line).join(''))
  let n = 0
  let lines: string[] = []
  for (const entity of syntheticEntities(rows - planted.length, { seed: 77 })) {
    lines.push(line(asCustomer(`customer/${n++}`, entity), n))
    if (lines.length === 1_000) yield encode(lines.splice(0).join(''))
  }
  yield encode(lines.join(''))
  lines = planted.slice(half).map(line)
  yield encode(lines.join(''))
}

/** A live key with the limits that a customer has, of a tenant that keeps runs. */
async function createLiveKey(settings: Env): Promise<string> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  try {
    const { tenantId } = await wire.keys.service.createTenant('Drill')
    await wire.settings.service.set(tenantId, { screeningRunDays: 400 })
    const wanted = { livemode: true, name: 'drill', scopes: ['sanctions:run' as const], allowedIps: [] }
    return (await wire.keys.service.createKey(tenantId, { ...wanted, usagePlanId: 'standard' })).api_key
  } finally {
    await wire.close()
  }
}

async function untilServed(isServed: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + 180_000; Date.now() < giveUpAt; ) {
    if (await isServed()) return
    await sleep(200)
  }
  throw new Error('The new version is not served after three minutes')
}
