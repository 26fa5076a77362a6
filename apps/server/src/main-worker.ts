import { SWEEPERS } from './age/index.ts'
import { listJobs } from './jobs.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import { createSweeper } from './platform/sweeper.ts'
import { createQueue } from './platform/queue.ts'
import { exitOnSignals, stopOnSignals } from './platform/shutdown.ts'
import { prepareSessionPartitions } from './sessions/index.ts'
import { onEachCell, exitWithReason, startWire } from './start.ts'
import { arrangeWebhookPartitions } from './webhooks/index.ts'

await exitWithReason(async () => {
  const startedUp = exitOnSignals()
  const wire = await startWire('worker')
  const { config, log, clock, monitor, cells, ending, verificationEnding, dispatcher, webhookOutbound } = wire
  const jobs = listJobs(wire)
  const queue = createQueue(jobs, wire)
  const admin = createAdminServer(wire.metrics, monitor)

  await onEachCell(wire, async (cell) => {
    await prepareSessionPartitions(cell.db, clock.now(), log)
    await arrangeWebhookPartitions(cell.db, clock.now(), log)
    await queue.start(cell)
  })
  const sweepers = cells
    .all()
    .flatMap(({ name, db }) =>
      [ending, verificationEnding].flatMap(({ expireDue }) =>
        Array.from({ length: SWEEPERS }, () => createSweeper({ cell: name, run: () => expireDue(db), log })),
      ),
    )
  for (const sweeper of sweepers) sweeper.start()
  dispatcher.start()
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
          await Promise.all([
            queue.stop(config.shutdown.timeoutMs - 100),
            dispatcher.stop(config.shutdown.timeoutMs - 100),
            ...sweepers.map((sweeper) => sweeper.stop()),
          ])
          webhookOutbound.close()
        },
      },
      { name: 'database', deadlineMs: 3_000, run: () => cells.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )
})
