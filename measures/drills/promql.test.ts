import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMissing, listPagingIncidents, samplesOf } from './promql.ts'

const scrape = samplesOf(`# TYPE ostiary_jobs_total counter
ostiary_jobs_total{task="purge-sessions",result="done"} 3
ostiary_jobs_total{task="purge-sessions",result="failed"} 0
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

test('[O4] a value of a label that no scrape has is found', () => {
  const missing = (matcher: string) => findMissing(`increase(ostiary_jobs_total{${matcher}}[15m]) > 0`, scrape)
  assert.equal(missing('result=~"done|failed"'), undefined)
  assert.equal(missing('result=~"failed|lost"'), 'ostiary_jobs_total{result="lost"}')
  assert.equal(missing('result="lost"'), 'ostiary_jobs_total{result="lost"}')
  assert.equal(missing('result!="lost", task="purge-sessions"'), 'ostiary_jobs_total{result="lost"}')
  assert.equal(missing('task=~"purge-.*", job="anything"'), undefined)
})

test('an incident counts only if a page fires at its end', () => {
  const rules = ['Down', 'Full'].map(
    (name, n) => `      - alert: ${name}\n        labels: { severity: ${n ? 'ticket' : 'page'} }\n`,
  )
  const ends = { 1: '{alertname="Down"}', 2: '{alertname="Full"}', 3: undefined, 4: '{alertname="Gone"}' }
  const tests = Object.entries(ends).map(([number, labels]) => {
    const samples = labels ? `\n          - { labels: '${labels}', value: 1 }` : ' []'
    return `  - name: ${number}. something\n      - expr: ALERTS\n        eval_time: 15m\n        exp_samples:${samples}\n`
  })
  assert.deepEqual(listPagingIncidents(tests.join(''), rules.join('')), ['1'])
})
