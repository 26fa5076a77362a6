import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../../platform/log.ts'
import { OutboundError } from '../../platform/outbound/index.ts'
import { createRefresher } from './refresh.ts'
import { parseSources } from './sources.ts'
import { peopleCsv, setUp } from './testing/lists.ts'

const MINUTE = 60_000
const BASE = 'https://lists.example/'

/** A refresher on a folder of datasets, with a map in place of a web server. */
function start(sourcesIn: (folder: string) => readonly object[]) {
  const set = setUp()
  const logged: Record<string, unknown>[] = []
  const web = new Map<string, { etag: string; text: string }>()
  const asked: { url: string; etag: string | undefined; status: number }[] = []
  const refresher = createRefresher({
    dir: set.dir,
    files: set.files,
    sourcesFile: set.write('sources.json', JSON.stringify(sourcesIn(set.folder))),
    importer: set.importer,
    clock: set.clock,
    log: createLog('info', { write: (line: string) => logged.push(JSON.parse(line)) }),
    outbound: {
      async download(url, { to, headers = {} }) {
        const file = web.get(url)
        const etag = headers['if-none-match']
        const status = file === undefined ? 404 : file.etag === etag ? 304 : 200
        asked.push({ url, etag, status })
        if (!file || status !== 200) throw new OutboundError('status', { status })
        writeFileSync(to, file.text)
        return { headers: { etag: file.etag }, bytes: file.text.length }
      },
    },
  })
  return {
    ...set,
    logged,
    web,
    asked,
    run: () => refresher.run(set.clock.now()),
    sources: (...sources: object[]) => void set.write('sources.json', JSON.stringify(sources)),
    facts: async (name: string) => (await set.importer.list()).find(({ dataset }) => dataset.name === name)?.facts,
    current: (name: string) => set.files.current({ name, tenantId: null }),
    /** Writes files with a modification time of ten minutes ago. */
    lay(name: string, text: string): void {
      const path = join(set.folder, name)
      writeFileSync(path, text)
      const then = new Date(set.clock.now().getTime() - 10 * MINUTE)
      utimesSync(path, then, then)
    },
  }
}

test('a folder is read when its files changed, at most once per interval, and not while they are being written', async () => {
  const { run, current, clock, lay, folder } = start((root) => [
    { dataset: 'staff', every: '1h', from: { folder: join(root, 'lists'), files: ['people.csv'] }, licence: 'ours' },
  ])
  mkdirSync(join(folder, 'lists'))

  assert.equal(await run(), 0, 'the file is missing')
  assert.equal(await current('staff'), null)
  lay('lists/people.csv', peopleCsv(10))
  lay('lists/README.txt', 'not a list')
  clock.advance(5 * MINUTE)
  assert.equal(await run(), 1)
  const first = await current('staff')
  clock.advance(30 * MINUTE)
  lay('lists/people.csv', peopleCsv(12))
  assert.equal(await run(), 0, 'not due')
  clock.advance(30 * MINUTE)
  utimesSync(join(folder, 'lists/people.csv'), clock.now(), clock.now())
  assert.equal(await run(), 0, 'somebody is writing to it')
  clock.advance(5 * MINUTE)
  assert.equal(await run(), 1, 'looked at again at the next turn')
  assert.notEqual(await current('staff'), first)
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0, 'nothing changed')
})

test('a public list from a folder counts from the newest change of its files, an own list from the last look', async () => {
  const every = { every: '1h', licence: 'ours', format: 'custom-csv' }
  const { run, clock, lay, folder, importer } = start((root) => [
    { ...every, dataset: 'staff', from: { folder: join(root, 'own') } },
    { ...every, dataset: 'us_ofac_sdn', kind: 'sanctions', from: { folder: join(root, 'public') } },
  ])
  for (const name of ['own', 'public']) {
    mkdirSync(join(folder, name))
    lay(`${name}/people.csv`, peopleCsv(10))
  }
  assert.equal(await run(), 2)
  const checkedAt = async (name: string) => (await importer.lastCheck({ name, tenantId: null }))?.at.getTime()
  const imported = clock.now().getTime()
  clock.advance(4 * 24 * 60 * MINUTE)
  assert.equal(await run(), 0)
  assert.equal(await checkedAt('staff'), clock.now().getTime())
  assert.equal(await checkedAt('us_ofac_sdn'), imported, 'nobody has filled the folder')
  lay('public/people.csv', peopleCsv(10))
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0, 'the same list, written again')
  assert.equal(await checkedAt('us_ofac_sdn'), clock.now().getTime())
})

test('URLs are fetched with the validators of the last answer, and all parts are imported when one changed', async () => {
  const { run, current, web, asked, clock, dir } = start(() => [
    { dataset: 'staff', every: '6h', format: 'custom-csv', from: { urls: [`${BASE}a.csv`, `${BASE}b.csv`] } },
    { dataset: 'single', every: '6h', from: { urls: [`${BASE}c.csv`] } },
  ])
  web.set(`${BASE}a.csv`, { etag: '"a1"', text: peopleCsv(10) })
  web.set(`${BASE}b.csv`, { etag: '"b1"', text: peopleCsv(10, 50).replaceAll('p-', 'q-') })
  web.set(`${BASE}c.csv`, { etag: '"c1"', text: peopleCsv(10) })
  assert.equal(await run(), 2)
  const first = await current('staff')
  assert.ok(!existsSync(join(dir, '.refresh/single')), 'a single file need not be kept')
  assert.deepEqual(readdirSync(join(dir, '.refresh/staff')).sort(), ['a.csv', 'b.csv'])

  clock.advance(6 * 60 * MINUTE)
  asked.length = 0
  assert.equal(await run(), 0)
  assert.deepEqual(
    asked.map(({ etag, status }) => [etag, status]),
    [
      ['"a1"', 304],
      ['"b1"', 304],
      ['"c1"', 304],
    ],
  )
  clock.advance(6 * 60 * MINUTE)
  web.set(`${BASE}b.csv`, { etag: '"b2"', text: peopleCsv(11, 50).replaceAll('p-', 'q-') })
  assert.equal(await run(), 1)
  assert.notEqual(await current('staff'), first)
  assert.ok((await current('single')) !== null)
})

test('a worker that takes over from the last release confirms a list from a URL at its first turn', async () => {
  const url = 'https://lists.example/people.csv'
  const { run, clock, web, dir, importer } = start(() => [
    { dataset: 'us_ofac_sdn', every: '24h', format: 'custom-csv', licence: 'ours', from: { urls: [url] } },
  ])
  web.set(url, { etag: '"1"', text: peopleCsv(10) })
  assert.equal(await run(), 1)
  rmSync(join(dir, 'us_ofac_sdn', 'checked.json'))
  clock.advance(5 * MINUTE)
  assert.equal(await run(), 0, 'not due, but nothing says when the source was last asked')
  const checked = await importer.lastCheck({ name: 'us_ofac_sdn', tenantId: null })
  assert.equal(checked?.at.getTime(), clock.now().getTime())
})

test('a failing source keeps the old version, is logged without content of the list, and is retried less and less often', async () => {
  const { run, current, web, asked, clock, logged } = start(() => [
    { dataset: 'staff', every: '1h', from: { urls: [`${BASE}a.csv`] } },
  ])
  web.set(`${BASE}a.csv`, { etag: '"1"', text: peopleCsv(40) })
  assert.equal(await run(), 1)
  const first = await current('staff')
  web.set(`${BASE}a.csv`, { etag: '"2"', text: peopleCsv(3) })
  asked.length = 0
  for (let minute = 0; minute < 240; minute += 5) {
    clock.advance(5 * MINUTE)
    assert.equal(await run(), 0)
  }
  assert.equal(await current('staff'), first)
  // Runs at 60 minutes, then 5, 10, 20, 40 and 60 minutes after the previous failure.
  assert.equal(asked.length, 6)
  const failure = logged.find(({ msg }) => msg === 'dataset not refreshed, the old version stays in service')
  assert.match(String(failure?.detail), /^staff: The new list has 3 entries, the one in service 40: refused/)
  web.set(`${BASE}a.csv`, { etag: '"3"', text: peopleCsv(41) })
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 1)
})

test('a list that was removed, or whose source has other settings, is imported although its files are the same', async () => {
  const single = { dataset: 'single', every: '1h', from: { urls: [`${BASE}c.csv`] } }
  const { run, current, facts, sources, web, clock, lay, folder, importer } = start((root) => [
    { dataset: 'staff', every: '1h', from: { folder: join(root, 'lists') } },
    single,
  ])
  const staff = { dataset: 'staff', every: '1h', from: { folder: join(folder, 'lists') } }
  mkdirSync(join(folder, 'lists'))
  lay('lists/people.csv', peopleCsv(10))
  web.set(`${BASE}c.csv`, { etag: '"c1"', text: peopleCsv(10) })
  web.set(`${BASE}d.csv`, { etag: '"c1"', text: peopleCsv(11) })
  const nextHour = () => {
    clock.advance(60 * MINUTE)
    return run()
  }
  assert.equal(await run(), 2)
  assert.equal(await nextHour(), 0)

  sources({ ...staff, title: 'Our staff', kind: 'crime' }, { ...single, licence: 'bought' })
  assert.equal(await nextHour(), 2)
  assert.deepEqual([(await facts('staff'))?.title, (await facts('staff'))?.kind], ['Our staff', 'crime'])
  assert.equal((await facts('single'))?.licence, 'bought')
  sources(
    { ...staff, title: 'Our staff', kind: 'crime', every: '30m' },
    { ...single, from: { urls: [`${BASE}d.csv`] } },
  )
  assert.equal(await nextHour(), 1, 'how often it is looked at is nothing about the list')
  assert.equal((await facts('single'))?.entries, 11)

  await importer.remove({ name: 'staff', tenantId: null })
  await importer.remove({ name: 'single', tenantId: null })
  assert.equal(await nextHour(), 2)
  assert.ok((await current('staff')) !== null && (await current('single')) !== null)
  assert.equal(await nextHour(), 0)
})

test('changed settings of a failing source are kept, and a state file of an older release causes no import', async () => {
  const { run, current, facts, sources, clock, lay, folder, dir } = start((root) => [
    { dataset: 'staff', every: '1h', from: { folder: join(root, 'lists') } },
  ])
  const staff = { dataset: 'staff', every: '1h', from: { folder: join(folder, 'lists') } }
  mkdirSync(join(folder, 'lists'))
  lay('lists/people.csv', peopleCsv(10))
  assert.equal(await run(), 1)
  const first = await current('staff')
  const path = join(dir, '.refresh/staff.json')
  const { settings, ...older } = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify(older))
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0)
  assert.equal(await current('staff'), first)
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).settings, settings)

  sources({ ...staff, format: 'un-xml', title: 'Our staff' })
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0, 'it is no XML')
  assert.equal(await current('staff'), first)
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0, 'nor at the next turn')
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).failures, 2)
  sources({ ...staff, title: 'Our staff' })
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 1)
  assert.equal((await facts('staff'))?.title, 'Our staff')
})

test('OFAC’s files without the aliases are not imported, and the log says what is missing', async () => {
  const { run, current, clock, lay, folder, logged } = start((root) => [
    { dataset: 'us_ofac_sdn', format: 'ofac', every: '1h', from: { folder: join(root, 'ofac') } },
  ])
  mkdirSync(join(folder, 'ofac'))
  lay('ofac/sdn.csv', `1,"QUELLMAR, Vardo","individual",-0- ${',-0- '.repeat(8)}\n`)
  lay('ofac/alt.csv', '1,1,"aka","QUELL, Tormund",-0-\n')
  assert.equal(await run(), 1)
  const first = await current('us_ofac_sdn')
  rmSync(join(folder, 'ofac/alt.csv'))
  clock.advance(60 * MINUTE)
  assert.equal(await run(), 0)
  assert.equal(await current('us_ofac_sdn'), first)
  assert.match(String(logged.at(-1)?.detail), /^us_ofac_sdn: alt\.csv is not among the files: refused/)
})

test('without a sources file the job does nothing, and with an invalid one it fails', async () => {
  const { dir, files, importer, clock, write } = setUp()
  const log = createLog('fatal')
  const outbound = { download: () => Promise.reject(new Error('never')) }
  const none = createRefresher({ dir, files, sourcesFile: null, importer, outbound, clock, log })
  assert.equal(await none.run(clock.now()), 0)
  const wrong = createRefresher({ dir, files, sourcesFile: write('s.json', '[{}]'), importer, outbound, clock, log })
  await assert.rejects(wrong.run(clock.now()), /The file of sources is not valid/)
})

test('an error names the problem of a sources file', () => {
  const from = { folder: '/lists' }
  const parse = (...sources: object[]) => parseSources(JSON.stringify(sources))
  assert.throws(() => parseSources('[{'), /is not JSON/)
  assert.throws(() => parse({ dataset: 'staff', from }), /is not valid at \/0: must have required properties every/)
  assert.throws(() => parse({ dataset: 'staff', every: '6 hours', from }), /not valid at \/0\/every/)
  assert.throws(() => parse({ dataset: 'staff', every: '1m', from }), /5m or more/)
  assert.throws(() => parse({ dataset: 'demo', every: '6h', from }), /is taken/)
  assert.throws(() => parse({ dataset: 'custom_a', every: '6h', from }), /belongs to one tenant/)
  assert.throws(() => parse({ dataset: 'staff', every: '6h', from: { folder: 'lists' } }), /an absolute path/)
  assert.throws(() => parse({ dataset: 'staff', every: '6h', from: { urls: ['http://x.example/a.csv'] } }), /not valid/)
  assert.throws(() => parse({ dataset: 'staff', every: '6h', from: { urls: ['https://x.example/'] } }), /file name/)
  const twice = { dataset: 'staff', every: '6h', from }
  assert.throws(() => parse(twice, twice), /names staff twice/)
  assert.deepEqual(parse({ ...twice, every: '2d', kind: 'peps' })[0]?.everyMs, 2 * 86_400_000)
})
