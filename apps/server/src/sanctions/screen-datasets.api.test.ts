/** `POST /v2/open-sanctions/file/:dataset`: lists, collections, versions, tenants and exceptions. */
import assert from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Dataset, ScreenReply } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { createScreening, HEADER, SANCTIONS_KEY, type Screening, type Sending } from './testing/screening.ts'

const KARVOL = '1,Karvol,Vorberg,1958-04-03\n'
const TALVO = '2,Talvostin,Quorim,\n'
const FILE = `${HEADER}${KARVOL}${TALVO}3,Maria,Beispielfrau,1990-05-04\n`
const HOUR = 3_600_000

let later: string

const server = await createScreening()
const owner = await server.tenantWithKey(SANCTIONS_KEY)
const stranger = await server.tenantWithKey(SANCTIONS_KEY)
const facts = { title: 'List one', licence: 'ours', kind: 'sanctions' } as const
/** The first versions of the two lists, and the second version of the first list. */
const one = await server.importCsv(
  'list_one',
  'id,name,dob\none-a,Karvol Vorberg,1958-04-03\none-b,Odd Fellow,\n',
  facts,
)
const two = await server.importCsv('list_two', 'id,name,topics\ntwo-a,Talvostin Quorim,crime\n', { kind: 'crime' })
await server.importCsv('custom_own', 'id,name\nown-a,Karvol Vorberg\n', { tenantId: owner.tenantId })

/** The entries that each row matched. */
function hitsOf({ summary }: ScreenReply): Record<string, string[]> {
  return Object.fromEntries(
    summary.matched.records.map(({ id, matches }) => [id, matches.map(({ entityId }) => entityId)]),
  )
}
const hits = async (dataset: string, more: Sending = {}) => hitsOf(await server.screen(FILE, { dataset, ...more }))

async function datasets(key?: string): Promise<Dataset[]> {
  const response = await server.inject({
    url: '/v2/open-sanctions/datasets',
    headers: key === undefined ? {} : { 'x-api-key': key },
  })
  assert.equal(response.statusCode, 200)
  return response.json<{ datasets: Dataset[] }>().datasets
}
const namesOf = (list: readonly Dataset[]) => list.map(({ name }) => name).sort()

const BRING =
  'The operator brings public lists with "ostiary datasets enable", for example "ostiary datasets enable ofac un"'
const BRING_PEPS =
  'peps is a public list that this installation does not have yet. The operator brings it with "ostiary datasets enable peps --licence <your licence>", or --non-commercial'

function assertUnknown(response: Awaited<ReturnType<Screening['send']>>, names: string, way = BRING): void {
  const pointer = '/path/dataset'
  const details = [
    { pointer, message: `must be one of ${names}` },
    { pointer, message: way },
  ]
  assertError(response, 404, 'UNKNOWN_DATASET', 'Unknown dataset', { details })
}

describe('datasets', () => {
  test('the path names the list to search', async () => {
    assert.deepEqual(await hits('demo'), {})
    assert.deepEqual(await hits('list_one'), { 1: ['one-a'] })
    assert.deepEqual(await hits('list_two'), { 2: ['two-a'] })
    const { summary } = await server.screen(FILE, { dataset: 'list_one' })
    const [record] = summary.matched.records
    assert.deepEqual(
      [summary.dataset, summary.version, record?.dataset, record?.matches[0]?.dataset, record?.matches[0]?.listVersion],
      ['list_one', one, 'list_one', 'list_one', one],
    )
  })

  test('a collection searches all its lists but the demo, and its version names theirs', async () => {
    const all = await server.screen(FILE, { dataset: 'default' })
    assert.deepEqual(hitsOf(all), { 1: ['one-a'], 2: ['two-a'] })
    assert.equal(all.summary.version, `list_one@${one}+list_two@${two}`)
    assert.equal(all.summary.dataset, 'default')
    assert.deepEqual(
      all.summary.matched.records.map(({ dataset, matches }) => [
        dataset,
        matches[0]?.dataset,
        matches[0]?.listVersion,
      ]),
      [
        ['default', 'list_one', one],
        ['default', 'list_two', two],
      ],
    )
    const sanctions = await server.screen(FILE, { dataset: 'sanctions' })
    assert.deepEqual(hitsOf(sanctions), { 1: ['one-a'] })
    assert.equal(sanctions.summary.version, `list_one@${one}`)
    assert.deepEqual(await hits('crime'), { 2: ['two-a'] })
    assertUnknown(
      await server.send(FILE, { dataset: 'peps' }),
      'default, sanctions, crime, demo, list_one, list_two',
      BRING_PEPS,
    )
    const again = `?version=${encodeURIComponent(all.summary.version)}`
    assert.deepEqual(await hits('default', { query: again }), { 1: ['one-a'], 2: ['two-a'] })
  })

  test('a tenant’s own list is found only with its key, and is in no collection', async () => {
    const names = 'default, sanctions, crime, demo, list_one, list_two'
    assert.deepEqual(await hits('custom_own', { key: owner.key }), { 1: ['own-a'] })
    assertUnknown(await server.send(FILE, { dataset: 'custom_own', key: stranger.key }), names)
    assertUnknown(await server.send(FILE, { dataset: 'custom_own', key: '' }), names)
    assert.deepEqual(await hits('default', { key: owner.key }), { 1: ['one-a'], 2: ['two-a'] })
    const shared = ['crime', 'default', 'demo', 'list_one', 'list_two', 'sanctions']
    assert.deepEqual(namesOf(await datasets(owner.key)), [...shared, 'custom_own'].sort())
    assert.deepEqual(namesOf(await datasets(stranger.key)), shared)
    assert.deepEqual(namesOf(await datasets()), shared)
  })

  test('are listed with size, version, licence and members', async () => {
    const listed = await datasets()
    const find = (name: string) => listed.find((each) => each.name === name)
    const list = find('list_one')
    assert.deepEqual(list, {
      name: 'list_one',
      title: 'List one',
      entries: 2,
      version: one,
      updatedAt: list?.updatedAt,
      licence: 'ours',
      kind: 'list',
      stale: false,
      versions: [one],
    })
    assert.ok(!Number.isNaN(Date.parse(list.updatedAt)))
    assert.deepEqual(find('default'), {
      name: 'default',
      title: 'All lists',
      entries: 3,
      version: `list_one@${one}+list_two@${two}`,
      updatedAt: find('list_two')?.updatedAt,
      licence: 'ours; not stated',
      kind: 'collection',
      stale: false,
      members: ['list_one', 'list_two'],
      versions: [`list_one@${one}+list_two@${two}`],
    })
    assert.equal(find('demo')?.entries, 40)
  })
})

describe('exceptions', () => {
  const PERSON = { firstname: 'Karvol', lastname: 'Vorberg', dob: '1958-04-03' }
  async function except(key: string, hours = 48): Promise<{ id: string; expiresAt: string }> {
    const expiresAt = new Date(server.clock.now().getTime() + hours * HOUR).toISOString()
    const payload = { recordId: '1', ...PERSON, entityId: 'one-a', reason: 'Passport seen', expiresAt }
    const headers = { 'x-api-key': key }
    const response = await server.inject({ method: 'POST', url: '/v2/open-sanctions/exceptions', headers, payload })
    assert.equal(response.statusCode, 201, response.body)
    return response.json()
  }
  const screen = async (key: string, csv = FILE) => server.screen(csv, { dataset: 'list_one', key })
  const ROW = { id: '1', ...PERSON, match: 'true', score: 1, warnings: [] }

  test('silence one pair of row and entry for their tenant until they end, and are reported', async () => {
    const { key, tenantId } = await server.tenantWithKey(SANCTIONS_KEY)
    const { id, expiresAt } = await except(key)
    const { summary, results } = await screen(key)
    assert.deepEqual(results[0], {
      ...ROW,
      match: 'false',
      silenced: [{ entityId: 'one-a', score: 1, exceptionId: id, reason: 'Passport seen', expiresAt }],
    })
    assert.deepEqual(summary.matched, { count: 0, records: [] })
    assert.deepEqual((await screen(stranger.key)).results[0], ROW)
    server.clock.advance(HOUR)
    assert.deepEqual((await screen('')).results[0], ROW)
    // Another entry of the same row still matches.
    const both = 'id,name,dob\none-a,Karvol Vorberg,1958-04-03\npair,Karvol Vorberg,1958-04-03\n'
    await server.importCsv('custom_pair', both, { tenantId })
    const pair = await server.screen(FILE, { dataset: 'custom_pair', key })
    assert.deepEqual(hitsOf(pair), { 1: ['pair'] })
    assert.deepEqual(
      pair.results[0]?.silenced?.map(({ entityId }) => entityId),
      ['one-a'],
    )

    server.clock.advance(47 * HOUR)
    assert.deepEqual((await screen(key)).results[0], ROW)
  })

  test('do not apply to a person who changed, and the row says so', async () => {
    const { key } = await server.tenantWithKey(SANCTIONS_KEY)
    await except(key)
    const { summary, results } = await screen(key, `${HEADER}1,Karvol,Vorberg,1958-04-04\n`)
    assert.deepEqual(
      [results[0]?.match, results[0]?.warnings, results[0]?.silenced],
      ['true', ['STALE_EXCEPTION'], undefined],
    )
    assert.equal(summary.warnings, 1)
    assert.deepEqual((await screen(key, `${HEADER}2,Karvol,Vorberg,1958-04-03\n`)).results[0]?.warnings, [])
  })
})

/** Must be last: it puts another version of the first list into service. */
describe('versions', () => {
  const NEW_LIST = 'id,name,dob\none-c,Talvostin Quorim,\none-b,Odd Fellow,\n'

  test('an earlier version gives the same answer after a new import', async () => {
    const old = await server.screen(FILE, { dataset: 'list_one' })
    later = await server.importCsv('list_one', NEW_LIST)
    await server.look()
    const now = await server.screen(FILE, { dataset: 'list_one' })
    assert.deepEqual([now.summary.version, hitsOf(now)], [later, { 2: ['one-c'] }])
    for (let time = 0; time < 2; time++) {
      const replayed = await server.screen(FILE, { dataset: 'list_one', query: `?version=${one}` })
      assert.deepEqual(replayed, { ...old, summary: { ...old.summary, runId: replayed.summary.runId } })
    }
    assert.deepEqual(hitsOf(await server.screen(FILE, { dataset: 'list_one' })), { 2: ['one-c'] })
    const all = `?version=${encodeURIComponent(`list_one@${one}+list_two@${two}`)}`
    assert.deepEqual(await hits('default', { query: all }), { 1: ['one-a'], 2: ['two-a'] })
    assert.deepEqual(await hits('default'), { 2: ['one-c', 'two-a'] })
    const listed = (await datasets()).find(({ name }) => name === 'list_one')
    assert.deepEqual([listed?.version, listed?.versions], [later, [later, one]])
  })

  test('two files at once may ask for the same earlier version', async () => {
    const sending = { dataset: 'list_one', query: `?version=${one}` }
    const first = await server.begin({ ...sending, key: stranger.key })
    assert.deepEqual(await hits('list_one', { query: sending.query }), { 1: ['one-a'] })
    const answer = await first.end(KARVOL)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(hitsOf(answer.json<ScreenReply>()), { 1: ['one-a'] })
  })

  test('a file keeps the version that it began with, even when that is replaced and requested by others', async () => {
    const first = await server.begin({ dataset: 'list_two', key: stranger.key })
    const newer = await server.importCsv('list_two', 'id,name\ntwo-z,Karvol Vorberg\n')
    await server.look()
    assert.deepEqual(await hits('list_two', { query: `?version=${two}` }), { 2: ['two-a'] })
    const answer = await first.end(KARVOL + TALVO)
    assert.equal(answer.statusCode, 200, answer.body)
    const reply = answer.json<ScreenReply>()
    assert.deepEqual([reply.summary.version, hitsOf(reply)], [two, { 2: ['two-a'] }])
    const now = await server.screen(FILE, { dataset: 'list_two' })
    assert.deepEqual([now.summary.version, hitsOf(now)], [newer, { 1: ['two-z'] }])
  })

  test('404: an unknown version in any form', async () => {
    const wrong = ['zzz', '20200101000000-aaaaaa', '..', `../list_two/${two}`, 'a'.repeat(65), '-']
    for (const version of [...wrong, `${one}.snapshot`, `${one}+${later}`]) {
      const sending = { dataset: 'list_one', query: `?version=${encodeURIComponent(version)}` }
      const { statusCode, body } = await server.send(FILE, sending)
      assert.equal(statusCode, 404, `${version}: ${body}`)
    }
    const empty = await server.send(FILE, { dataset: 'list_one', query: '?version=' })
    assert.equal(empty.statusCode, 400)
  })

  test('404: lists the existing versions of a list and of a collection, and not the datasets', async () => {
    const ask = async (dataset: string, versions: string) => {
      const response = await server.send(FILE, { dataset, query: '?version=nope' })
      const details = [{ pointer: '/query/version', message: `must be ${versions}` }]
      assertError(response, 404, 'UNKNOWN_DATASET', 'Unknown version of the dataset', { details })
    }
    await ask('list_one', `one of ${later}, ${one}`)
    const lists = (await datasets()).filter(({ name }) => name.startsWith('list_'))
    const parts = lists.flatMap(({ name, versions }) => versions.map((version) => `${name}@${version}`))
    assert.equal(parts.length, 4)
    await ask('default', `made, with + between, of ${parts.join(', ')}`)
    const nowhere = await server.send(FILE, { dataset: 'peps', query: `?version=${one}` })
    assertUnknown(nowhere, 'default, demo, list_one, list_two', BRING_PEPS)
  })

  test('404: a version of a collection that names an unknown list or version', async () => {
    const [here, there] = [`list_one@${one}`, `list_two@${two}`]
    const wrong = [`${here}+nobody@1`, `${here}+list_two@zzz`, `${here}+list_two@.`, 'list_one@-', one, `${here}+`]
    for (const version of [...wrong, `${here}+${there}+custom_own@1`, `${here}+${here}`]) {
      const sending = { dataset: 'default', query: `?version=${encodeURIComponent(version)}` }
      const { statusCode, body } = await server.send(FILE, sending)
      assert.equal(statusCode, 404, `${version}: ${body}`)
    }
  })

  test('503: a list or a version that cannot be read, while the others keep serving', async () => {
    const broken = await server.importCsv('broken_list', 'id,name\nb-1,Karvol Vorberg\n')
    const unavailable = (response: Awaited<ReturnType<Screening['send']>>) =>
      assertError(response, 503, 'DATASET_UNAVAILABLE', 'The dataset cannot be read')
    truncateSync(server.files.pathOf({ name: 'broken_list', tenantId: null }, broken), 100)
    unavailable(await server.send(FILE, { dataset: 'broken_list' }))
    truncateSync(server.files.pathOf({ name: 'list_one', tenantId: null }, one), 100)
    assert.deepEqual(await hits('list_one'), { 2: ['one-c'] })
    unavailable(await server.send(FILE, { dataset: 'list_one', query: `?version=${one}` }))
  })
})
