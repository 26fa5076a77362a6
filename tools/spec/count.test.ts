import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ROOT } from '@ostiary/testkit/run'
import {
  type Evidence,
  findMistakes,
  idsIn,
  judgeRow,
  kindsOfFile,
  readRows,
  type SpecRow,
  type Suite,
} from './count.ts'

// Ids in brackets would claim rows of the real specification, so these are put together here.
const named = (id: string) => `[${id}] what the test shows`
const row = (kind: SpecRow['kind']): SpecRow => ({ id: 'A-001', statement: 'A statement.', kind })
const ran = (suite: Suite, { outcome = 'pass' as Evidence['outcome'], source = '', id = 'A-001' } = {}): Evidence => ({
  id,
  outcome,
  kinds: kindsOfFile(suite, source),
})
const standingOf = (kind: SpecRow['kind'], ...evidence: Evidence[]) =>
  judgeRow(row(kind), evidence).gap === undefined ? 'proven' : 'gap'

describe('a row is proven by a test of its own kind', () => {
  test('a row marked page without a browser test is not counted as proven', () => {
    const others = [ran('pure'), ran('api'), ran('acceptance')]
    assert.equal(judgeRow(row('page'), others).gap, 'no passing page test, only tests of other kinds')
    assert.equal(standingOf('page', ...others, ran('launch')), 'proven')
  })

  test('no mark makes a test without a browser prove a page row', () => {
    for (const suite of ['pure', 'api', 'acceptance'] as const)
      assert.throws(() => kindsOfFile(suite, '// spec-kind: page\n'), /cannot prove "page" rows/)
  })

  test('http and limit rows are proven by requests, not by pure tests or a browser', () => {
    for (const kind of ['http', 'limit'] as const) {
      for (const suite of ['api', 'acceptance'] as const) assert.equal(standingOf(kind, ran(suite)), 'proven')
      for (const suite of ['pure', 'launch'] as const) assert.equal(standingOf(kind, ran(suite)), 'gap')
    }
  })

  test('webhook and docs rows need the mark in the file of the test', () => {
    const [webhook, docs] = [{ source: 'x\n// spec-kind: webhook\n' }, { source: '// spec-kind: docs\n' }]
    assert.equal(standingOf('webhook', ran('api')), 'gap')
    assert.equal(standingOf('webhook', ran('api', webhook)), 'proven')
    assert.equal(standingOf('docs', ran('pure')), 'gap')
    assert.equal(standingOf('docs', ran('pure', docs)), 'proven')
    assert.deepEqual([...kindsOfFile('api', '// spec-kind: webhook, docs\n')], ['http', 'limit', 'webhook', 'docs'])
    assert.throws(() => kindsOfFile('pure', webhook.source), /cannot prove "webhook" rows/)
    assert.throws(() => kindsOfFile('api', '// spec-kind: webhok\n'), /cannot prove "webhok" rows/)
  })

  test('the name of a test says nothing about its kind', () => {
    assert.deepEqual(idsIn(`page, in a browser: ${named('A-001')}`), ['A-001'])
    assert.equal(standingOf('page', ran('api')), 'gap')
  })

  test('a failing or a skipped test proves nothing, and a failing one undoes the others', () => {
    assert.equal(standingOf('http', ran('api', { outcome: 'skip' })), 'gap')
    assert.equal(standingOf('http', ran('api'), ran('pure', { outcome: 'fail' })), 'gap')
    assert.equal(standingOf('http', ran('api', { id: 'A-002' })), 'gap')
  })
})

test('a row without a test is a gap', () => {
  assert.deepEqual(judgeRow(row('http'), []), { ...row('http'), gap: 'no passing http test' })
})

test('an id that is no row is a mistake', () => {
  assert.deepEqual(findMistakes([row('http')], [ran('api', { id: 'E-999' }), ran('api')]), [
    'A test carries E-999, which is no row',
  ])
})

test('the specification has 252 rows', () => {
  assert.equal(readRows(readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8')).length, 252)
})
