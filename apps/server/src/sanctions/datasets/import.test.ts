import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { INDEX_FORMAT, openSnapshot, readFacts } from '../engine/snapshot.ts'
import type { BuildProgress } from './build-main.ts'
import type { DatasetId } from './files.ts'
import { peopleCsv, setUp, tamper } from './testing/lists.ts'

const LIST: DatasetId = { name: 'staff', tenantId: null }
const TENANT = '0195f3a0-1111-7000-8000-000000000001'

test('an import creates one immutable file and puts it into service, and its facts list what was left out', async () => {
  const { importer, files, dir, write } = setUp()
  const csv = 'id,name,schema\na,Vardo Quellmar,Person\nb,Ilsabet Drohnwick,LegalEntity\nc,Quellmar Holding,Company\n'
  const path = write('people.csv', csv)
  const seen: BuildProgress[] = []
  const outcome = await importer.importList({
    dataset: LIST,
    paths: [path],
    title: 'Staff',
    licence: 'ours',
    kind: 'crime',
    onProgress: (progress) => seen.push(progress),
  })
  assert.match(outcome.version, /^20261115120000-[0-9a-f]{6}$/)
  assert.deepEqual([outcome.state, outcome.format, outcome.serving], ['imported', 'custom-csv', outcome.version])
  assert.deepEqual(readdirSync(join(dir, 'staff')).sort(), [
    `${outcome.version}.snapshot`,
    'checked.json',
    'current.json',
  ])
  assert.equal(await files.current(LIST), outcome.version)
  const facts = await readFacts(files.pathOf(LIST, outcome.version))
  assert.deepEqual(facts, outcome.facts)
  assert.deepEqual(
    [facts.dataset, facts.version, facts.title, facts.licence, facts.kind, facts.entries, facts.createdAt],
    ['staff', outcome.version, 'Staff', 'ours', 'crime', 2, '2026-11-15T12:00:00.000Z'],
  )
  assert.deepEqual(facts.skipped, { 'not a person': 1 })
  assert.deepEqual(
    facts.sources.map(({ name }) => name),
    ['people.csv'],
  )
  assert.deepEqual([...new Set(seen.map(({ stage }) => stage))], ['reading', 'indexing', 'checking'])
  const last = seen.at(-1)
  assert.deepEqual([last?.bytes, last?.totalBytes, last?.entities], [csv.length, csv.length, 3])
})

test('an identical list is not built again, but a new title or --force builds it', async () => {
  const { importer, clock, files, write } = setUp()
  const paths = [write('people.csv', peopleCsv(20))]
  const first = await importer.importList({ dataset: LIST, paths })
  clock.advance(60_000)
  const again = await importer.importList({ dataset: LIST, paths })
  assert.deepEqual([again.state, again.version], ['unchanged', first.version])
  const titled = await importer.importList({ dataset: LIST, paths, title: 'Another title' })
  assert.equal(titled.state, 'imported')
  clock.advance(60_000)
  const forced = await importer.importList({ dataset: LIST, paths, title: 'Another title', force: true })
  assert.equal(forced.state, 'imported')
  assert.equal((await files.versions(LIST)).length, 3)
})

test('a list that lost more than half of its entries is refused, unless forced', async () => {
  const { importer, clock, files, write, dir } = setUp()
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(40))] })
  clock.advance(1_000)
  const shrunk = { dataset: LIST, paths: [write('b.csv', peopleCsv(19))] }
  await assert.rejects(
    importer.importList(shrunk),
    /^Error: The new list has 19 entries, the one in service 40: refused.*--force/,
  )
  assert.equal(await files.current(LIST), first.version)
  assert.equal(readdirSync(join(dir, 'staff')).length, 3, 'nothing is left of the refused one')
  assert.equal((await importer.importList({ dataset: LIST, paths: [write('c.csv', peopleCsv(20))] })).state, 'imported')
  clock.advance(1_000)
  assert.equal((await importer.importList({ ...shrunk, force: true })).facts.entries, 19)
})

test('a list with the same entries that lost more than half of its names is refused, unless forced', async () => {
  const { importer, clock, files, write } = setUp()
  const people = ['Vardo Quellmar', 'Ilsabet Drohnwick', 'Tormund Valshaken']
  const csv = (aliases: string) =>
    `id,name,aliases\n${people.map((name, at) => `${at},${name},${aliases && `${at}th Graubart;Old ${name}`}`).join('\n')}\n`
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', csv('all'))] })
  assert.equal(first.facts.names, 9)
  clock.advance(1_000)
  const bare = { dataset: LIST, paths: [write('b.csv', csv(''))] }
  await assert.rejects(importer.importList(bare), /The new list has 3 names, the one in service 9: refused.*--force/)
  assert.equal(await files.current(LIST), first.version)
  assert.equal((await importer.importList({ ...bare, force: true })).facts.names, 3)
})

test('OFAC’s list without its file of aliases is refused, unless forced', async () => {
  const { importer, clock, files, write } = setUp()
  const row = (number: number, name: string) => `${number},"${name}","individual",-0- ${',-0- '.repeat(8)}\n`
  const dataset = { name: 'us_ofac_sdn', tenantId: null }
  const sdn = write('sdn.csv', row(1, 'QUELLMAR, Vardo') + row(2, 'DROHNWICK, Ilsabet'))
  const alt = write('alt.csv', '1,1,"aka","QUELL, Tormund",-0-\n')
  const first = await importer.importList({ dataset, paths: [sdn, alt] })
  assert.equal(first.facts.names, 3)
  clock.advance(1_000)
  const refusal = /^Error: alt\.csv is not among the files: refused, because OFAC's aliases would be missing.*--force/
  await assert.rejects(importer.importList({ dataset, paths: [sdn] }), refusal)
  assert.equal(await files.current(dataset), first.version)
  const cons = write('cons_prim.csv', row(3, 'VALSHAKEN, Tormund'))
  await assert.rejects(importer.importList({ dataset, paths: [sdn, alt, cons] }), /^Error: cons_alt\.csv is not among/)
  assert.equal((await importer.importList({ dataset, paths: [sdn], force: true })).facts.names, 2)
})

test('a list that cannot be read leaves the old version in service and no files behind', async () => {
  const { importer, clock, files, write, dir } = setUp()
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(5))] })
  clock.advance(1_000)
  const broken: [string, string, RegExp][] = [
    ['quote.csv', 'id,name\n1,"Vardo Quellmar\n', /quote\.csv, line 2: /],
    ['twice.csv', 'id,name\n1,Vardo Quellmar\n1,Ilsabet Drohnwick\n', /twice\.csv, line 3: the id was used before/],
    ['entities.ftm.json', '{"id":"a","schema":"Person","properties":{"name":["Vardo"]}}\n{"id":"b",', /line 2/],
    ['firms.ftm.json', '{"id":"a","schema":"Company","properties":{"name":["Quell"]}}\n', /Nobody is on the list/],
    ['nothing.txt', 'hello', /nothing\.txt: the format could not be detected; set it with --format/],
  ]
  for (const [name, text, message] of broken) {
    await assert.rejects(importer.importList({ dataset: LIST, paths: [write(name, text)], force: true }), message)
  }
  await assert.rejects(importer.importList({ dataset: LIST, paths: [join(dir, 'missing.csv')] }), /ENOENT/)
  const stop = AbortSignal.abort(new Error('enough'))
  const other = write('b.csv', peopleCsv(6))
  await assert.rejects(importer.importList({ dataset: LIST, paths: [other], signal: stop }))
  assert.equal(await files.current(LIST), first.version)
  assert.deepEqual(readdirSync(join(dir, 'staff')).sort(), [
    `${first.version}.snapshot`,
    'checked.json',
    'current.json',
  ])
})

test('names: only lists of tenants begin with custom_, and some names are reserved', async () => {
  const { importer, files, write } = setUp()
  const paths = [write('a.csv', peopleCsv(5))]
  const importAs = (name: string, tenantId: string | null) =>
    importer.importList({ dataset: { name, tenantId }, paths })
  await assert.rejects(importAs('custom_vip', null), /belongs to one tenant/)
  await assert.rejects(importAs('vip', TENANT), /begins with custom_/)
  await assert.rejects(importAs('tenants', null), /is taken/)
  await assert.rejects(importAs('demo', null), /is taken/)
  await assert.rejects(importAs('../x', null), /1 to 64/)
  await importAs('custom_vip', TENANT)
  await importAs('vip', null)
  assert.deepEqual(await files.names(TENANT), ['custom_vip'])
  assert.deepEqual(
    (await importer.list()).map(({ dataset, facts, versions }) => [dataset, facts?.entries, versions.length]),
    [
      [{ name: 'vip', tenantId: null }, 5, 1],
      [{ name: 'custom_vip', tenantId: TENANT }, 5, 1],
    ],
  )
  await importer.remove({ name: 'custom_vip', tenantId: TENANT })
  await assert.rejects(importer.remove({ name: 'custom_vip', tenantId: TENANT }), /There is no dataset/)
  assert.equal((await importer.list()).length, 1)
})

test('a tenant may empty its own list with --force', async () => {
  const { importer, write } = setUp()
  const dataset = { name: 'custom_vip', tenantId: TENANT }
  await importer.importList({ dataset, paths: [write('a.csv', peopleCsv(5))] })
  const empty = { dataset, paths: [write('b.csv', 'id,name\n')] }
  await assert.rejects(importer.importList(empty), /has 0 entries/)
  assert.equal((await importer.importList({ ...empty, force: true })).facts.entries, 0)
})

test('rollback puts an earlier version back, and importing the same list does not undo it', async () => {
  const { importer, clock, files, write } = setUp()
  const [one, two] = [write('a.csv', peopleCsv(10)), write('b.csv', peopleCsv(11))]
  const first = await importer.importList({ dataset: LIST, paths: [one] })
  await assert.rejects(importer.rollback(LIST), /no earlier version/)
  clock.advance(1_000)
  const second = await importer.importList({ dataset: LIST, paths: [two] })
  assert.deepEqual(await importer.rollback(LIST), { from: second.version, to: first.version })
  assert.equal(await files.current(LIST), first.version)
  const again = await importer.importList({ dataset: LIST, paths: [two] })
  assert.deepEqual([again.state, again.version, again.serving], ['unchanged', second.version, first.version])
  await assert.rejects(importer.rollback(LIST, '20200101000000-abcdef'), /There is no version .*: there are /)
  await importer.rollback(LIST, second.version)
  assert.equal(await files.current(LIST), second.version)
  tamper(files.pathOf(LIST, first.version)).flip(100)
  await assert.rejects(importer.rollback(LIST), /do not match their checksum/)
  assert.equal(await files.current(LIST), second.version, 'a broken version is not put into service')
})

test('a version that a rollback set aside stays so after a rebuild, even if its snapshot is deleted', async () => {
  const { importer, clock, files, write } = setUp()
  const [one, two, three] = [10, 11, 12].map((size) => write(`${size}.csv`, peopleCsv(size)))
  const importIt = (path = '', force = false) => importer.importList({ dataset: LIST, paths: [path], force })
  const first = await importIt(one)
  clock.advance(1_000)
  const second = await importIt(two)
  await importer.rollback(LIST)
  clock.advance(1_000)
  for (const { version } of [first, second]) {
    tamper(files.pathOf(LIST, version)).say({ format: INDEX_FORMAT - 1 })
  }
  const before = await importIt(two)
  assert.deepEqual([before.state, before.serving], ['unchanged', first.version], 'also before the rebuild')
  const rebuilt = (await importer.rebuild(LIST))?.version ?? ''
  const again = await importIt(two)
  assert.deepEqual(
    [again.state, again.version, again.serving, again.canServe],
    ['unchanged', second.version, rebuilt, false],
  )
  rmSync(files.pathOf(LIST, second.version))
  assert.deepEqual([(await importIt(two)).state, await files.current(LIST)], ['unchanged', rebuilt])
  assert.equal((await importIt(one)).serving, rebuilt, 'the list that serves is no new one')
  assert.equal((await importIt(two)).serving, rebuilt)
  clock.advance(1_000)
  const forced = await importIt(two, true)
  assert.deepEqual([forced.state, await files.current(LIST)], ['imported', forced.version])

  await importer.rollback(LIST)
  clock.advance(1_000)
  assert.equal((await importIt(three)).state, 'imported', 'a new list ends it')
  clock.advance(1_000)
  assert.equal((await importIt(two)).state, 'imported')
})

test('a rollback by an older release, which stored no digest, survives a rebuild too', async () => {
  const { importer, clock, files, write, dir } = setUp()
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(10))] })
  clock.advance(1_000)
  const paths = [write('b.csv', peopleCsv(11))]
  const second = await importer.importList({ dataset: LIST, paths })
  const stated = { version: first.version, setAside: second.version }
  writeFileSync(join(dir, 'staff/current.json'), JSON.stringify(stated))
  assert.equal((await importer.importList({ dataset: LIST, paths })).serving, first.version)
  clock.advance(1_000)
  const rebuilt = await importer.rebuild(LIST, { force: true })
  rmSync(files.pathOf(LIST, second.version))
  assert.equal((await importer.importList({ dataset: LIST, paths })).serving, rebuilt?.version)
})

test('a version that was complete when its import died is put into service by the next import', async () => {
  const { importer, clock, files, write, dir } = setUp()
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(10))] })
  clock.advance(1_000)
  const paths = [write('b.csv', peopleCsv(11))]
  const second = await importer.importList({ dataset: LIST, paths })
  writeFileSync(join(dir, 'staff/current.json'), JSON.stringify({ version: first.version }))
  const next = await importer.importList({ dataset: LIST, paths })
  assert.deepEqual([next.state, next.serving], ['unchanged', second.version])
  assert.equal(await files.current(LIST), second.version)
})

test('old versions are deleted, the one in service never is', async () => {
  const { importer, clock, files, write } = setUp(2)
  const versions: string[] = []
  for (let n = 0; n < 3; n++) {
    const outcome = await importer.importList({ dataset: LIST, paths: [write(`${n}.csv`, peopleCsv(10 + n))] })
    versions.push(outcome.version)
    clock.advance(1_000)
  }
  assert.deepEqual(await files.versions(LIST), [versions[2], versions[1]])
  await importer.rollback(LIST)
  assert.deepEqual(await files.prune(LIST, 1), [versions[2]])
  assert.deepEqual(await files.versions(LIST), [versions[1]])
})

test('a snapshot of the last release serves as it is, and a rebuild adds its prepared expansions', async () => {
  const { importer, clock, files, write } = setUp()
  const first = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(30))] })
  tamper(files.pathOf(LIST, first.version)).say({ expansions: undefined })
  assert.equal((await importer.verify(LIST)).entries, 30)
  clock.advance(1_000)
  const rebuilt = await importer.rebuild(LIST)
  assert.equal(rebuilt?.entries, 30)
  assert.ok((await openSnapshot(files.pathOf(LIST, rebuilt?.version ?? ''))).expansions)
  assert.equal(await importer.rebuild(LIST), null, 'nothing more to do')
})

test('verify finds one flipped bit in the index and in the records, and a snapshot that is cut off', async () => {
  const { importer, files, write } = setUp()
  const { version } = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(50))] })
  assert.equal((await importer.verify(LIST)).entries, 50)
  const snapshot = tamper(files.pathOf(LIST, version))
  snapshot.flip(snapshot.records.at + snapshot.records.length - 5)
  await assert.rejects(importer.verify(LIST), /The records do not match their checksum/)
  snapshot.flip(snapshot.index.at + Math.trunc(snapshot.index.length / 2))
  await assert.rejects(importer.verify(LIST, version), /The index does not match its checksum/)
  snapshot.cut(snapshot.index.at + 10)
  await assert.rejects(importer.verify(LIST), /not a complete snapshot/)
  snapshot.say({ canaries: [{ name: 'Maria Beispielfrau', entityId: 'x' }] })
  await assert.rejects(importer.verify(LIST), /not found by its own name/)
  snapshot.say({ dataset: 'another' })
  await assert.rejects(importer.verify(LIST), /belongs to another list/)
  snapshot.restore()
  await importer.verify(LIST)
})

test('a snapshot of an older index format is indexed again from its own records', async () => {
  const { importer, clock, files, write, dir } = setUp()
  const path = write('a.csv', peopleCsv(30))
  const first = await importer.importList({ dataset: LIST, paths: [path], title: 'Staff' })
  assert.equal(await importer.rebuild(LIST), null, 'nothing to do')
  tamper(files.pathOf(LIST, first.version)).say({ format: INDEX_FORMAT - 1 })
  await assert.rejects(importer.verify(LIST), /ostiary datasets rebuild/)
  rmSync(path)
  clock.advance(1_000)
  const facts = await importer.rebuild(LIST)
  assert.deepEqual(
    [facts?.format, facts?.entries, facts?.title, facts?.sources],
    [INDEX_FORMAT, 30, 'Staff', first.facts.sources],
  )
  assert.equal(await files.current(LIST), facts?.version)
  assert.equal((await importer.verify(LIST)).names, first.facts.names)

  tamper(files.pathOf(LIST, facts?.version ?? '')).flip(200)
  await assert.rejects(importer.rebuild(LIST, { force: true }), /The records do not match their checksum/)
  assert.ok(!readdirSync(join(dir, 'staff')).some((name) => name.endsWith('.tmp')))
})

test('a damaged snapshot does not count as the same list: importing it again builds it again', async () => {
  const { importer, clock, files, write } = setUp()
  const paths = [write('a.csv', peopleCsv(30))]
  const damages: ((snapshot: ReturnType<typeof tamper>) => void)[] = [
    (snapshot) => snapshot.flip(snapshot.index.at + 40),
    (snapshot) => snapshot.flip(snapshot.records.at + 40),
    (snapshot) => snapshot.cut(snapshot.index.at),
  ]
  let { version } = await importer.importList({ dataset: LIST, paths })
  for (const damage of damages) {
    damage(tamper(files.pathOf(LIST, version)))
    clock.advance(1_000)
    const again = await importer.importList({ dataset: LIST, paths })
    assert.deepEqual([again.state, again.serving], ['imported', again.version])
    assert.notEqual(again.version, version)
    await importer.verify(LIST)
    version = again.version
  }
})

test('a damaged index is rebuilt without --force, and an error says that damaged records must be imported again', async () => {
  const { importer, clock, files, write } = setUp()
  const { version } = await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(30))] })
  const snapshot = tamper(files.pathOf(LIST, version))
  clock.advance(1_000)
  snapshot.flip(snapshot.records.at + 40)
  await assert.rejects(
    importer.rebuild(LIST),
    /^Error: The records do not match their checksum: staff .* import the list/,
  )
  snapshot.cut(snapshot.index.at)
  await assert.rejects(
    importer.rebuild(LIST),
    /^Error: The file is not a complete snapshot: staff .* import the list again/,
  )
  // The offset of the last record.
  snapshot.flip(snapshot.index.at + snapshot.index.length - 2)
  const misplaced = importer.rebuild(LIST)
  await assert.rejects(misplaced, /^Error: Its records cannot be read: staff .* import the list again/)
  snapshot.flip(snapshot.index.at + 40)
  const rebuilt = await importer.rebuild(LIST)
  assert.equal(await files.current(LIST), rebuilt?.version)
  assert.equal((await importer.verify(LIST)).entries, 30)
})

test('an import deletes old drafts of killed imports, but not recent ones', async () => {
  const { importer, clock, files, write, dir } = setUp()
  await importer.importList({ dataset: LIST, paths: [write('a.csv', peopleCsv(5))] })
  const draft = await files.draftOf(LIST, '20261115120000-000000', 'left-over')
  writeFileSync(draft, 'half')
  utimesSync(draft, clock.now(), clock.now())
  clock.advance(60_000)
  await importer.importList({ dataset: LIST, paths: [write('b.csv', peopleCsv(6))] })
  assert.ok(existsSync(draft), 'somebody may be writing to it')
  clock.advance(2 * 3_600_000)
  await importer.importList({ dataset: LIST, paths: [write('c.csv', peopleCsv(7))] })
  assert.ok(!existsSync(draft))
  assert.ok(readFileSync(join(dir, 'staff/current.json'), 'utf8').includes((await files.versions(LIST))[0] ?? '?'))
})
