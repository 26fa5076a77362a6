import type { Shutdown } from '@ostiary/service-kit/shutdown'
import { buildApp } from './app.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import { reportMissingWorkers } from './platform/cell-state.ts'
import { closeGently } from './platform/http.ts'
import { createReferencePages } from './platform/reference.ts'
import { exitWithReason, prepareCells, readWire } from './start.ts'

/** The process of the API: serves until a signal ends it. */
export const runApi = (shutdown: Shutdown) => exitWithReason(() => start(shutdown), shutdown)

async function start(shutdown: Shutdown): Promise<void> {
  const wire = await readWire('api')
  const { config } = wire
  const { log, clock, monitor, metrics, version } = wire.platform
  const app = buildApp(wire)
  const pages = createReferencePages({ version, publicUrl: config.publicUrl })
  const admin = createAdminServer({ metrics, monitor, pages, hostNames: config.admin.hostNames })
  // It says that the process starts, for as long as that waits for a database.
  await listen(admin, config.admin.port, config.admin.host)
  await prepareCells(wire)

  // Before the first request is accepted, so that a signal cannot interrupt a request.
  shutdown.afterStart(
    [
      {
        name: 'drain',
        deadlineMs: config.shutdown.drainMs + 1_000,
        run: async () => {
          monitor.markStopping()
          await new Promise((resolve) => setTimeout(resolve, config.shutdown.drainMs))
        },
      },
      { name: 'requests', deadlineMs: config.shutdown.timeoutMs, run: () => closeGently(app) },
      { name: 'connections', deadlineMs: 1_000, run: async () => app.server.closeAllConnections() },
      { name: 'database', deadlineMs: 3_000, run: () => wire.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )

  await wire.keys.hostMap.start()
  await wire.launch.load()
  wire.sanctions.start()
  reportMissingWorkers(wire.platform, wire.platform.cellStates)
  await app.listen({ host: config.http.host, port: config.http.port, listenTextResolver: () => 'listening' })
  wire.keys.start()
  monitor.markStarted()
  log.info({ host: config.http.host, port: config.http.port, version }, 'API ready')
}
