import { buildApp } from './app.ts'
import { closeServer, createAdminServer, listen } from './platform/admin-server.ts'
import { closeGently } from './platform/http.ts'
import { exitOnSignals, stopOnSignals } from './platform/shutdown.ts'
import { exitWithReason, startWire } from './start.ts'

await exitWithReason(async () => {
  const startedUp = exitOnSignals()
  const wire = await startWire('api')
  const { config, log, clock, monitor, cells, keyCache, clientCache, library, pool } = wire
  const app = buildApp(wire)
  const admin = createAdminServer(wire.metrics, monitor)

  // In the background: a file for a dataset that is not read yet waits for it.
  pool.start()
  library.start().catch((err) => log.error({ err }, 'datasets cannot be read'))

  await app.listen({ host: config.http.host, port: config.http.port, listenTextResolver: () => 'listening' })
  await listen(admin, config.admin.port, config.admin.host)
  keyCache.start()
  clientCache.start()
  monitor.markStarted()
  log.info({ host: config.http.host, port: config.http.port, version: wire.version }, 'API ready')

  startedUp()
  stopOnSignals(
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
      {
        name: 'database',
        deadlineMs: 3_000,
        run: async () => {
          keyCache.stop()
          clientCache.stop()
          library.stop()
          await pool.stop()
          await cells.close()
        },
      },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )
})
