/** Lists that are enabled by name, and the worker that keeps them fresh. A map stands in for the publishers' web servers. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../../platform/log.ts'
import { OutboundError } from '../../platform/outbound/index.ts'
import { createEnabler } from './enable.ts'
import { publishedList } from './published.ts'
import { createRefresher } from './refresh.ts'
import { altCsv, sdnCsv, setUp, unXml } from './testing/lists.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const un = publishedList('un_sc_sanctions') ?? assert.fail()
const sdn = publishedList('us_ofac_sdn') ?? assert.fail()

function start(sources?: object[]) {
  const set = setUp()
  const logged: Record<string, unknown>[] = []
  const web = new Map<string, { etag: string; text: string }>()
  const statuses: number[] = []
  const refresher = createRefresher({
    ...set,
    sourcesFile: sources ? set.write('sources.json', JSON.stringify(sources)) : null,
    log: createLog('info', { write: (line: string) => logged.push(JSON.parse(line)) }),
    outbound: {
      async download(url, { to, headers = {} }) {
        const file = web.get(url)
        const status = file === undefined ? 404 : file.etag === headers['if-none-match'] ? 304 : 200
        statuses.push(status)
        if (!file || status !== 200) throw new OutboundError('status', { status })
        writeFileSync(to, file.text)
        return { headers: { etag: file.etag }, bytes: file.text.length }
      },
    },
  })
  const folder = join(set.folder, 'lists')
  mkdirSync(folder)
  return {
    ...set,
    ...createEnabler(set.files, refresher),
    folder,
    logged,
    web,
    statuses,
    run: () => refresher.run(set.clock.now()),
    current: (name: string) => set.files.current({ name, tenantId: null }),
    facts: async (name: string) => (await set.importer.list()).find(({ dataset }) => dataset.name === name),
    lay(name: string, text: string, ageMs = 0): void {
      writeFileSync(join(folder, name), text)
      const then = new Date(set.clock.now().getTime() - ageMs)
      utimesSync(join(folder, name), then, then)
    },
  }
}

test('a list from a folder serves at once, although its file is new, and the worker takes what changes there', async () => {
  const { find, enable, run, current, facts, folder, lay, clock } = start()
  lay('consolidated.xml', unXml(3))
  const source = await find(un, { folder })
  assert.deepEqual(source, { from: { folder, published: true }, files: ['consolidated.xml'] })
  const { version, facts: made } = await enable(un, source, {})
  assert.deepEqual([await current(un.name), made.entries, made.kind], [version, 3, 'sanctions'])
  assert.equal(await run(), 0, 'not due')
  clock.advance(5 * MINUTE)
  assert.equal(await run(), 0, 'nothing changed')
  assert.equal(await current(un.name), version)

  clock.advance(2 * DAY)
  assert.equal(await run(), 0)
  clock.advance(2 * DAY)
  assert.equal((await facts(un.name))?.stale, true, 'looked at two days ago, but nobody has filled the folder for four')
  rmSync(join(folder, 'consolidated.xml'))
  lay('UN_consolidated-2026-11.xml', unXml(4), HOUR)
  assert.equal(await run(), 1, 'under another name that is the publisher’s')
  assert.equal((await facts(un.name))?.facts?.entries, 4)
  assert.equal((await facts(un.name))?.stale, false)
})

test('a source that fails for three days makes the list stale, and a success makes it fresh; the disk has both', async () => {
  const { find, enable, run, current, facts, folder, lay, clock, logged, files } = start()
  lay('sdn.csv', sdnCsv(4))
  lay('alt.csv', altCsv)
  const { version } = await enable(sdn, await find(sdn, { folder }), {})
  rmSync(join(folder, 'alt.csv'))
  for (let hours = 0; hours < 80; hours += 8) {
    clock.advance(8 * HOUR)
    assert.equal(await run(), 0)
  }
  assert.equal(await current(sdn.name), version)
  assert.equal((await facts(sdn.name))?.stale, true)
  assert.equal(
    (await files.lastCheck({ name: sdn.name, tenantId: null }))?.at.toISOString(),
    '2026-11-15T12:00:00.000Z',
  )
  assert.match(String(logged.at(-1)?.detail), /^us_ofac_sdn: alt\.csv is not among the files: refused/)
  lay('alt.csv', altCsv, HOUR)
  clock.advance(HOUR)
  assert.equal(await run(), 0, 'the same list as before')
  assert.equal((await facts(sdn.name))?.stale, false)
})

test('from the publisher: conditional requests, all parts, and a list that shrank or broke stays out', async () => {
  const { find, enable, run, current, web, statuses, clock, facts } = start()
  const [main = '', alt = '', ...more] = sdn.urls
  web.set(main, { etag: '"1"', text: sdnCsv(10) })
  web.set(alt, { etag: '"1"', text: altCsv })
  await assert.rejects(
    enable(sdn, await find(sdn, null), {}),
    /exports\/ADD\.CSV: The other side answered with a status other than 200 \(404\)$/,
  )
  assert.deepEqual([await current(sdn.name), await run()], [null, 0], 'a list that failed has no source')
  for (const url of more) web.set(url, { etag: '"1"', text: '' })
  const { version } = await enable(sdn, await find(sdn, null), {})
  statuses.length = 0
  clock.advance(6 * HOUR)
  assert.equal(await run(), 0)
  assert.deepEqual(statuses, [304, 304, 304, 304])
  for (const [etag, text] of [
    ['"2"', sdnCsv(3)],
    ['"3"', '<html>Service unavailable</html>'],
  ] as const) {
    web.set(main, { etag, text })
    clock.advance(6 * HOUR)
    assert.equal(await run(), 0)
    assert.equal(await current(sdn.name), version)
  }
  web.set(main, { etag: '"4"', text: sdnCsv(12) })
  clock.advance(6 * HOUR)
  assert.equal(await run(), 1)
  assert.equal((await facts(sdn.name))?.facts?.entries, 12)
})

test('the operator’s file of sources wins, a removed list stays away, and a source that cannot be read hinders no other', async () => {
  const stated = { dataset: un.name, every: '1h', from: { urls: ['https://lists.example/un.xml'] } }
  const { find, enable, run, current, folder, lay, web, clock, importer, files, logged, write } = start([stated])
  lay('consolidated.xml', unXml(3))
  lay('sdn.csv', sdnCsv(4))
  lay('alt.csv', altCsv)
  await enable(un, await find(un, { folder }), {})
  await enable(sdn, await find(sdn, { folder }), {})
  web.set('https://lists.example/un.xml', { etag: '"1"', text: unXml(5) })
  clock.advance(HOUR)
  assert.equal(await run(), 1)
  assert.equal((await importer.list()).find(({ dataset }) => dataset.name === un.name)?.facts?.entries, 5)

  await importer.remove({ name: sdn.name, tenantId: null })
  clock.advance(HOUR)
  assert.equal(await run(), 0)
  assert.equal(await current(sdn.name), null)

  write('sources.json', '[{')
  await enable(sdn, await find(sdn, { folder }), {})
  await files.keepSource({ name: un.name, tenantId: null }, 'broken')
  lay('sdn.csv', sdnCsv(6), HOUR)
  clock.advance(HOUR)
  await assert.rejects(run(), /is not JSON/)
  assert.equal((await importer.list()).find(({ dataset }) => dataset.name === sdn.name)?.facts?.entries, 6)
  assert.ok(logged.some(({ msg, detail }) => detail === un.name && msg === 'the source of a dataset cannot be read'))
})

test('a list from a folder that the last release left counts from its import, until its files are written again', async () => {
  const { find, enable, run, folder, lay, clock, facts, dir } = start()
  lay('consolidated.xml', unXml(3))
  await enable(un, await find(un, { folder }), {})
  clock.advance(4 * DAY)
  await run()
  rmSync(join(dir, un.name, 'checked.json'))
  assert.equal((await facts(un.name))?.stale, true, 'all that is known is the import')
  clock.advance(MINUTE)
  await run()
  assert.equal((await facts(un.name))?.stale, true, 'nobody has filled the folder')
  lay('consolidated.xml', unXml(3), HOUR)
  clock.advance(HOUR)
  await run()
  assert.equal((await facts(un.name))?.stale, false)
})

test('files are found in a folder of the list’s name too, through links, and a list without files is refused', async () => {
  const { find, folder, lay, write } = start()
  await assert.rejects(find(un, { folder }), /has no file consolidated\.xml\. .* un_sc_sanctions or un in it$/)
  mkdirSync(join(folder, 'un'))
  lay('un/edition-7.xml', unXml(3))
  symlinkSync('edition-7.xml', join(folder, 'un/consolidated.xml'))
  assert.deepEqual(await find(un, { folder }), {
    from: { folder: join(folder, 'un'), published: true },
    files: ['consolidated.xml'],
  })
  await assert.rejects(find(un, { folder: join(folder, 'none') }), /There is no folder/)
  await assert.rejects(find(un, { folder: write('a.txt', '') }), /is a file: name the folder/)
})

test('a mirror has the publishers’ file names', async () => {
  const { find } = start()
  const url = 'https://mirror.example/lists/'
  assert.deepEqual((await find(sdn, { url })).files, [
    `${url}sdn.csv`,
    `${url}alt.csv`,
    `${url}add.csv`,
    `${url}sdn_comments.csv`,
  ])
  const peps = publishedList('peps') ?? assert.fail()
  assert.deepEqual((await find(peps, { url })).files, [`${url}peps/entities.ftm.json`])
})
