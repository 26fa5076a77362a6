import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { missingPostgres } from '@ostiary/testkit/missing'
import { startServices, startWorker, stopServices } from '@ostiary/testkit/run'
import { PgBoss } from 'pg-boss'

// A cluster of its own, because it is stopped.
const CLUSTER = 'outage'
const skip = missingPostgres()
if (!skip) after(() => stopServices(CLUSTER, 'wipe'))

const OUTAGE_MS = 10_000
/** 718 lines were written in two minutes with 38 seconds of outage before the worker waited. */
const LINES_MAX = 20

test('a worker without its database logs that once, waits, and continues when it is back', { skip }, async () => {
  const url = startServices(CLUSTER)
  const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') }
  const worker = await startWorker({ env, logName: 'outage-worker' })
  const linesOf = (message: string) =>
    worker
      .log()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`))
  const metrics = () => fetch(`${worker.adminUrl}/metrics`, { headers: { connection: 'close' } })
  const up = async () => /^ostiary_db_up\{cell="main"\} (\d)$/m.exec(await (await metrics()).text())?.[1]
  try {
    assert.equal(await up(), '1')
    const before = worker.log().split('\n').length

    stopServices(CLUSTER)
    const stoppedMs = performance.now()
    await eventually(async () => (await up()) === '0', 'the gauge is 0')
    const isReady = async () => (await fetch(`${worker.adminUrl}/readyz`, { headers: { connection: 'close' } })).ok
    await eventually(async () => !(await isReady()), 'the worker is not ready')
    // How long the outage lasts is what the number of lines depends on.
    await eventually(() => performance.now() - stoppedMs > OUTAGE_MS, 'the outage lasts')
    assert.equal(linesOf('database unreachable').length, 1, worker.log())
    const during = worker.log().split('\n').length - before
    assert.ok(during < LINES_MAX, `${during} lines: ${worker.log()}`)

    startServices(CLUSTER)
    await eventually(async () => (await up()) === '1', 'the gauge is 1')
    const boss = new PgBoss({ connectionString: url, schema: 'pgboss', supervise: false, schedule: false })
    boss.on('error', () => {})
    await boss.start()
    await boss.send('purge-lockouts')
    await eventually(() => /"job":"purge-lockouts".*"msg":"job done"/.test(worker.log()), 'the job is done')
    await boss.stop({ graceful: false })
    const again = linesOf('database works again')
    assert.equal(again.length, 1, worker.log())
    assert.ok(JSON.parse(again[0] ?? '').durationMs >= OUTAGE_MS - 2_000)
  } finally {
    assert.equal(await worker.stop(), 0, worker.log())
  }
})

test('a worker without its database ends on SIGTERM', { skip }, async () => {
  const url = startServices(CLUSTER)
  const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') }
  const worker = await startWorker({ env, logName: 'outage-stop-worker' })
  stopServices(CLUSTER)
  await eventually(() => worker.log().includes('database unreachable'), 'the outage is logged')
  await worker.stop()
  assert.doesNotMatch(worker.log(), /missed its deadline/)
})
