import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFreshnessReader, freshnessOf } from './freshness.ts'
import { peopleCsv, setUp } from './testing/lists.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const IMPORTED = '2026-11-01T00:00:00.000Z'
const after = (ms: number) => new Date(Date.parse(IMPORTED) + ms)

function isStale(name: string, ageMs: number, everyMs?: number | null, tenantId: string | null = null): boolean {
  const checked = everyMs === undefined ? null : { at: after(0), everyMs }
  return freshnessOf({ name, tenantId }, { checked, importedAt: IMPORTED }, after(ageMs)).isStale
}

test('a known list is stale after three days without a check, however often its source is looked at', () => {
  for (const everyMs of [undefined, null, HOUR / 12, 6 * HOUR, DAY]) {
    assert.equal(isStale('us_ofac_sdn', 3 * DAY, everyMs), false)
    assert.equal(isStale('us_ofac_sdn', 3 * DAY + 1, everyMs), true)
  }
  assert.equal(isStale('us_ofac_sdn', 20 * DAY, 7 * DAY), false, 'the operator wants it looked at once a week')
  assert.equal(isStale('us_ofac_sdn', 22 * DAY, 7 * DAY), true)
})

test('another list has the period that its source states, and without a source none', () => {
  assert.equal(isStale('staff', 1_000 * DAY), false)
  assert.equal(isStale('staff', 1_000 * DAY, null), false)
  assert.equal(isStale('staff', 3 * HOUR, HOUR), false)
  assert.equal(isStale('staff', 4 * HOUR, HOUR), true)
  assert.equal(isStale('gb_hmt_sanctions', 1_000 * DAY), false)
  assert.equal(isStale('demo', 1_000 * DAY), false)
  assert.equal(isStale('custom_us_ofac_sdn', 1_000 * DAY, null, 'a tenant'), false)
  assert.equal(isStale('us_ofac_sdn', -HOUR), false, 'a clock that went back')
})

const LIST = { name: 'us_ofac_sdn', tenantId: null }

test('an import counts as a check, a rebuilt index does not, and a rollback holds back what the source has', async () => {
  const { importer, files, clock, write, dir } = setUp()
  const fresh = createFreshnessReader(files, clock)
  const stale = async () => (await fresh(LIST, clock.now().toISOString())).isStale
  const of = (count: number) => ({
    dataset: LIST,
    format: 'custom-csv' as const,
    paths: [write('a.csv', peopleCsv(count))],
  })
  await importer.importList(of(10))
  clock.advance(4 * DAY)
  assert.equal(await stale(), true)
  await importer.rebuild(LIST, { force: true })
  clock.advance(HOUR)
  assert.equal(await stale(), true)
  assert.equal((await importer.importList(of(10))).state, 'unchanged')
  clock.advance(HOUR)
  assert.equal(await stale(), false, 'the same file again: nothing changed at its publisher')

  await importer.importList(of(11))
  await importer.rollback(LIST)
  clock.advance(4 * DAY)
  assert.equal((await importer.importList(of(11))).state, 'unchanged')
  await importer.confirm(LIST, HOUR)
  clock.advance(HOUR)
  assert.equal(await stale(), true, 'the version in service is not the publisher’s')
  await importer.importList(of(12))
  clock.advance(HOUR)
  assert.equal(await stale(), false)
  assert.deepEqual(
    readdirSync(join(dir, LIST.name)).filter((name) => name.endsWith('.tmp')),
    [],
  )
})

test('a list of an older release counts from its import, also when it is indexed again', async () => {
  const { importer, files, clock, write, dir } = setUp()
  await importer.importList({ dataset: LIST, format: 'custom-csv', paths: [write('a.csv', peopleCsv(10))] })
  const imported = clock.now().toISOString()
  const path = join(dir, LIST.name, 'checked.json')
  // As an older release leaves it, and as a broken disk does.
  for (const content of [null, '', '{"at":"yesterday"}']) {
    if (content === null) rmSync(path)
    else writeFileSync(path, content)
    assert.equal(await files.lastCheck(LIST), null)
  }
  clock.advance(2 * DAY)
  await importer.rebuild(LIST, { force: true })
  assert.ok(existsSync(path))
  assert.equal((await files.lastCheck(LIST))?.at.toISOString(), imported)
  assert.equal(readFileSync(path, 'utf8').length, 96)
})
