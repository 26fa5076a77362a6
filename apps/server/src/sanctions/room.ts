import type { FastifyInstance } from 'fastify'
import type { KeysRoom } from '../keys/index.ts'
import type { Db } from '../platform/db.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { SettingsRoom } from '../settings/index.ts'
import { ensureDemo } from './datasets/demo.ts'
import { createDatasetFiles } from './datasets/files.ts'
import { createImporter } from './datasets/import.ts'
import { createLibrary } from './datasets/library.ts'
import { createRefresher } from './datasets/refresh.ts'
import { createPool } from './engine/pool.ts'
import { createExceptionService, KEPT_AFTER_END_MS, purgeOldExceptions } from './exceptions.ts'
import { exceptionRoutes } from './exceptions-routes.ts'
import { createSanctionsMetrics, watchLists } from './metrics.ts'
import { sanctionsRoutes } from './routes.ts'
import { createRunService } from './runs.ts'
import { runRoutes } from './runs-routes.ts'
import { createSanctionsService } from './service.ts'

interface Deps {
  keys: KeysRoom
  settings: SettingsRoom
  sessions: SessionsRoom
  dir: string
  keepVersions: number
  threads: number
  fileSeconds: number
  sourcesFile: string | null
}

/** Area B. */
export function createSanctionsRoom(platform: Platform, { keys: { guard }, settings, sessions, ...config }: Deps) {
  const { clock, log, cells, metrics, monitor } = platform
  const files = createDatasetFiles(config.dir)
  const exceptions = createExceptionService(platform)
  const { hasherFor } = sessions.service
  const runs = createRunService({ ...platform, settings: settings.service, hasherFor })
  const pool = createPool(config.threads, clock, { fileCpuMs: config.fileSeconds * 1000 })
  const library = createLibrary({ files, pool, clock, log, prepare: () => ensureDemo(files, platform) })
  const importer = createImporter({ ...platform, files, keepVersions: config.keepVersions })
  const refresher = createRefresher({ ...platform, ...config, files, importer })
  watchLists(metrics, library, clock)
  monitor.warn('lists', async () => (await library.freshness()).some(({ isStale }) => isStale))
  const service = createSanctionsService({
    ...{ library, pool, exceptions, runs, threads: config.threads },
    processorTimeOf: platform.processorTimeOf,
    metrics: createSanctionsMetrics(metrics),
  })
  return {
    service,
    exceptions,
    runs,
    library,
    async routes(app: FastifyInstance) {
      app.register(sanctionsRoutes, { sanctions: service, guard })
      app.register(exceptionRoutes, { exceptions, guard, metrics })
      app.register(runRoutes, { runs, guard })
    },
    jobs: [
      {
        name: 'purge-old-exceptions',
        cron: '*/5 * * * *',
        run: purgeOldExceptions,
        due: { table: 'sanction_exceptions', column: 'expires_at', keptMs: KEPT_AFTER_END_MS },
      },
      // How long runs are kept is a setting of each tenant, so no index says which are late. A tenant's failure fails the task.
      { name: 'purge-screening-runs', cron: '27 * * * *', run: runs.purge },
      {
        name: 'refresh-datasets',
        cron: '*/5 * * * *',
        // The lists are files that all cells share: one cell's turn is enough.
        run: async (db: Db, now: Date) => (db === cells.all()[0]?.db ? refresher.run(now) : 0),
      },
    ],
    retention: [
      {
        table: 'sanction_exceptions',
        key: 'tenant_id, livemode, id',
        growsWith: 'reviews of area B',
        after: 'a year after they end',
        by: 'purge-old-exceptions',
      },
      {
        table: 'screening_runs',
        key: 'tenant_id, livemode, run_id',
        growsWith: 'runs that tenants keep',
        after: 'as long as the tenant sets (`screeningRunDays`, none unless set); an open run a day',
        by: 'purge-screening-runs',
      },
      {
        table: 'screening_hits',
        key: 'tenant_id, livemode, run_id, row_key, entity_key',
        growsWith: 'hits of these runs',
        after: 'with the run',
        by: 'purge-screening-runs',
      },
    ],
    /** Reads the lists in the background: a file for a dataset that is not read yet waits for it. */
    start() {
      pool.start()
      library.start().catch((err) => log.error({ err }, 'datasets cannot be read'))
    },
    async close() {
      await library.stop()
      await pool.stop()
    },
  } satisfies Room & Record<string, unknown>
}
