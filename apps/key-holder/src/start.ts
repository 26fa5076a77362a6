import { VERSION } from '@ostiary/contract'
import { ConfigError } from '@ostiary/service-kit/settings'
import { handleSignals } from '@ostiary/service-kit/shutdown'
import { closeServer, createAdminServer, listen, type Phase } from './admin-server.ts'
import { closeGently } from './app.ts'
import { loadConfig } from './config.ts'
import { createMetrics } from './metrics.ts'
import { systemClock } from './platform/clock.ts'
import { createDb, UnavailableError } from './platform/db.ts'
import { createLog } from './platform/log.ts'
import { startPurging } from './purge.ts'
import { reseal } from './reseal.ts'
import { createWire, openStore, type Store, type StoreParts } from './wire.ts'

const USAGE = `Usage: node apps/key-holder/src/main.ts [command]

  (none)   serves until a signal ends it
  keys     prints the public keys and the fingerprint, for the operator of the server. Makes them if there are none
  reseal   seals with the first master key what another one sealed
`

/** Runs a command. When it fails, writes the reason to standard error and ends the process with code 1. */
export async function run(args: readonly string[]): Promise<void> {
  const [command = 'serve', ...rest] = args
  const commands: Record<string, () => Promise<void>> = { serve, keys: printKeys, reseal: resealAll }
  const work = rest.length === 0 && Object.hasOwn(commands, command) ? commands[command] : undefined
  if (!work) return fail(USAGE, 2)
  await work().catch((error: unknown) => fail(`${explain(error)}\n`, 1))
}

async function serve(): Promise<void> {
  const shutdown = handleSignals()
  const config = loadConfig(process.env)
  const log = createLog(config.logLevel)
  const clock = systemClock
  const db = createDb(config.database, log)
  const metrics = createMetrics(db)
  let phase: Phase = 'starting'
  const admin = createAdminServer({ db, metrics, phase: () => phase, hostNames: config.admin.hostNames })
  // It says that the process starts, for as long as that waits for the database.
  await listen(admin, config.admin)
  const store = await waitForStore({ config, clock, log, db })
  const { app, keys, stopThreads } = await createWire({ config, clock, log, store, metrics })
  const stopPurging = startPurging({ db, clock, log, metrics })
  const { drainMs, timeoutMs } = config.shutdown

  // Before the first request is accepted, so that a signal cannot interrupt one.
  shutdown.afterStart(
    [
      {
        name: 'drain',
        deadlineMs: drainMs + 1_000,
        run: () => {
          phase = 'stopping'
          return clock.sleep(drainMs)
        },
      },
      { name: 'requests', deadlineMs: timeoutMs, run: () => closeGently(app) },
      { name: 'threads', deadlineMs: 1_000, run: stopThreads },
      { name: 'purge', deadlineMs: 3_000, run: stopPurging },
      { name: 'database', deadlineMs: 3_000, run: () => db.close() },
      { name: 'admin', deadlineMs: 1_000, run: () => closeServer(admin) },
    ],
    log,
    clock,
  )
  await app.listen({ ...config.http, listenTextResolver: () => 'listening' })
  phase = 'running'
  const { fingerprint } = keys.published
  log.info({ ...config.http, version: VERSION, fingerprint }, 'key holder ready')
}

/** A process that starts while its database is away, or refuses the login, waits for it. */
async function waitForStore(parts: StoreParts): Promise<Store> {
  for (let tries = 0; ; tries++) {
    try {
      return await openStore(parts)
    } catch (err) {
      if (!(err instanceof UnavailableError)) throw err
      if (tries === 0) parts.log.error({ err }, 'the database cannot be used yet: the process waits for it')
      await parts.clock.sleep(RETRY_MS)
    }
  }
}
const RETRY_MS = 1_000

async function printKeys(): Promise<void> {
  const store = await openStore(quietly())
  process.stdout.write(`${JSON.stringify(store.keys.published, null, 2)}\n`)
  await store.db.close()
}

async function resealAll(): Promise<void> {
  const { db, vault } = await openStore(quietly())
  const { resealed, unreadable } = await reseal(db, vault)
  await db.close()
  process.stdout.write(`Resealed ${resealed} values with the master key ${vault.currentKeyId}\n`)
  if (unreadable > 0) fail(`${unreadable} key shares do not open and were left as they are\n`, 1)
}

const quietly = () => ({
  config: loadConfig(process.env, undefined, { needsCallers: false }),
  clock: systemClock,
  log: createLog('fatal'),
})

/** Ends the process even if a server or a pool is open. */
function fail(text: string, exitCode: number): never {
  process.stderr.write(text)
  process.exit(exitCode)
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return 'Start failed'
  const cause =
    error.cause instanceof Error ? ` (${(error.cause as NodeJS.ErrnoException).code ?? error.cause.message})` : ''
  return `Failed: ${error.message}${cause}`
}
