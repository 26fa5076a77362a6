import { listJobs } from './jobs.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import { createQueue } from './platform/queue.ts'
import type { Shutdown } from './platform/shutdown.ts'
import { exitWithReason, onEachCell, startWire } from './start.ts'

/** The process of the worker: runs until a signal ends it. */
export const runWorker = (shutdown: Shutdown) => exitWithReason(() => start(shutdown), shutdown)

async function start(shutdown: Shutdown): Promise<void> {
  const wire = await startWire('worker')
  const { config } = wire
  const { log, clock, monitor, metrics, version } = wire.platform
  const jobs = listJobs(wire)
  const queue = createQueue(jobs, wire.platform)
  const admin = createAdminServer({ metrics, monitor })

  // Before the first job runs, so that a signal cannot interrupt a job.
  shutdown.afterStart(
    [
      {
        name: 'jobs',
        deadlineMs: config.shutdown.timeoutMs,
        run: async () => {
          monitor.markStopping()
          const timeoutMs = config.shutdown.timeoutMs - 100
          await Promise.all([queue.stop(timeoutMs), wire.stop(timeoutMs)])
        },
      },
      { name: 'database', deadlineMs: 3_000, run: () => wire.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )

  await onEachCell(wire, async (cell) => {
    await wire.sessions.prepare(cell)
    await wire.webhooks.prepare(cell)
    await queue.start(cell)
  })
  const { keys, sessions, biometrics, matcher, age, verification, webhooks } = wire
  for (const room of [keys, sessions, biometrics, matcher, age, verification, webhooks]) room.start()
  await listen(admin, config.admin.workerPort, config.admin.host)
  monitor.markStarted()
  log.info({ port: config.admin.workerPort, version, count: jobs.length }, 'worker ready')
}
