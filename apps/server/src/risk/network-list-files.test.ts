import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { countNetworks, createNetworkLists } from './network-list-files.ts'

function setUp(t: TestContext, files: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'ostiary-networks-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const lines: string[] = []
  const clock = createManualClock()
  const metrics = createMetrics('0', { processMetrics: false })
  const log = createLog('info', { write: (line) => void lines.push(line) })
  /** As an operator should: written beside, then renamed, so that nobody reads half a file. */
  function put(name: string, text: string): void {
    writeFileSync(join(dir, `${name}.new`), text)
    renameSync(join(dir, `${name}.new`), join(dir, name))
  }
  for (const [name, text] of Object.entries(files)) put(name, text)
  const lists = createNetworkLists({ dir, clock, log, metrics })
  return { dir, lists, clock, put, metrics, logged: () => lines.join('') }
}

test('all three files are read at the start, and each is optional', async (t) => {
  const { lists, metrics } = setUp(t, { 'tor.txt': '192.0.2.1', 'countries.csv': '192.0.2.0/24,NO' })
  await lists.load()
  assert.deepEqual(lists.find('192.0.2.1'), { tor: true, datacenter: false, country: 'NO' })
  assert.deepEqual(lists.find('198.51.100.1'), { tor: false, datacenter: false, country: null })
  assert.match(await metrics.text(), /^ostiary_network_list_networks\{list="tor"\} 1\n/m)
})

test('without a folder nothing is looked up, and nothing fails', async () => {
  const { log, metrics } = { log: createLog('fatal'), metrics: createMetrics('0', { processMetrics: false }) }
  const lists = createNetworkLists({ dir: null, clock: createManualClock(), log, metrics })
  await lists.load()
  await lists.refresh()
  assert.deepEqual(lists.find('192.0.2.1'), { tor: false, datacenter: false, country: null })
})

test('a start with a bad file, an unreadable one or no folder is refused, with file and line and without its text', async (t) => {
  const { dir, lists, put } = setUp(t, { 'tor.txt': '192.0.2.1', 'countries.csv': '192.0.2.0/24,NO\nsecret,text' })
  const line = 'line 2 is not a network, a comma and the two letters of a country'
  await assert.rejects(lists.load(), { message: `NETWORK_LISTS_DIR: countries.csv ${line}` })
  await assert.rejects(countNetworks(dir), { message: `NETWORK_LISTS_DIR: countries.csv ${line}` })
  put('countries.csv', '')
  await assert.rejects(lists.load(), { message: 'NETWORK_LISTS_DIR: countries.csv has no network in it' })
  rmSync(dir, { recursive: true })
  await assert.rejects(lists.load(), { message: 'NETWORK_LISTS_DIR: there is no such folder' })
})

test('a file that may not be read is refused like a bad one', { skip: process.getuid?.() === 0 }, async (t) => {
  const { dir, lists } = setUp(t, { 'tor.txt': '192.0.2.1' })
  chmodSync(join(dir, 'tor.txt'), 0o000)
  await assert.rejects(lists.load(), { message: 'NETWORK_LISTS_DIR: tor.txt cannot be read (EACCES)' })
})

test('a changed file counts within a minute, and a new file too', async (t) => {
  const { lists, clock, put } = setUp(t, { 'tor.txt': '192.0.2.1' })
  await lists.load()
  put('tor.txt', '192.0.2.2')
  put('datacenter.txt', '192.0.2.0/24')
  const isTor = () => ['192.0.2.1', '192.0.2.2'].map((address) => lists.find(address).tor)
  clock.advance(59_999)
  await lists.refresh()
  assert.deepEqual(isTor(), [true, false], 'the folder is looked at once a minute')
  clock.advance(1)
  assert.deepEqual(isTor(), [true, false], 'the look-up does not wait for the file')
  await lists.refresh()
  assert.deepEqual(isTor(), [false, true])
  assert.equal(lists.find('192.0.2.9').datacenter, true)
})

test('a changed file that is bad, empty or gone is not taken: the old list stays, and the log and a metric say so once', async (t) => {
  const { dir, lists, clock, put, metrics, logged } = setUp(t, { 'tor.txt': '192.0.2.1' })
  await lists.load()
  const refusals = () => logged().match(/not taken; the old one stays/g)?.length ?? 0
  const wait = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      clock.advance(60_000)
      await lists.refresh()
    }
    assert.equal(lists.find('192.0.2.1').tor, true)
    return refusals()
  }
  put('tor.txt', '192.0.2.2\n192.0.2.x\n')
  assert.equal(await wait(3), 1)
  assert.match(logged(), /"level":"error".*"detail":"tor.txt line 2 is not a network such as /)
  put('tor.txt', '')
  assert.equal(await wait(3), 2)
  rmSync(join(dir, 'tor.txt'))
  assert.equal(await wait(3), 3)
  assert.match(await metrics.text(), /^ostiary_network_list_refused_total\{list="tor"\} 3$/m)
  put('tor.txt', '192.0.2.3')
  clock.advance(60_000)
  await lists.refresh()
  assert.deepEqual([lists.find('192.0.2.1').tor, lists.find('192.0.2.3').tor, refusals()], [false, true, 3])
  assert.ok(!logged().includes('192.0.2.x'), 'no line of a list is in the log')
  assert.ok(!logged().includes(dir), 'nor a path')
})
