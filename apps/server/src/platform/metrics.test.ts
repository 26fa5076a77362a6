import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('[O4] labelled counters are there at 0, with one fact in each label and the old label beside them', async () => {
  const metrics = createMetrics('0')
  metrics.jobs.expect(['purge-sessions'])
  const text = await metrics.text()
  assert.match(
    text,
    /^ostiary_jobs_total{task="purge-sessions",result="failed",job_result="purge-sessions failed"} 0$/m,
  )
  for (const result of ['cached', 'loaded', 'rejected', 'refused'])
    assert.match(text, new RegExp(`^ostiary_key_checks_total{result="${result}"} 0$`, 'm'))
  assert.match(text, /^ostiary_rate_limited_total{operation="createString"} 0$/m)
  metrics.jobs.count('purge-sessions', 'failed')
  assert.equal(await metrics.jobs.get('purge-sessions', 'failed'), 1)
  assert.equal(await metrics.jobs.get('purge-sessions', 'done'), 0)
})

test('no gauge has the name of a counter', async () => {
  const text = await createMetrics('0').text()
  assert.deepEqual(text.match(/^# TYPE \S+_total gauge$/gm), null)
})
