import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMissing, samplesOf } from './promql.ts'

const scrape = samplesOf(`# TYPE ostiary_jobs_total counter
ostiary_jobs_total{task="purge-sessions",result="done"} 3
ostiary_wait_seconds_bucket{le="+Inf",cell="main"} 2
ostiary_log_lines_lost_total 0
`)

test('an expression whose metric or label no scrape has is found', () => {
  const missing = (expression: string) => findMissing(expression, scrape)
  assert.equal(
    missing('increase(ostiary_jobs_total{result="failed"}[15m]) > 0 unless ostiary_log_lines_lost_total'),
    undefined,
  )
  assert.equal(
    missing('increase(ostiary_jobs_total{job_result=~".* failed"}[15m]) > 0'),
    'ostiary_jobs_total{job_result}',
  )
  assert.equal(missing('ostiary_jobs_total > 0 and ostiary_queue'), 'ostiary_queue')
  assert.equal(missing('sum by (task, job) (ostiary_jobs_total)'), undefined)
  assert.equal(missing('sum by (name) (ostiary_jobs_total)'), 'name')
  assert.equal(missing('histogram_quantile(0.5, sum by (le) (rate(ostiary_wait_seconds_bucket[2m])))'), undefined)
  assert.equal(missing('up{job=~"ostiary-.*"} == 0'), undefined)
})
