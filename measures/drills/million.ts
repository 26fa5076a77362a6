/**
 * `npm run drill -- nothing-lost --million`: a million webhook events through a hundred kills (-9) of workers, API and PostgreSQL, spread over
 * the whole run and over every step of a session. It takes hours, in pieces: everything that counts is in a folder, a piece ends after
 * `--minutes`, and the next call goes on. Also when the piece itself was killed.
 *
 *   --minutes 30       how long this piece makes sessions; the last one also waits for their events
 *   --dir DIR          the run's folder; without it .reports/million
 *   --events, --kills  of a new run; without them 1,000,000 and 100
 *   --wipe             removes the run and its database
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { stopServices } from '@ostiary/testkit/run'
import { createMoments } from './kill-moments.ts'
import { type Answers, askApi, drain, openBooks } from './million-check.ts'
import { type Journal, killLines, openJournal, pieceLines } from './million-journal.ts'
import { createKiller } from './million-kills.ts'
import type { Ledger } from './million-ledger.ts'
import { type LoadReport, playSlots } from './million-load.ts'
import { KINDS, killAt, type Step, slotsFor } from './million-plan.ts'
import {
  clusterOf,
  createSite,
  DEFAULT_DIR,
  endLeftovers,
  findSite,
  type Running,
  type Site,
  startCluster,
  startSite,
} from './million-site.ts'
import { isDurable } from './postgres-kill.ts'

const PROGRESS_MS = 60_000

interface Options {
  dir: string
  minutes: number
  wipe: boolean
  events: number | undefined
  kills: number | undefined
}

function readOptions(): Options {
  const { values } = parseArgs({
    args: process.argv.slice(4),
    options: {
      million: { type: 'boolean' },
      minutes: { type: 'string', default: '30' },
      dir: { type: 'string', default: DEFAULT_DIR },
      events: { type: 'string' },
      kills: { type: 'string' },
      wipe: { type: 'boolean', default: false },
    },
  })
  const count = (text: string | undefined, name: string) => {
    const number = Number(text)
    if (text !== undefined && !(Number.isInteger(number) && number > 0)) throw new Error(`--${name} needs a number`)
    return text === undefined ? undefined : number
  }
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error('--minutes needs a number')
  const { events, kills, wipe } = values
  return { dir: resolve(values.dir), minutes, wipe, events: count(events, 'events'), kills: count(kills, 'kills') }
}

export async function runMillion(say: (text: string) => void): Promise<Figure[]> {
  const options = readOptions()
  const { dir } = options
  mkdirSync(dir, { recursive: true })
  const unlock = lock(dir)
  try {
    if (options.wipe) {
      wipe(dir)
      say('skipped: the run and its database are removed')
      return []
    }
    const finished = join(dir, 'figures.json')
    if (existsSync(finished)) {
      say(`this run has ended; ${dir} has its records, --wipe removes it`)
      return JSON.parse(readFileSync(finished, 'utf8')) as Figure[]
    }
    const figures = await playPiece(options, say)
    if (figures.length > 0) writeFileSync(finished, JSON.stringify(figures))
    return figures
  } finally {
    unlock()
  }
}

function wipe(dir: string): void {
  endLeftovers(dir)
  stopServices(clusterOf(dir), 'wipe')
  rmSync(dir, { recursive: true })
}

/** One piece at a time. A killed one leaves its lock, which is worth nothing then. */
function lock(dir: string): () => void {
  const file = join(dir, 'lock')
  const [holder = '', started = ''] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : []
  if (holder !== '' && startOf(holder) === started) throw new Error(`Process ${holder} is at work in ${dir}`)
  writeFileSync(file, `${process.pid} ${startOf(process.pid)}`)
  return () => rmSync(file, { force: true })
}

/** When a process started, in ticks since the machine did: a number alone may belong to another process by now. */
function startOf(pid: number | string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19]
  } catch {
    return undefined
  }
}

/** Returns no figures while there is more to do. */
async function playPiece({ dir, minutes, ...wanted }: Options, say: (text: string) => void): Promise<Figure[]> {
  // The time of a piece begins with its load: starting must not use it up.
  let endsAt = Number.POSITIVE_INFINITY
  let isStopped = false
  const onSignal = () => {
    isStopped = true
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  const isOver = () => isStopped || performance.now() > endsAt
  const ended = endLeftovers(dir)
  if (ended > 0) say(`ended ${ended} processes of a piece that was killed`)
  const databaseUrl = startCluster(dir)
  let running: Running | undefined
  try {
    const site =
      findSite(dir) ??
      (await createSite(dir, databaseUrl, { events: wanted.events ?? 1e6, kills: wanted.kills ?? 100 }))
    if ((wanted.events ?? site.events) !== site.events || (wanted.kills ?? site.kills) !== site.kills)
      throw new Error(`This run has ${site.events} events and ${site.kills} kills; --wipe removes it`)
    running = await startSite({ dir, site, databaseUrl, isStopped: () => isStopped })
    endsAt = performance.now() + minutes * 60_000
    const piece = { dir, site, running, say, isOver, isStopped: () => isStopped }
    if (!(await load(piece))) return []
    const books = openBooks(dir, slotsFor(site.events))
    if (!(await drain(dir, books, piece))) {
      say('skipped: stopped; the same command goes on waiting for events')
      return []
    }
    say('everything has arrived; comparing with the log and the results')
    const answers = await askApi(site, running, books)
    for (const slot of books.ledger.examples(5)) say(`slot ${slot} is lost`)
    return figuresOf({ ...piece, ledger: books.ledger, answers, isDurable: await isDurable(databaseUrl) })
  } finally {
    await running?.stop()
    stopServices(clusterOf(dir))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
  }
}

interface PieceOfRun {
  dir: string
  site: Site
  running: Running
  say(text: string): void
  isOver(): boolean
}

/** Returns whether everything is acknowledged and every kill was made. */
async function load(piece: PieceOfRun): Promise<boolean> {
  const { dir, site, running, say, isOver } = piece
  const journal = await openJournal(dir, slotsFor(site.events))
  const moments = createMoments<Step>()
  const made = killLines(dir)
  const killer = createKiller({ site, running, made, moments, say, events: journal.events })
  const before = journal.events()
  const startedMs = performance.now()
  const progress = setInterval(() => say(`${journal.events()} events acknowledged`), PROGRESS_MS)
  say(`${before} of ${site.events} events are acknowledged, ${made.read().length} processes were killed`)
  try {
    const report = await playSlots({ site, running, journal, moments, say, isOver, pass: killer.pass })
    await killer.settle()
    note(piece, journal, { before, startedMs, report })
  } finally {
    clearInterval(progress)
    await journal.close()
  }
  if (journal.isComplete() && killer.isComplete()) return true
  say(`skipped: this piece is over at ${journal.events()} of ${site.events} events; the same command goes on`)
  return false
}

function note(
  { dir, running, say }: PieceOfRun,
  journal: Journal,
  { before, startedMs, report }: { before: number; startedMs: number; report: LoadReport },
): void {
  const seconds = (performance.now() - startedMs) / 1000
  const events = journal.events() - before
  if (events === 0) return
  pieceLines(dir).append({ seconds, events, ...report, died: running.died })
  say(
    `${events} events acknowledged in ${seconds.toFixed(0)} s, ${(events / seconds).toFixed(1)} per second, ${running.taken()} taken so far; ` +
      `${report.failures} calls failed and were repeated, ${report.deviceFallbacks} devices gave up`,
  )
}

interface Result extends PieceOfRun {
  ledger: Ledger
  answers: Answers
  isDurable: boolean
}

function figuresOf({ dir, site, ledger, answers, isDurable, say }: Result): Figure[] {
  const made = killLines(dir).read()
  const pieces = pieceLines(dir).read()
  const kills = made.filter(({ kind }) => kind !== 'receivers')
  const balance = ledger.balance()
  const plan = Array.from({ length: site.kills }, (_, number) => killAt(number, site)?.kind)
  const total = (read: (piece: (typeof pieces)[number]) => number) =>
    pieces.reduce((sum, piece) => sum + read(piece), 0)
  const rate = total(({ events }) => events) / total(({ seconds }) => seconds)
  say(
    `${pieces.length} pieces that ended in order, ${rate.toFixed(1)} events per second; ${balance.repeats} events came once more`,
  )
  say(
    `${kills.filter(({ isMet }) => isMet).length} of ${kills.length} kills met their step; receivers died ${made.length - kills.length} times`,
  )
  const least = (name: string, value: number, floor: number): Figure => ({
    name: PREFIX + name,
    value,
    floor,
    is: 'least',
  })
  const none = (name: string, value: number): Figure => ({ name: PREFIX + name, value, floor: 0, is: 'most' })
  return [
    least('events', ledger.acknowledged(), site.events),
    least('kills', kills.length, site.kills),
    ...KINDS.map((kind) =>
      least(
        `${kind}-kills`,
        kills.filter((one) => one.kind === kind).length,
        plan.filter((one) => one === kind).length,
      ),
    ),
    none('lost', balance.lost),
    none('doubled', balance.doubled),
    none('ids-that-changed', balance.changedIds),
    none('endings-that-changed', balance.changedEndings),
    none('wrong-signatures', balance.wrongSignatures),
    none('wrong-receivers', balance.misplaced),
    none('unknown-sessions', balance.strangers),
    none('refused-calls', balance.refused),
    none('not-in-log', balance.notInLog),
    none('results-that-differ', answers.changedResults),
    least('silent-sessions', answers.silent, slotsFor(site.events) - site.events),
    none('left-open', answers.leftOpen + answers.overdue),
    none(
      'processes-that-died',
      total(({ died }) => died.length),
    ),
    least('fsync', Number(isDurable), 1),
  ]
}
const PREFIX = 'nothing-lost.million.'
