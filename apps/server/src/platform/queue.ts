import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { Cell } from './cells.ts'
import type { Clock } from './clock.ts'
import type { Db } from './db.ts'
import { AppError } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { logFailure } from './reachability.ts'
import type { Tracing } from './tracing.ts'

/** A job that runs by the clock on every cell. Must be safe to run twice: a crash in the middle repeats it. */
export interface ScheduledJob {
  name: string
  /** Cron expression, UTC. */
  cron: string
  /** Returns how many items it processed, for the log. */
  run(db: Db, now: Date): Promise<number>
  /** The rows that it deletes, so that the metrics say how late it is. */
  due?: DueRows
}

/** Rows are due when the time in `column` is over, or has been for `keptMs`. The column has an index, for rows that meet `where`. */
export interface DueRows {
  table: string
  column: string
  where?: string
  keptMs?: number
}

export interface Queue {
  /** Starts the jobs of one cell, unless they run. */
  start(cell: Cell): Promise<void>
  /** Starts no more jobs in a cell. One that runs goes on to its end. */
  leave(cell: Cell): void
  /** Runs a scheduled job now, on every started cell, through the queue. */
  trigger(name: string): Promise<void>
  stop(timeoutMs: number): Promise<void>
}

interface Deps {
  clock: Clock
  log: Log
  metrics: Metrics
  tracing?: Tracing | undefined
}

/**
 * A worker that dies leaves its job marked as running, so that no other worker starts it. The missing heartbeat shows this within
 * half a minute. The limit itself is long, because building a large index takes hours and must not start twice.
 */
const QUEUE = {
  retryLimit: 3,
  retryDelay: 10,
  retryBackoff: true,
  heartbeatSeconds: 10,
  expireInSeconds: 6 * 3600,
  deleteAfterSeconds: 86_400,
} as const

/** Each look of pg-boss is a statement for one of two dozen queues, and no job is due to the second. */
const LOOK_EVERY_SECONDS = 10
/** Jobs here do not wait for each other, but pg-boss looks for such jobs every five seconds. */
const DEPENDENCIES_EVERY_SECONDS = 3600

const LAST_SUCCESSES = `
  select name as task, extract(epoch from max(completed_on))::float8 as at from pgboss.job where state = 'completed' group by name`

const AWAY_LOOK_MS = 200
const AWAY_MAX_MS = 30_000

/**
 * pg-boss in each cell, on the existing pool. For low-rate work only: busy queues use leases in their own
 * tables. No LISTEN/NOTIFY: it serialises commits.
 */
export function createQueue(jobs: readonly ScheduledJob[], deps: Deps): Queue {
  const { clock, log, metrics, tracing } = deps
  const names = new Set(jobs.map(({ name }) => name))
  metrics.jobs.expect([...names])
  /** By the name of the cell. */
  const bosses = new Map<string, Promise<PgBoss>>()
  /** Instances that start no more jobs, until their last one has ended. */
  const leaving = new Set<Promise<void>>()
  const lookers = new Map<string, string>()
  const stopping = new AbortController()

  /** Two workers that start on an empty database both create the queue's tables, and one of them fails because they exist. */
  async function startCell(cell: Cell, triesLeft = 5): Promise<PgBoss> {
    try {
      return await tryToStart(cell)
    } catch (error) {
      if (triesLeft === 0 || !isAlreadyThere(error)) throw error
      await sleep(300)
      return startCell(cell, triesLeft - 1)
    }
  }

  async function tryToStart({ name: cell, db }: Cell): Promise<PgBoss> {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => runForBoss(cell, db, text, values) },
      schema: 'pgboss',
      monitorIntervalSeconds: 10,
      cronWorkerIntervalSeconds: LOOK_EVERY_SECONDS,
      flowIntervalSeconds: DEPENDENCIES_EVERY_SECONDS,
    })
    // pg-boss passes on copies of errors; those of the database are logged where they come from.
    boss.on('error', (err) => {
      if (!('code' in err) || err.code !== 'DEPENDENCY_DOWN') log.error({ err, cell }, 'queue error')
    })
    try {
      await boss.start()
      for (const job of jobs) await startJob(boss, job, cell, db)
      await removeOldSchedules(boss)
      await noteEarlierSuccesses(cell, db)
    } catch (error) {
      // An incompletely started instance would keep running beside the next try.
      await boss.stop({ graceful: false, close: false }).catch(() => {})
      throw error
    }
    return boss
  }

  /** pg-boss polls every queue: while the database is away its statements wait here instead of failing. */
  async function waitUntilUp(db: Db): Promise<void> {
    const deadlineMs = clock.monotonicMs() + AWAY_MAX_MS
    while (!db.isUp() && !stopping.signal.aborted && clock.monotonicMs() < deadlineMs) {
      await sleep(AWAY_LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  async function runForBoss(cell: string, db: Db, text: string, values?: unknown[]) {
    await waitUntilUp(db)
    try {
      return await db.script(text, values)
    } catch (err) {
      if (err instanceof AppError) logFailure(log, 'error', { err, cell }, 'queue error')
      throw err
    }
  }

  async function startJob(boss: PgBoss, job: ScheduledJob, cell: string, db: Db): Promise<void> {
    await boss.createQueue(job.name, { policy: 'exclusive', ...QUEUE })
    // Otherwise a queue that an older release created keeps its settings.
    await boss.updateQueue(job.name, QUEUE)
    const looker = await boss.work(job.name, { pollingIntervalSeconds: LOOK_EVERY_SECONDS }, () =>
      runOnce(job, cell, db),
    )
    lookers.set(`${cell} ${job.name}`, looker)
    // A job that came due while no worker ran is run once.
    await boss.schedule(job.name, job.cron, null, { tz: 'UTC', missed: 'once' })
  }

  /** A job that this release renamed or dropped keeps its schedule in the database, and would fill a queue that nobody reads. */
  async function removeOldSchedules(boss: PgBoss): Promise<void> {
    const old = (await boss.getSchedules()).filter(({ name }) => !names.has(name))
    for (const { name } of old) await boss.unschedule(name)
  }

  /** A task that runs once an hour has a last success before this worker’s first run. The queue remembers a day; without one, now counts. */
  async function noteEarlierSuccesses(cell: string, db: Db): Promise<void> {
    const { rows } = await db.script(LAST_SUCCESSES)
    const known = new Map(rows.map(({ task, at }) => [task, at]))
    for (const task of names) metrics.taskSuccess.set({ task, cell }, known.get(task) ?? clock.now().getTime() / 1000)
  }

  async function runOnce(job: ScheduledJob, cell: string, db: Db): Promise<void> {
    const started = clock.monotonicMs()
    const span = tracing?.start({ name: job.name, kind: 'internal' })
    const endSpan = (isError: boolean) => span?.end({ attributes: { 'ostiary.cell': cell }, isError })
    try {
      const count = await job.run(db, clock.now())
      endSpan(false)
      metrics.jobs.count(job.name, 'done')
      metrics.taskSuccess.set({ task: job.name, cell }, clock.now().getTime() / 1000)
      log.info({ job: job.name, cell, count, durationMs: Math.round(clock.monotonicMs() - started) }, 'job done')
    } catch (err) {
      endSpan(true)
      metrics.jobs.count(job.name, 'failed')
      logFailure(log, 'error', { job: job.name, cell, err }, 'job failed')
      // pg-boss would store the text of the error with the job; a text may quote user data.
      throw new Error('failed, see the log')
    }
  }

  return {
    async start(cell) {
      const known = bosses.get(cell.name)
      if (known) return void (await known)
      const starting = startCell(cell)
      bosses.set(cell.name, starting)
      starting.catch(() => {
        // The cell may have been left and taken again since.
        if (bosses.get(cell.name) === starting) bosses.delete(cell.name)
      })
      await starting
    },
    leave(cell) {
      const boss = bosses.get(cell.name)
      if (!boss) return
      bosses.delete(cell.name)
      const ending = boss
        .then((one) => one.stop({ graceful: true, close: false, timeout: QUEUE.expireInSeconds * 1000 }))
        .catch((err: unknown) => logFailure(log, 'warn', { err, cell: cell.name }, 'jobs could not be stopped'))
        .finally(() => leaving.delete(ending))
      leaving.add(ending)
    },
    async trigger(name) {
      for (const [cell, starting] of bosses) {
        const boss = await starting
        await boss.send(name)
        const looker = lookers.get(`${cell} ${name}`)
        if (looker) boss.notifyWorker(looker)
      }
    },
    async stop(timeoutMs) {
      stopping.abort()
      const ended = Promise.all([
        ...leaving,
        ...[...bosses.values()].map(async (starting) => {
          const boss = await starting.catch(() => undefined)
          await boss?.stop({ graceful: true, close: false, timeout: timeoutMs })
        }),
      ])
      // A job of a cell that this worker left may take hours.
      if (leaving.size > 0) await Promise.race([ended, sleep(timeoutMs)])
      else await ended
    },
  }
}

/** Unique violation, or an object that exists: schema, table, index, type, function. */
const ALREADY_THERE = new Set(['23505', '42P06', '42P07', '42710', '42723'])

function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ALREADY_THERE.has(String(error.code))
}
