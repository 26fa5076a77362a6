import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLabelledCounter, createTimer } from './hot-metrics.ts'

test('a counter counts by label and is written in the text format', () => {
  const counter = createLabelledCounter('x_total', 'Things', 'kind')
  counter.count('a')
  counter.count('a')
  counter.count('b')
  assert.equal(counter.get('a'), 2)
  assert.equal(counter.get('never'), 0)
  assert.equal(
    counter.text(),
    '# HELP x_total Things\n# TYPE x_total counter\nx_total{kind="a"} 2\nx_total{kind="b"} 1\n',
  )
})

test('a histogram is cumulative, and its last bucket equals its count', () => {
  const timer = createTimer('t_seconds', 'Time', ['operation', 'status'])
  for (const seconds of [0.0005, 0.001, 0.02, 99]) timer.observe('op', 200, seconds)
  timer.observe('op', 404, 0.3)
  const text = timer.text()
  const value = (line: string) =>
    Number(
      text
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.split(' ')[1],
    )
  const labels = 'operation="op",status="200"'
  assert.equal(value(`t_seconds_bucket{${labels},le="0.001"}`), 2)
  assert.equal(value(`t_seconds_bucket{${labels},le="0.025"}`), 3)
  assert.equal(value(`t_seconds_bucket{${labels},le="10"}`), 3)
  assert.equal(value(`t_seconds_bucket{${labels},le="+Inf"}`), 4)
  assert.equal(value(`t_seconds_count{${labels}}`), 4)
  assert.equal(value(`t_seconds_count{operation="op",status="404"}`), 1)
})
