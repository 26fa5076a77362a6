/**
 * A generated list in versions that can be distinguished. All share a base of people. Each version lists people of its own,
 * and some people who are on all versions, each time under another id: so every answer shows which version it is from.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScreenReply } from '@ostiary/contract'
import { createWire, loadConfig } from '@ostiary/server/measure'
import { ROOT } from '@ostiary/testkit/run'
import { inventedWord, type SyntheticEntity, syntheticEntities } from '@ostiary/testkit/samples/synthetic-list'

export type Env = Readonly<Record<string, string>>

/** The name under which the list is imported. */
export const DATASET = 'drill'
const OWN = 6
const SHARED = 4

interface VersionedList {
  /** Writes one version of the list and returns its path. */
  write(number: number): string
  /** A customer's file with people of all versions; the ids of its rows begin with `tag`. */
  file(tag: string): string
}

interface Person {
  /** What follows the tag in the id of the row: `own/2/5`, `shared/3`, `base/17`, `stranger/4`. */
  row: string
  first: string
  last: string
  dob: string
}

interface ListOptions {
  folder: string
  entities: number
  /** Numbers below this are versions. */
  versions: number
  /** Rows of people on the base list, and of people on none. */
  baseRows: number
  strangers: number
}

export function createVersions({ folder, entities, versions, baseRows, strangers }: ListOptions): VersionedList {
  const base = [...syntheticEntities(entities)]
  const baseText = base.map((entity) => `${JSON.stringify(entity)}\n`).join('')
  const shared = Array.from({ length: SHARED }, (_, n) => markedPerson(`shared/${n}`, n))
  const own = (number: number) =>
    Array.from({ length: OWN }, (_, n) => markedPerson(`own/${number}/${n}`, 1_000 + 97 * number + n))
  const people = [
    ...shared,
    ...Array.from({ length: versions }, (_, number) => own(number)).flat(),
    ...Array.from({ length: baseRows }, (_, n) =>
      asCustomer(`base/${n}`, base[Math.floor((n * base.length) / baseRows)]),
    ),
    ...Array.from(syntheticEntities(strangers, { seed: 77 }), (entity, n) => asCustomer(`stranger/${n}`, entity)),
  ]
  return {
    write(number) {
      const path = join(folder, `version-${number}.ftm.json`)
      const listed = [...shared, ...own(number)].map((person) => `${JSON.stringify(entityOf(number, person))}\n`)
      writeFileSync(path, baseText + listed.join(''))
      return path
    },
    file(tag) {
      const lines = people.map(({ row, first, last, dob }) => `${tag}/${row},${quoted(first)},${quoted(last)},${dob}\n`)
      return `id,firstname,lastname,dob\n${lines.join('')}`
    },
  }
}

/** Words of ranks that the base hardly ever draws, far from each other, so that no two people are confused. */
function markedPerson(row: string, n: number): Person {
  const [first, last] = [inventedWord(3_000_017 + n * 1_009), inventedWord(9_000_011 + n * 2_003)]
  const dob = `19${40 + ((n * 7) % 50)}-0${1 + (n % 9)}-1${n % 10}`
  return { row, first, last, dob }
}

function asCustomer(row: string, entity: SyntheticEntity | undefined): Person {
  if (!entity) throw new Error('There are no entities to make customers from')
  const words = entity.caption.split(' ')
  const birth = entity.properties.birthDate[0] ?? ''
  return { row, first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '', dob: birth.length === 10 ? birth : '' }
}

const quoted = (field: string) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)
const idOf = (number: number, row: string) => `v${number}-${row.replaceAll('/', '-')}`

function entityOf(number: number, { row, first, last, dob }: Person) {
  return {
    id: idOf(number, row),
    caption: `${first} ${last}`,
    schema: 'Person',
    properties: { name: [`${first} ${last}`], birthDate: [dob], topics: ['sanction'] },
    datasets: ['syn'],
    target: true,
  }
}

/** What one answer says about the base, row by row: the same under every version. */
export type BaseAnswer = ReadonlyMap<string, string>

export interface Judged {
  /** What is wrong with the answer. */
  faults: string[]
  version: string
  /** The number of the version its entries are from. */
  number: number
  base: BaseAnswer
}

/** Reads an answer to `file(tag)`. `base` is what the quiet service said, where that is known. */
export function judge({ summary, results }: ScreenReply, tag: string, versions: number, base?: BaseAnswer): Judged {
  const records = new Map(summary.matched.records.map((record) => [record.id.slice(tag.length + 1), record]))
  const number = Number(/^v(\d+)-/.exec(records.get('shared/0')?.matches[0]?.entityId ?? '')?.[1])
  const faults: string[] = []
  const complain = (is: boolean, fault: string) => is && faults.push(fault)
  complain(Number.isNaN(number), 'a person on every version is not found')
  complain(summary.total !== results.length, `${summary.total} rows, but ${results.length} results`)
  complain(!results.every(({ id }) => id.startsWith(`${tag}/`)), 'a row of another file')
  const matched = results.filter(({ match }) => match === 'true').length
  complain(matched !== summary.matched.count || matched !== records.size, 'summary and results do not agree')
  for (const [row, { matches }] of records) {
    for (const { entityId, listVersion } of matches) {
      complain(listVersion !== summary.version, `${row}: a match of ${listVersion} in an answer of ${summary.version}`)
      complain(/^v\d/.test(entityId) && !entityId.startsWith(`v${number}-`), `${row}: ${entityId} beside v${number}`)
    }
  }
  const expectFound = (row: string) =>
    complain(records.get(row)?.matches[0]?.entityId !== idOf(number, row), `${row}: not found under v${number}`)
  for (let n = 0; n < SHARED; n++) expectFound(`shared/${n}`)
  for (let other = 0; other < versions; other++) {
    for (let n = 0; n < OWN; n++) {
      const row = `own/${other}/${n}`
      if (other === number) expectFound(row)
      else complain(records.has(row), `${row}: found under v${number}`)
    }
  }
  const answers = new Map<string, string>()
  for (const [row, { matches }] of records) {
    if (/^(base|stranger)\//.test(row))
      answers.set(row, matches.map(({ entityId, score }) => `${entityId} ${score}`).join())
  }
  if (base) {
    const others = [...new Set([...base.keys(), ...answers.keys()])].filter((row) => base.get(row) !== answers.get(row))
    complain(others.length > 0, `${others.length} rows of the base have another answer, as ${others[0]}`)
  }
  return { faults, version: summary.version, number, base: answers }
}

export function postFile(url: string, key: string, csv: string, query = ''): Promise<Response> {
  const body = new FormData()
  body.set('file', new File([csv], 'customers.csv', { type: 'text/csv' }))
  return fetch(`${url}/v2/open-sanctions/file/${DATASET}${query}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body,
    signal: AbortSignal.timeout(120_000),
  })
}

/** Creates keys of that many tenants, without limits on files per minute. Not through the command line, which takes half a second each. */
export async function createKeys(settings: Env, count: number): Promise<string[]> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  try {
    const keys: string[] = []
    for (let n = 0; n < count; n++) {
      const { tenantId } = await wire.keys.service.createTenant(`Drill ${n}`)
      const wanted = { livemode: true, name: 'drill', scopes: ['sanctions:run' as const], allowedIps: [] }
      keys.push((await wire.keys.service.createKey(tenantId, { ...wanted, usagePlanId: 'unmetered' })).api_key)
    }
    return keys
  } finally {
    await wire.close()
  }
}

export interface Command<T> {
  pid: number
  /** What it printed; rejects when it failed. */
  printed: Promise<T>
  exited: Promise<void>
}

/** Starts `ostiary … --json` without waiting, so that this process can go on with its requests or end it. */
export function startOstiary<T>(env: Env, ...args: string[]): Command<T> {
  const child = spawn(process.execPath, [`${ROOT}apps/cli/src/main.ts`, ...args, '--json'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, errors] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const printed = exited.then(() => {
    if (child.exitCode === 0) return JSON.parse(out) as T
    throw new Error(`ostiary ${args.join(' ')} ended with ${child.exitCode ?? child.signalCode}: ${errors}`)
  })
  printed.catch(() => undefined) // the drill does not read the output of a command that it kills
  return { pid: child.pid ?? 0, printed, exited }
}
