import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { loadConfig } from './config.ts'
import { createLog } from './platform/log.ts'
import { createTestDatabase, migratedTemplate, type TestDatabase } from './testing/harness.ts'
import { createWire, type Wire } from './wire.ts'

const TIMES = 20
const PATIENCE_MS = 20_000

let database: TestDatabase
let lists: string
before(async () => {
  database = await createTestDatabase(await migratedTemplate())
  lists = mkdtempSync(join(tmpdir(), 'ostiary-lists-'))
})
after(async () => {
  await database.drop()
  rmSync(lists, { recursive: true, force: true })
})

/** Handles that keep a process alive, or could: sockets, timers, threads. Files that are being read count too. */
function openHandles(): string[] {
  return process.getActiveResourcesInfo().sort()
}

/** The sockets of a closed pool end a moment later, when the database has closed its side. */
async function settledHandles(expected: readonly string[]): Promise<string[]> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  while (!patience.aborted && openHandles().length > expected.length) await sleep(5)
  return openHandles()
}

function openWire(lines: string[]): Wire {
  const config = loadConfig({
    ...TEST_LIMITS,
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    SANCTIONS_DIR: lists,
    SANCTIONS_THREADS: '1',
  })
  return createWire(config, { role: 'test', log: createLog('warn', { write: (line) => void lines.push(line) }) })
}

/** Starts everything that the API and the worker start. */
async function startEverything(wire: Wire): Promise<void> {
  const { platform, sanctions, keys, sessions, biometrics, age, verification, webhooks } = wire
  for (const cell of platform.cells.all()) await sessions.prepare(cell)
  for (const room of [sanctions, keys, sessions, biometrics, age, verification, webhooks]) room.start()
  await sanctions.library.list(null)
}

test('a wire that was opened, started and closed 20 times leaves no handle', async () => {
  const lines: string[] = []
  const before = openHandles()
  for (let time = 0; time < TIMES; time++) {
    const wire = openWire(lines)
    await startEverything(wire).finally(wire.close)
    assert.deepEqual(await settledHandles(before), before, `after ${time + 1} times`)
  }
  assert.deepEqual(lines, [], 'and nothing is amiss while it closes')
})

test('a wire that was never started closes too, and may be closed twice', async () => {
  const wire = openWire([])
  await wire.close()
  await wire.close()
})

test('one part that cannot be closed does not keep the others open', async () => {
  const wire = openWire([])
  const { cells } = wire.platform
  const { close } = wire.sanctions
  for (const cell of cells.all()) await wire.sessions.prepare(cell)
  wire.sanctions.close = async () => {
    await close()
    throw new Error('out of order')
  }
  await assert.rejects(wire.close(), { name: 'AggregateError', message: 'Not everything could be closed' })
  assert.deepEqual(cells.all()[0]?.db.stats(), { total: 0, idle: 0, waiting: 0 })
})
