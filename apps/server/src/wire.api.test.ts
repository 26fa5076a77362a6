import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { loadConfig } from './config.ts'
import { createLog } from './platform/log.ts'
import { createTestDatabase, migratedTemplate } from './testing/harness.ts'
import { createWire, type Wire } from './wire.ts'

const ROUNDS = 20

const database = await createTestDatabase(await migratedTemplate())
const lists = temporaryFolder('lists')
after(() => database.drop())

/** What keeps the process alive, by type: sockets, timers, threads and files that are being read. */
function openHandles(): string[] {
  return process.getActiveResourcesInfo().sort()
}

/** Waits for the sockets of a closed pool: they end a moment later, when the database has closed its side. */
async function handlesFallTo(count: number): Promise<void> {
  await eventually(
    () => openHandles().length <= count,
    () => `these handles are still open: ${openHandles().join(', ')}`,
  )
}

/** A wire is the object graph of one process: the platform and all rooms (features) of the server. */
function openWire(logLines: string[]): Wire {
  const config = loadConfig({
    ...TEST_LIMITS,
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    SANCTIONS_DIR: lists,
    SANCTIONS_THREADS: '1',
  })
  return createWire(config, { role: 'test', log: createLog('warn', { write: (line) => void logLines.push(line) }) })
}

/** Starts all background work, that of the API process and that of the worker. */
async function startEverything(wire: Wire): Promise<void> {
  const { platform, sanctions, keys, sessions, biometrics, age, verification, webhooks } = wire
  for (const cell of platform.cells.all()) await sessions.prepare(cell)
  for (const room of [sanctions, keys, sessions, biometrics, age, verification, webhooks]) room.start()
  // Waits until the bundled list is built. `null` stands for the datasets that all tenants share.
  await sanctions.library.list(null)
}

test(`opening, starting and closing a wire ${ROUNDS} times leaves no open handle and logs no warning`, async () => {
  const logLines: string[] = []
  const handlesBefore = openHandles()
  for (let round = 1; round <= ROUNDS; round++) {
    const wire = openWire(logLines)
    await startEverything(wire).finally(wire.close)
    await handlesFallTo(handlesBefore.length)
    assert.deepEqual(openHandles(), handlesBefore, `after round ${round}`)
  }
  assert.deepEqual(logLines, [], 'no warning and no error')
})

test('a wire that was never started can be closed, even twice', async () => {
  const wire = openWire([])
  await wire.close()
  await wire.close()
})

test('a room that fails to close does not keep the database connections open', async () => {
  const wire = openWire([])
  const { cells } = wire.platform
  const { close } = wire.sanctions
  for (const cell of cells.all()) await wire.sessions.prepare(cell)
  wire.sanctions.close = async () => {
    await close()
    throw new Error('this room fails to close')
  }
  await assert.rejects(wire.close(), { name: 'AggregateError', message: 'Not everything could be closed' })
  assert.deepEqual(cells.all()[0]?.db.stats(), { total: 0, idle: 0, waiting: 0 })
})
