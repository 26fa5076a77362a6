/**
 * kill -9 of an import at any moment: the version in service keeps serving, no incomplete version is listed, and the process
 * that builds the snapshot ends with its parent. Then kill -9 of the API while it reads a new version: after the restart it
 * serves a complete one.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScreenReply } from '@ostiary/contract'
import { withDatasets } from '@ostiary/server/operate'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { freePorts, ostiary, type Started, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { seeded } from './malformed.ts'
import { createKeys, createVersions, DATASET, type Env, judge, postFile, startOstiary } from './swap.ts'

/** What is killed: only the command, the command and its build process, or the command right after that process started. */
const KINDS = ['command', 'newborn', 'both'] as const
const SERVED_WITHIN_MS = 60_000
const GONE_WITHIN_MS = 60_000
/** After this time an import removes the drafts of killed imports: see STALE_DRAFT_MS. */
const STALE_SECONDS = 2 * 3600

interface Overview {
  dataset: { name: string }
  current: string | null
  versions: string[]
  facts: object | null
}

export const measure: Measure = async ({ full, say }) => {
  const [kills, apiKills, entities] = full ? [25, 6, 60_000] : [8, 2, 3_000]
  const seed = full ? Date.now() % 1_000_000 : 20_261_115
  const random = seeded(seed)
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-kill-import-'))
  const lists = join(folder, 'lists')
  const database = await createDatabase(startServices(), 'drill')
  const [port = 0, adminPort = 0] = await freePorts(2)
  const settings = {
    ...testSettings(database.url),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    SANCTIONS_DIR: lists,
  }
  const start = () => startApi({ env: settings, logName: 'drill-kill-import' })
  const count = kills + 3
  const list = createVersions({ folder, entities, versions: count, baseRows: 20, strangers: 20 })
  const found = { lost: [] as string[], half: [] as string[], orphans: 0, leftovers: 0 }
  let api: Started | undefined
  try {
    const begun = performance.now()
    importList(settings, list.write(0))
    const importMs = performance.now() - begun
    api = await start()
    const [key = ''] = await createKeys(settings, 1)
    say(`seed ${seed}: ${entities} people, an import takes ${(importMs / 1000).toFixed(1)} s`)

    /** Finds the version in service and checks it and the others. */
    const inspect = async (
      when: string,
      url: string,
      look = direct(settings),
    ): Promise<{ number: number; version: string }> => {
      const [listed, verified, answer] = await Promise.all([
        look.list(),
        look.verify().catch((error: Error) => error),
        ask(url, key, list.file('row'), count),
      ])
      const about = listed.find(({ dataset }) => dataset.name === DATASET)
      if (verified instanceof Error) found.lost.push(`${when}: ${verified.message}`)
      if (!about?.current || !about.facts) found.lost.push(`${when}: the list is gone`)
      if ('fault' in answer) found.lost.push(`${when}: ${answer.fault}`)
      for (const version of about?.versions ?? []) {
        if (version === about?.current || checked.has(version)) continue
        await look.verify(version).then(
          () => checked.add(version),
          (error: Error) => found.half.push(`${when}: ${error.message}`),
        )
      }
      if ('faults' in answer) found.half.push(...answer.faults.map((fault) => `${when}: ${fault}`))
      return { number: 'number' in answer ? answer.number : Number.NaN, version: about?.current ?? '' }
    }
    const checked = new Set<string>()

    let number = 0
    let current = await inspect('at first', api.url, commands(settings))
    checked.add(current.version)
    const moments: string[] = []
    for (let kill = 0; kill < kills; kill++) {
      const kind = KINDS[kill % KINDS.length] ?? 'both'
      const command = startOstiary(settings, 'datasets', 'import', DATASET, list.write(number + 1), '--licence', 'none')
      const startedAt = performance.now()
      // Each kill falls into its own part of the import, so that a few kills cover all of it.
      if (kind === 'newborn') await untilChild(command.pid).then(() => sleep(random() * 250))
      else await sleep(((kill + random()) / kills) * importMs)
      await pause(command.pid)
      const children = childrenOf(command.pid)
      const ended = !killNow(command.pid)
      if (kind === 'both') children.forEach(killNow)
      const when = `${kind} ${((performance.now() - startedAt) / 1000).toFixed(2)} s`
      moments.push(ended ? `${when} (too late)` : `${when}${children.length > 0 ? ' building' : ''}`)
      await command.exited
      for (const pid of children) {
        if (await isGone(pid)) continue
        found.orphans++
        say(`ORPHAN after ${when}`)
        killNow(pid)
      }
      const after = await inspect(when, api.url)
      if (after.version === current.version) {
        if (after.number !== number) found.lost.push(`${when}: version ${after.number} answers instead of ${number}`)
      } else {
        // The import had passed its last step, so the new version must serve, as after any other import.
        await untilServed(api.url, key, list, count, ++number)
        moments.push('after it had put its version into service')
        current = await inspect(when, api.url)
        if (current.number !== number) found.lost.push(`${when}: version ${number} is not served`)
      }
      const drafts = draftsIn(lists)
      if (kind === 'both') for (const path of drafts) age(path)
      else if (drafts.some((path) => !isAged(path))) {
        found.leftovers++
        say(`LEFT BEHIND after ${when}: ${drafts.join(', ')}`)
        for (const path of drafts) age(path)
      }
    }
    say(`killed: ${moments.join(', ')}`)
    say(`${draftsIn(lists).length} drafts are left before the last import`)

    const { version } = importList(settings, list.write(++number))
    const served = await untilServed(api.url, key, list, count, number)
    say(
      served === undefined ? 'the last import is not served' : `the last import is served after ${served.toFixed(1)} s`,
    )
    found.leftovers += draftsIn(lists).length
    await inspect('at last', api.url, commands(settings))

    // Switches between the two newest versions, and kills the process while it has the file of the next version open.
    const turns = [current.version, version]
    let whileReading = 0
    for (let kill = 0; kill < apiKills; kill++) {
      const target = turns[kill % 2] ?? ''
      const command = startOstiary(settings, 'datasets', 'rollback', DATASET, '--to', target)
      if (await untilOpen(api.pid, `${target}.snapshot`)) whileReading++
      await api.stop('SIGKILL')
      await command.printed
      api = await start()
      const answered = await ask(api.url, key, list.file('row'), count)
      const when = `API killed, ${target}`
      if ('fault' in answered) found.lost.push(`${when}: ${answered.fault}`)
      else if (answered.version !== target) found.lost.push(`${when}: ${answered.version} is served`)
      if ('faults' in answered) found.half.push(...answered.faults.map((fault) => `${when}: ${fault}`))
    }
    say(`the API was killed ${apiKills} times, ${whileReading} times while it read`)

    const strays = processesIn(folder).filter((pid) => pid !== api?.pid)
    found.orphans += strays.length
    for (const problem of [...found.lost, ...found.half].slice(0, 15)) say(`WRONG ${problem}`)
    return [
      { name: 'kill-import.kills', value: kills + apiKills, floor: kills + apiKills, is: 'least' },
      { name: 'kill-import.lost', value: found.lost.length, floor: 0, is: 'most' },
      { name: 'kill-import.half', value: found.half.length, floor: 0, is: 'most' },
      { name: 'kill-import.orphans', value: found.orphans, floor: 0, is: 'most' },
      { name: 'kill-import.leftover-drafts', value: found.leftovers, floor: 0, is: 'most' },
      { name: 'kill-import.served-at-last', value: served === undefined ? 0 : 1, floor: 1, is: 'least' },
    ]
  } finally {
    await api?.stop('SIGKILL')
    for (const pid of processesIn(folder)) killNow(pid)
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Look {
  list(): Promise<Overview[]>
  verify(version?: string): Promise<unknown>
}

/** `ostiary datasets list` and `verify`. */
const commands = (settings: Env): Look => ({
  list: () => startOstiary<Overview[]>(settings, 'datasets', 'list').printed,
  verify: (version) =>
    startOstiary(settings, 'datasets', 'verify', DATASET, ...(version ? ['--version', version] : [])).printed,
})

/** Calls the code of these commands directly: a process for each would take most of the drill's time. */
const direct = (settings: Env): Look => ({
  list: () => withDatasets(settings, (datasets) => datasets.list()),
  verify: (version) =>
    withDatasets(settings, (datasets) => datasets.verify({ name: DATASET, tenantId: null }, version)),
})

const importList = (settings: Env, path: string) =>
  ostiary<{ version: string }>(settings, 'datasets', 'import', DATASET, path, '--licence', 'none')

type Answer = { fault: string } | { number: number; version: string; faults: string[] }

async function ask(url: string, key: string, csv: string, versions: number): Promise<Answer> {
  try {
    const response = await postFile(url, key, csv)
    const text = await response.text()
    if (response.status !== 200) return { fault: `${response.status} ${text.slice(0, 200)}` }
    return judge(JSON.parse(text) as ScreenReply, 'row', versions)
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

/** Seconds until a version is served, or undefined when it takes too long. */
async function untilServed(
  url: string,
  key: string,
  list: { file(tag: string): string },
  count: number,
  number: number,
) {
  const started = performance.now()
  while (performance.now() - started < SERVED_WITHIN_MS) {
    const answer = await ask(url, key, list.file('row'), count)
    if ('number' in answer && answer.number === number) return (performance.now() - started) / 1000
    await sleep(50)
  }
  return undefined
}

/** False when the process had already ended. */
function killNow(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** A paused process starts no other between the look at its children and its kill. */
async function pause(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGSTOP')
  } catch {
    return // it has ended
  }
  while (/\) [^TZX]/.test(read(`/proc/${pid}/stat`))) await sleep(1)
}

/** The only child of an import is the process that builds the snapshot. A child that has just been forked has no own name yet. */
function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
}

async function untilChild(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}/stat`) && childrenOf(pid).length === 0) await sleep(2)
}

/** A zombie counts as ended: it has no command line, no memory and no open files. */
async function isGone(pid: number): Promise<boolean> {
  const giveUpAt = Date.now() + GONE_WITHIN_MS
  while (read(`/proc/${pid}/cmdline`) !== '') {
    if (Date.now() > giveUpAt) return false
    await sleep(20)
  }
  return true
}

function filesOf(pid: number | string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`))
  } catch {
    return [] // gone meanwhile
  }
}

/** Waits until a process opens a file; false when it does not within a minute. */
async function untilOpen(pid: number, name: string): Promise<boolean> {
  for (const giveUpAt = Date.now() + SERVED_WITHIN_MS; Date.now() < giveUpAt; ) {
    if (filesOf(pid).some((path) => path.endsWith(name))) return true
    await sleep(1)
  }
  return false
}

/** Processes besides the drill itself that have a file of this drill open. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.filter((pid) => filesOf(pid).some((path) => path.startsWith(folder))).map(Number)
}

function draftsIn(lists: string): string[] {
  const folder = join(lists, DATASET)
  const names = readdirSync(folder).filter((name) => name.endsWith('.tmp'))
  return names.map((name) => join(folder, name))
}

const aged = new Set<string>()
const isAged = (path: string) => aged.has(path)

/** As if hours had passed since the kill. */
function age(path: string): void {
  const then = Date.now() / 1000 - STALE_SECONDS
  utimesSync(path, then, then)
  aged.add(path)
}
