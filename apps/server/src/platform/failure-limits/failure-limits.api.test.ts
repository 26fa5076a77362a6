import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FAILURE_LIMITS } from '@ostiary/contract'
import { type DatabaseProxy, startDatabaseProxy } from '../../testing/database-proxy.ts'
import { createHarness } from '../../testing/harness.ts'
import { createMetrics } from '../metrics.ts'
import { networksOf } from '../networks.ts'
import { createRateLimiter } from '../rate-limit.ts'
import { createFailureLimits, type Failure, purgeFailureLimits } from './index.ts'

let proxy: DatabaseProxy
const harness = await createHarness(
  {},
  {
    async through(url) {
      proxy = await startDatabaseProxy(url)
      return proxy.url
    },
  },
)
after(() => proxy.close())

/** What another process with the same database and master key has. */
function startProcess() {
  const { cells, clock, log } = harness.wire.platform
  const metrics = createMetrics('0', { processMetrics: false })
  const tables = { limiter: createRateLimiter(), addressLimiter: createRateLimiter() }
  const limits = createFailureLimits({ cells, clock, log, metrics, ...tables, masterKey: MASTER_KEY })
  return { ...limits, metrics: () => metrics.text() }
}
const MASTER_KEY = Buffer.from('a master key of thirty-two bytes')

let networks = 0
/** Of a /48 that no other test uses. */
const newNetwork = () => {
  networks++
  return (subnet: number) => `2001:db8:${networks.toString(16)}:${subnet.toString(16)}::1`
}
const guessFrom = (address: string): Failure => ({ limit: 'unknown-keys', against: networksOf(address) })
const { perSecond, burstSeconds } = FAILURE_LIMITS['unknown-keys']
const ALLOWANCE = perSecond * burstSeconds

const rows = async () =>
  (await harness.database.query('select * from failure_limits order by tenant_id, limit_name, subject')).rows

test('one address has its allowance over two processes, and no more', async () => {
  const processes = [startProcess(), startProcess()]
  const address = newNetwork()(1)
  let within = 0
  for (let n = 0; n < ALLOWANCE * 2; n++) if ((await processes[n % 2]?.count(guessFrom(address))) === 0) within++
  assert.equal(within, ALLOWANCE)
  for (const process of processes) assert.equal(process.wait(guessFrom(address)), 1)
  harness.clock.advance(1_000)
  for (const process of processes)
    assert.equal(await process.count(guessFrom(address)), 0, 'one more each: two a second')
  for (const process of processes) assert.equal(await process.count(guessFrom(address)), 1)
})

test('a whole /48 has 1.2 times of it over two processes, also when everything comes at once', async () => {
  const processes = [startProcess(), startProcess()]
  const address = newNetwork()
  const verdicts = await Promise.all(
    Array.from({ length: 400 }, (_, n) => processes[n % 2]?.count(guessFrom(address(n * 256)))),
  )
  assert.equal(verdicts.filter((seconds) => seconds === 0).length, ALLOWANCE * 1.2)
})

test('a network that has used up its allowance is refused without the database', async () => {
  const limits = startProcess()
  const address = newNetwork()(1)
  for (let n = 0; n < ALLOWANCE; n++) assert.equal(await limits.count(guessFrom(address)), 0)
  const before = await rows()
  for (let n = 0; n < 100; n++) assert.equal(await limits.count(guessFrom(address)), 1)
  assert.deepEqual(await rows(), before)
  assert.match(
    await limits.metrics(),
    /limit="unknown-keys",result="counted",limit_result="unknown-keys counted"} 20\n/,
  )
  assert.match(await limits.metrics(), /result="refused",limit_result="unknown-keys refused"} 100\n/)
})

test('the rows show no address, and those that say nothing any more are deleted', async () => {
  const limits = startProcess()
  await limits.count(guessFrom('198.51.100.200'))
  const stored = JSON.stringify(await rows())
  assert.ok(!stored.includes('198.51.100.200') && !stored.includes(Buffer.from('198.51.100.200').toString('hex')))
  harness.clock.advance(burstSeconds * 1000)
  for (const { db } of harness.wire.platform.cells.all()) await purgeFailureLimits(db, harness.clock.now())
  assert.deepEqual(await rows(), [])
})

test('failures that are counted later are one write for many, and two processes see each other', async () => {
  const processes = [startProcess(), startProcess()]
  const { tenantId } = await harness.tenantWithKey()
  const miss: Failure = { limit: 'node-misses', tenantId, against: [{ name: 'key', factor: 1 }] }
  const { perSecond, burstSeconds } = FAILURE_LIMITS['node-misses']
  let beyond = 0
  let sent = 0
  while (beyond === 0 && sent < 3_000) {
    for (const process of processes) {
      process.countSoon(miss, (count) => {
        beyond += count
      })
      sent++
    }
    // Every batch is a twentieth of the allowance.
    if (sent % 100 === 0) await Promise.all(processes.map(({ flush }) => flush()))
  }
  const allowance = perSecond * burstSeconds
  assert.ok(sent > allowance && sent <= allowance * 1.2, `alarm after ${sent}`)
  const [row, ...others] = await rows()
  assert.deepEqual([row.tenant_id, row.limit_name, others.length], [tenantId, 'node-misses', 0])
})

test('while the database does not answer the process counts alone: its own allowance holds, and only the first answer waits', async () => {
  const limits = startProcess()
  const address = newNetwork()(1)
  for (let n = 0; n < 5; n++) assert.equal(await limits.count(guessFrom(address)), 0)
  proxy.setDead(true)
  let within = 5
  while (within < 100 && (await limits.count(guessFrom(address))) === 0) within++
  assert.equal(within, ALLOWANCE)
  assert.match(await limits.metrics(), /result="alone",limit_result="unknown-keys alone"} 15\n/)
})
