import type { Shutdown } from '@ostiary/service-kit/shutdown'
import { listJobs } from './jobs.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import type { Cell } from './platform/cells.ts'
import { createQueue } from './platform/queue.ts'
import { logFailure } from './platform/reachability.ts'
import { watchTasks } from './platform/task-watch.ts'
import { exitWithReason, onEachCell, prepareCells, readWire } from './start.ts'

const RETRY_MS = 10_000

/** The process of the worker: runs until a signal ends it. */
export const runWorker = (shutdown: Shutdown) => exitWithReason(() => start(shutdown), shutdown)

async function start(shutdown: Shutdown): Promise<void> {
  const wire = await readWire('worker')
  const { config } = wire
  const { log, clock, monitor, metrics, version, leases, cells } = wire.platform
  const jobs = listJobs(wire)
  const queue = createQueue(jobs, wire.platform)
  const admin = createAdminServer({ metrics, monitor, hostNames: config.admin.hostNames })
  // It says that the process starts, for as long as that waits for a database.
  await listen(admin, config.admin.workerPort, config.admin.host)
  await prepareCells(wire)

  // Before the first job runs, so that a signal cannot interrupt a job.
  shutdown.afterStart(
    [
      {
        name: 'jobs',
        deadlineMs: config.shutdown.timeoutMs,
        run: async () => {
          monitor.markStopping()
          const startedMs = clock.monotonicMs()
          // First, so that other workers serve the cells when this one stops.
          await leases.leave(config.shutdown.timeoutMs / 4)
          const timeoutMs = config.shutdown.timeoutMs - 100 - (clock.monotonicMs() - startedMs)
          await Promise.all([queue.stop(timeoutMs), wire.stop(timeoutMs)])
        },
      },
      { name: 'database', deadlineMs: 3_000, run: () => wire.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )

  /** Jobs run in the cells that this worker serves. */
  function followDuty(cell: Cell): void {
    if (!leases.of(cell).isOn()) queue.leave(cell)
    else
      queue.start(cell).catch((err) => {
        logFailure(log, 'error', { err, cell: cell.name }, 'jobs could not be started')
        setTimeout(() => followDuty(cell), RETRY_MS).unref()
      })
  }

  await leases.start()
  monitor.report('clock', async () => leases.findClockFault(), 'readiness')
  watchTasks(wire.platform, jobs)
  await onEachCell(wire, async (cell) => {
    await wire.sessions.prepare(cell)
    await wire.webhooks.prepare(cell)
    if (leases.of(cell).isOn()) await queue.start(cell)
  })
  leases.follow(followDuty)
  // What changed meanwhile.
  for (const cell of cells.all()) followDuty(cell)
  const { keys, sessions, biometrics, matcher, age, verification, webhooks } = wire
  for (const room of [keys, sessions, biometrics, matcher, age, verification, webhooks]) room.start()
  monitor.markStarted()
  log.info({ port: config.admin.workerPort, version, count: jobs.length }, 'worker ready')
}
