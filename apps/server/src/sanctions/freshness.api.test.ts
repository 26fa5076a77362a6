/** Stale lists: in answers, in the list of datasets, in /health and in the metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dataset, Health } from '@ostiary/contract'
import { createScreening, HEADER, NOBODY } from './testing/screening.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const server = await createScreening()
await server.importCsv('us_ofac_sdn', 'id,name\none-a,Karvol Vorberg\n')
await server.importCsv('our_list', 'id,name\ntwo-a,Talvostin Quorim\n', { kind: 'crime' })
await server.importCsv('gb_hmt_sanctions', 'id,name\ngb-a,Odd Fellow\n')

/** As if the source of a list had confirmed it so long ago, by the server's clock. */
async function confirmed(name: string, agoMs: number, everyMs: number | null): Promise<void> {
  const at = new Date(server.clock.now().getTime() - agoMs)
  await server.files.markChecked({ name, tenantId: null }, { at, everyMs })
  server.clock.advance(2_000) // The server reads the file again after two seconds.
}

async function staleDatasets(): Promise<string[]> {
  const response = await server.inject({ url: '/v2/open-sanctions/datasets' })
  const { datasets } = response.json<{ datasets: Dataset[] }>()
  return datasets.filter(({ stale }) => stale).map(({ name }) => name)
}

const isStale = async (dataset: string, query = '') =>
  (await server.screen(`${HEADER}${NOBODY}`, { dataset, query })).summary.stale
const health = async () => server.inject({ url: '/health' })

async function gauge(name: string, dataset: string): Promise<number> {
  const text = await server.wire.platform.metrics.text()
  const line = text.split('\n').find((each) => each.startsWith(`${name}{dataset="${dataset}"} `))
  return Number(line?.split(' ').at(-1) ?? assert.fail(`${name} has no ${dataset}`))
}

test('a list that its source confirmed within three periods is fresh', async () => {
  await confirmed('us_ofac_sdn', 3 * DAY - HOUR, 6 * HOUR)
  await confirmed('our_list', 2 * HOUR, HOUR)
  assert.deepEqual(await staleDatasets(), [])
  assert.deepEqual(
    [await isStale('us_ofac_sdn'), await isStale('default'), await isStale('demo')],
    [false, false, false],
  )
  assert.equal(await gauge('ostiary_sanctions_list_stale', 'us_ofac_sdn'), 0)
  assert.deepEqual((await health()).json<Health>().checks, { store: 'ok' })
})

test('a stale list says so in the answer, in its collections, in the metrics and in /health, which stays 200', async () => {
  await confirmed('us_ofac_sdn', 3 * DAY + HOUR, 6 * HOUR)
  assert.deepEqual(await staleDatasets(), ['default', 'sanctions', 'us_ofac_sdn'])
  assert.deepEqual(
    [await isStale('us_ofac_sdn'), await isStale('sanctions'), await isStale('crime'), await isStale('demo')],
    [true, true, false, false],
  )
  const { datasets } = (await server.inject({ url: '/v2/open-sanctions/datasets' })).json<{ datasets: Dataset[] }>()
  const { version = '' } = datasets.find(({ name }) => name === 'us_ofac_sdn') ?? {}
  assert.equal(await isStale('us_ofac_sdn', `?version=${version}`), true, 'a repeated check, too')

  assert.equal(await gauge('ostiary_sanctions_list_stale', 'us_ofac_sdn'), 1)
  assert.equal(await gauge('ostiary_sanctions_list_stale', 'our_list'), 0)
  const age = await gauge('ostiary_sanctions_list_age_seconds', 'us_ofac_sdn')
  assert.ok(age >= (3 * DAY + HOUR) / 1000 && age < (3 * DAY + 2 * HOUR) / 1000, String(age))
  assert.ok((await gauge('ostiary_sanctions_list_version_age_seconds', 'us_ofac_sdn')) >= 0)

  const response = await health()
  const { status, checks } = response.json<Health>()
  assert.deepEqual([response.statusCode, status, checks], [200, 'ok', { store: 'ok', lists: 'stale' }])
  assert.equal(await server.wire.platform.monitor.readiness(), 'ok')
})

test('an own list is stale by the interval that its source states, and never without a source', async () => {
  await confirmed('us_ofac_sdn', 0, null)
  await confirmed('our_list', 4 * HOUR, HOUR)
  assert.deepEqual(await staleDatasets(), ['default', 'crime', 'our_list'])
  await confirmed('our_list', 1_000 * DAY, null)
  await confirmed('gb_hmt_sanctions', 1_000 * DAY, null)
  assert.deepEqual(await staleDatasets(), [])
})

test('the list that the UK ended goes on serving where it is imported, in the collection of its kind', async () => {
  const { summary } = await server.screen(`${HEADER}1,Odd,Fellow,\n`, { dataset: 'sanctions' })
  assert.deepEqual(
    summary.matched.records.map(({ matches }) => matches[0]?.dataset),
    ['gb_hmt_sanctions'],
  )
})
