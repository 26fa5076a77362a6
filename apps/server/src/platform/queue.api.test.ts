import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { listJobs } from '../jobs.ts'
import { createHarness } from '../testing/harness.ts'
import { createQueue } from './queue.ts'
import { watchTasks } from './task-watch.ts'

test('[O4] the worker’s scheduled jobs run through pg-boss and purge what has expired; the metrics have each from the start', async () => {
  const harness = await createHarness()
  const { key } = await harness.tenantWithKey()
  const headers = { 'x-api-key': key, 'idempotency-key': 'k' }
  await harness.inject({ method: 'POST', url: '/strings', headers, payload: { value: 'x', ttlSeconds: 60 } })
  harness.clock.advance(25 * 3_600_000)
  const queue = createQueue(listJobs(harness.wire), harness.wire.platform)
  watchTasks(harness.wire.platform, listJobs(harness.wire))
  const scraped = async (sample: RegExp) => assert.match(await harness.wire.platform.metrics.text(), sample)
  const { tasks, results } = { tasks: listJobs(harness.wire).map(({ name }) => name), results: ['done', 'failed'] }
  for (const task of tasks)
    for (const result of results)
      await scraped(
        new RegExp(`^ostiary_jobs_total{task="${task}",result="${result}",job_result="${task} ${result}"} 0$`, 'm'),
      )
  await scraped(/^ostiary_purge_overdue_seconds{cell="main",task="purge-expired-strings"} 89940$/m)
  await scraped(/^ostiary_purge_overdue_seconds{cell="main",task="purge-sessions"} 0$/m)
  await scraped(/^ostiary_table_bytes{cell="main",table="webhook_queue"} [1-9]/m)
  await scraped(/^ostiary_db_pool_wait_seconds_count{cell="main"} [1-9]/m)
  for (const cell of harness.wire.platform.cells.all()) await queue.start(cell)
  const { rows } = await harness.database.query('select name, cron from pgboss.schedule order by name')
  const listed = listJobs(harness.wire).map(({ name, cron }) => ({ name, cron }))
  assert.deepEqual(
    rows,
    listed.sort((a, b) => a.name.localeCompare(b.name)),
  )
  for (const { name } of listJobs(harness.wire)) await queue.trigger(name)
  const count = async (table: string) =>
    Number((await harness.database.query(`select count(*) from ${table}`)).rows[0].count)
  await eventually(
    async () => (await count('strings')) + (await count('idempotency_keys')) === 0,
    'both tables are empty',
  )
  await eventually(
    async () => (await harness.wire.platform.metrics.jobs.get('purge-idempotency-keys', 'done')) === 1,
    'the jobs are counted',
  )
  const success = /^ostiary_task_last_success_timestamp_seconds{task="purge-idempotency-keys",cell="main"} (\d+)/m
  await scraped(success)
  await queue.stop(2_000)
})

test('workers that start at the same time on an empty database all start', async () => {
  const harness = await createHarness()
  const [cell] = harness.wire.platform.cells.all()
  assert.ok(cell)
  const job = { name: 'nothing', cron: '* * * * *', run: async () => 0 }
  const queues = Array.from({ length: 6 }, () => createQueue([job], harness.wire.platform))
  await Promise.all(queues.map((queue) => queue.start(cell)))
  await Promise.all(queues.map((queue) => queue.stop(2_000)))
})

test('the schedule of a job that the last release had under another name is removed', async () => {
  const harness = await createHarness()
  const [cell] = harness.wire.platform.cells.all()
  assert.ok(cell)
  const job = (name: string) => ({ name, cron: '0 0 1 1 *', run: async () => 0 })
  const lastRelease = createQueue([job('old-name'), job('kept')], harness.wire.platform)
  await lastRelease.start(cell)
  await lastRelease.stop(2_000)
  const thisRelease = createQueue([job('new-name'), job('kept')], harness.wire.platform)
  await thisRelease.start(cell)
  const { rows } = await harness.database.query('select name from pgboss.schedule order by name')
  assert.deepEqual(rows, [{ name: 'kept' }, { name: 'new-name' }])
  await thisRelease.stop(2_000)
})

test('a worker that leaves a cell starts no more jobs there, ends the one that runs, and can come back', async () => {
  const harness = await createHarness()
  const [cell] = harness.wire.platform.cells.all()
  assert.ok(cell)
  const begun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const runs: string[] = []
  const jobOf = (worker: string) => ({
    name: 'long',
    cron: '0 0 1 1 *',
    run: async () => {
      runs.push(worker)
      begun.resolve()
      await mayEnd.promise
      return 1
    },
  })
  const [first, second] = ['first', 'second'].map((name) => createQueue([jobOf(name)], harness.wire.platform))
  assert.ok(first && second)
  await first.start(cell)
  await first.trigger('long')
  await begun.promise
  first.leave(cell)
  await second.start(cell)
  mayEnd.resolve()
  const states = async () =>
    (await harness.database.query(`select state from pgboss.job where name = 'long' order by created_on`)).rows
  await eventually(async () => (await states())[0]?.state === 'completed', 'the running job has ended well')
  await first.trigger('long')
  assert.equal((await states()).length, 1, 'it has left')
  await second.trigger('long')
  await eventually(async () => (await states())[1]?.state === 'completed', 'the other worker runs the next one')
  await second.stop(2_000)
  await first.start(cell)
  await first.trigger('long')
  await eventually(() => runs.length === 3, 'it is back')
  assert.deepEqual(runs, ['first', 'second', 'first'])
  await first.stop(2_000)
})

test('a job that fails is tried again, and its error text is not stored', async () => {
  const harness = await createHarness()
  let runs = 0
  const flaky = {
    name: 'flaky',
    cron: '0 0 1 1 *',
    run: async () => {
      if (++runs < 2) throw new Error('PRIVATE words')
      return 1
    },
  }
  const queue = createQueue([flaky], harness.wire.platform)
  for (const cell of harness.wire.platform.cells.all()) await queue.start(cell)
  const lastSuccess = async () => {
    const { values } = await harness.wire.platform.metrics.taskSuccess.get()
    return values.find(({ labels }) => labels.task === 'flaky')?.value
  }
  const startedAt = harness.clock.now().getTime() / 1000
  assert.equal(await lastSuccess(), startedAt, 'a task that never succeeded counts from the start of the worker')
  harness.clock.advance(1_000)
  await harness.database.query(`update pgboss.queue set retry_delay = 0, retry_backoff = false`)
  await queue.trigger('flaky')
  await eventually(async () => runs >= 2, 'it ran twice')
  const { rows } = await harness.database.query('select * from pgboss.job')
  assert.ok(!JSON.stringify(rows).includes('PRIVATE'))
  assert.ok(!harness.logged().includes('PRIVATE'))
  assert.match(harness.logged(), /"job":"flaky".*job failed/)
  assert.equal(await harness.wire.platform.metrics.jobs.get('flaky', 'failed'), 1)
  await eventually(async () => (await lastSuccess()) === startedAt + 1, 'its success has a time')
  const endedAt = await eventually(async () => {
    const ended = `select extract(epoch from max(completed_on))::float8 as at from pgboss.job where state = 'completed'`
    return (await harness.database.query(ended)).rows[0].at
  }, 'the queue knows it too')
  harness.wire.platform.metrics.taskSuccess.reset()
  const nextWorker = createQueue([flaky], harness.wire.platform)
  for (const cell of harness.wire.platform.cells.all()) await nextWorker.start(cell)
  assert.equal(await lastSuccess(), endedAt, 'a worker that starts reads it in the queue')
  await nextWorker.stop(2_000)
  await queue.stop(2_000)
})
