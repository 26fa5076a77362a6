import { listJobs } from './jobs.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import { createQueue } from './platform/queue.ts'
import { exitOnSignals, stopOnSignals } from './platform/shutdown.ts'
import { onEachCell, orExplain, startWire } from './start.ts'

await orExplain(async () => {
  const startedUp = exitOnSignals()
  const wire = await startWire('worker')
  const { config, log, clock, monitor, cells } = wire
  const jobs = listJobs(wire)
  const queue = createQueue(jobs, wire)
  const admin = createAdminServer(wire.metrics, monitor)

  await onEachCell(wire, (cell) => queue.start(cell))
  await listen(admin, config.admin.workerPort, config.admin.host)
  monitor.markStarted()
  log.info({ port: config.admin.workerPort, version: wire.version, count: jobs.length }, 'worker ready')

  startedUp()
  stopOnSignals(
    [
      {
        name: 'jobs',
        deadlineMs: config.shutdown.timeoutMs,
        run: async () => {
          monitor.markStopping()
          await queue.stop(config.shutdown.timeoutMs - 100)
        },
      },
      { name: 'database', deadlineMs: 3_000, run: () => cells.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )
})
