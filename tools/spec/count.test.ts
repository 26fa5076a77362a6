import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
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
import { LISTED_SETTINGS, NOT_PROVEN, namesSet, settingsTurnedOn } from './settings.ts'

// Ids in brackets would claim rows of the real specification, so these are put together here.
const named = (id: string) => `[${id}] what the test shows`
const row = (kind: SpecRow['kind']): SpecRow => ({ id: 'A-001', statement: 'A statement.', kind })
interface Run {
  outcome?: Evidence['outcome']
  source?: string
  id?: string
  settings?: readonly string[]
}
const ran = (suite: Suite, { outcome = 'pass', source = '', id = 'A-001', settings = [] }: Run = {}): Evidence => ({
  id,
  outcome,
  kinds: kindsOfFile(suite, source),
  settings,
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
  assert.deepEqual(judgeRow(row('http'), []), {
    ...row('http'),
    ...{ setting: undefined, standing: 'not proven', gap: 'no passing http test' },
  })
})

test('an id that is no row is a mistake', () => {
  assert.deepEqual(findMistakes([row('http')], [ran('api', { id: 'E-999' }), ran('api')]), [
    'A test carries E-999, which is no row',
  ])
})

describe('under which setting', () => {
  const token = { id: 'D-043', statement: 'A statement.', kind: 'http' } as const
  const withToken = { id: token.id, settings: ['templates=token'] }

  test('a row of a setting is proven by a test that turns it on, and counted apart', () => {
    assert.deepEqual(judgeRow(token, [ran('api', withToken)]), {
      ...token,
      ...{ setting: 'templates=token', standing: 'under a setting', gap: undefined },
    })
    const gap = 'no passing http test with templates=token'
    assert.equal(judgeRow(token, [ran('api', { id: token.id })]).gap, gap)
  })

  test('a row without a setting is not proven by a test that turns one on, and such a test is a mistake', () => {
    const evidence = ran('api', { settings: ['templates=token'] })
    assert.equal(judgeRow(row('http'), [evidence]).gap, 'no passing http test with the default settings')
    assert.equal(judgeRow(row('http'), [evidence, ran('api')]).standing, 'by default')
    assert.deepEqual(findMistakes([row('http')], [evidence, ran('api')]), [
      'A test of A-001 turns on templates=token, which its row does not name',
    ])
    assert.deepEqual(findMistakes([token], [ran('api', withToken)]), [])
  })

  test('a row that a decision calls not proven is no gap, but its tests must not fail', () => {
    const signed = { id: 'C-060', statement: 'A statement.', kind: 'webhook' } as const
    assert.deepEqual([judgeRow(signed, []).standing, judgeRow(signed, []).gap], ['not proven', undefined])
    const failed = ran('api', { id: 'C-060', outcome: 'fail' })
    assert.equal(judgeRow(signed, [failed]).gap, 'a test of it fails')
    const decisions = readFileSync(`${ROOT}docs/decisions/0001-spec-gaps.md`, 'utf8')
    for (const id of NOT_PROVEN) assert.match(decisions, new RegExp(`^\\| ${id}, `, 'm'), 'its reason')
  })

  test('the decisions call nothing "not built" of which a row speaks', () => {
    const decisions = readFileSync(`${ROOT}docs/decisions/0001-spec-gaps.md`, 'utf8')
    const rows = readRows(readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8'))
    const unbuilt = (text: string) =>
      [...text.matchAll(/^\| ([^|(]+?) (?:\(.*\) )?\| [^|]*\bnot built/gm)].map(([, subject = '']) =>
        subject.toLowerCase(),
      )
    const spokenOf = (text: string) =>
      unbuilt(text).filter((subject) => rows.some(({ statement }) => statement.toLowerCase().includes(subject)))
    assert.deepEqual(spokenOf('| Homomorphic token | **not built yet** |'), ['homomorphic token'])
    assert.ok(unbuilt(decisions).length > 0)
    assert.deepEqual(spokenOf(decisions), [])
  })

  test('what a test turns on is found in its own words, and in what stands outside of every test', () => {
    const [one, two, dynamic] = ['A-001', 'A-002', 'A-003']
    const source = (shared: string) =>
      [
        shared,
        `test('${named(one)}', () => {`,
        "  on({ templates: 'token' })",
        '})',
        `test('${named(two)}', off)`,
      ].join('\n')
    const on = (shared: string, id: string) => settingsTurnedOn(source(shared), id, 'api')
    assert.deepEqual(on('', one), ['templates=token'])
    assert.deepEqual(on('', two), [])
    assert.deepEqual(on('', dynamic), ['templates=token'])
    assert.deepEqual(on("const live = { EVENTS_LIVE: 'true' }", two), ['EVENTS_LIVE'])
  })

  test('any setting of a tenant or of the process is found, unless its value is the default or the row speaks of it', () => {
    for (const [text, ...names] of [
      ["await harness.wire.settings.service.set(tenantId, { nodeScores: 'exact' })", 'nodeScores'],
      ["const settings = { risk: {}, signInMatching: 'local', brand }", 'signInMatching'],
      ['fixture.newHost({ settings: { signInMatching } })', 'signInMatching'],
      ["cli('tenants settings Fjord --set screeningRunDays=30')", 'screeningRunDays'],
      ["ostiary('--set', 'retentionSeconds=864000')", 'retentionSeconds'],
      ['await fixture.withSettings(strict, work)', 'a setting without its name'],
      ["createHarness({ PUBLIC_URL: 'https://a.example' })"],
      ['async function hostWith(issuers: TenantIssuerInput[]) {'],
      ["createHarness({ EVENTS_LIVE: 'true' })", 'EVENTS_LIVE'],
      ["newHost({ settings: { nodeScores: 'bands', retentionSeconds: 86_400, brand: null } })"],
      ["'https://page.example/check?brand=7'"],
    ] as const)
      assert.deepEqual(namesSet(text), names, text)
    const source = `test('${named('C-008')}', () => {\n  on({ retentionSeconds: 3_600 })\n})`
    assert.deepEqual(settingsTurnedOn(source, 'C-008', 'api'), [])
    assert.deepEqual(settingsTurnedOn(source.replace('C-008', 'C-009'), 'C-009', 'api'), ['retentionSeconds'])
    assert.deepEqual(settingsTurnedOn(source.replace('C-008', 'C-009'), 'C-009', 'pure'), [])
  })

  test('the fixtures set nothing but the tokens and the tenant whose page frames ours, which the words of both find', () => {
    const files = globSync('{apps/server/src/**/testing,tests/testkit}/**/*.ts', {
      cwd: ROOT,
      exclude: ['**/node_modules'],
    })
    const found = files.flatMap((file) => {
      const names = namesSet(readFileSync(`${ROOT}${file}`, 'utf8'))
      return names.length > 0 ? [[file, names]] : []
    })
    assert.deepEqual(Object.fromEntries(found), {
      'apps/server/src/matcher/testing/people.ts': ['templates'],
      'tests/testkit/system.ts': ['embedOrigins', 'brand'],
      'tests/testkit/token-system.ts': ['templates'],
    })
  })

  test('no test of a row in this repository turns on a setting that the row does not name', () => {
    const rows = readRows(readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8'))
    const files = globSync('{apps,packages,tests}/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] })
    assert.ok(files.length > 300, `${files.length} files`)
    const evidence = files.flatMap((file) => {
      const source = readFileSync(`${ROOT}${file}`, 'utf8')
      const ids = new Set(idsIn(source))
      const suite = /\.api\.test\.ts$|^tests\/acceptance\//.test(file) ? 'api' : 'pure'
      return [...ids].map((id) => ({ ...ran(suite, { id }), settings: settingsTurnedOn(source, id, suite) }))
    })
    assert.deepEqual(findMistakes(rows, evidence), [])
    for (const name of Object.keys(LISTED_SETTINGS))
      assert.ok(
        files.some((file) => LISTED_SETTINGS[name]?.turnedOnBy.test(readFileSync(`${ROOT}${file}`, 'utf8'))),
        `no test turns on ${name} in these words`,
      )
  })
})

test('the specification has 252 rows', () => {
  assert.equal(readRows(readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8')).length, 252)
})
