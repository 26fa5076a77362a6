import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLog } from '../../platform/log.ts'
import { createPool } from '../engine/pool.ts'
import { createLibrary } from './library.ts'
import { peopleCsv, setUp } from './testing/lists.ts'

test('a failed first check is reported, and the next one finds the list in service', { timeout: 60_000 }, async (t) => {
  const { importer, files, clock, write } = setUp()
  await importer.importList({ dataset: { name: 'staff', tenantId: null }, paths: [write('a.csv', peopleCsv(5))] })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let looks = 0
  const flaky = {
    ...files,
    async names(tenantId: string | null) {
      if (++looks === 1) throw new Error('the disk is away')
      return files.names(tenantId)
    },
  }
  const logged = new PassThrough()
  const log = createLog('info', logged)
  const library = createLibrary({
    files: flaky,
    pool: createPool(1, clock),
    clock,
    log,
    prepare: async () => undefined,
  })
  t.after(library.stop)

  await assert.rejects(library.start(), /the disk is away/)
  t.mock.timers.tick(2_000)
  await setImmediate()
  assert.equal(looks, 2)
  const [line] = await once(logged, 'data')
  assert.match(String(line), /"detail":"staff".*"dataset read"/)
})
