import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeList, endOfList, knownPeriodMs } from './known.ts'
import { howToGet, PUBLISHED, pickFiles, publishedList, publishedLists } from './published.ts'
import { fileNameOf } from './sources.ts'

const list = (name: string) => publishedList(name) ?? assert.fail(`There is no ${name}`)
const names = (...asked: string[]) => publishedLists(asked).map(({ name }) => name)

test('a short name stands for the lists of a publisher, and a list that is named twice comes once', () => {
  assert.deepEqual(names('ofac'), ['us_ofac_sdn', 'us_ofac_cons'])
  assert.deepEqual(names('un', 'us_ofac_cons', 'ofac'), ['us_ofac_sdn', 'us_ofac_cons', 'un_sc_sanctions'])
  assert.deepEqual(names('opensanctions'), ['sanctions', 'peps', 'crime'])
  assert.throws(() => names('ofac', 'eu'), /^Error: There is no public list "eu"\. There are ofac \(us_ofac_sdn/)
  assert.throws(() => names('ch_seco_sanctions'), /not read yet/)
})

test('the UK’s list that ended is not known any more, but keeps its kind where it is imported again', () => {
  const gb = { name: 'gb_hmt_sanctions', tenantId: null }
  assert.throws(() => names('gb_hmt_sanctions'), /ended on 2026-01-28/)
  assert.match(howToGet('gb_hmt_sanctions'), /ended on 2026-01-28/)
  assert.equal(knownPeriodMs(gb), null)
  assert.equal(describeList(gb, 'custom-csv').kind, 'sanctions')
  assert.equal(endOfList('us_ofac_sdn'), undefined)
})

test('every list has files of its own names, at https addresses that end in them', () => {
  for (const { urls, files } of PUBLISHED) {
    for (const url of urls) assert.match(url, /^https:\/\//)
    const ofUrls = urls.map((url) => fileNameOf(url)?.toLowerCase())
    assert.deepEqual(
      ofUrls,
      files.map((file) => file.split('/').at(-1)),
    )
  }
})

test('files are recognised by their publishers’ names, in any case, with a date, beside those of other lists', () => {
  const folder = [
    'README.md',
    'SDN.CSV',
    'ALT.CSV',
    'cons_prim-2026-11.csv',
    'cons_alt.csv',
    'sdn.xml',
    'consolidated.xml',
  ]
  assert.deepEqual(pickFiles(list('us_ofac_sdn'), 'lists', folder), ['SDN.CSV', 'ALT.CSV'])
  assert.deepEqual(pickFiles(list('us_ofac_cons'), 'lists', folder), ['cons_prim-2026-11.csv', 'cons_alt.csv'])
  assert.deepEqual(pickFiles(list('un_sc_sanctions'), 'lists', folder), ['consolidated.xml'])
  assert.deepEqual(pickFiles(list('un_sc_sanctions'), 'lists', ['consolidatedLegacyByPRN.xml']), [
    'consolidatedLegacyByPRN.xml',
  ])
  assert.equal(pickFiles(list('us_ofac_sdn'), 'lists', ['alt.csv', 'sdn.xml', 'sdn_comments.csv']), null)
  assert.equal(pickFiles(list('un_sc_sanctions'), 'lists', ['unconsolidated.xml', 'consolidated.csv']), null)
})

test('an edition beside the publisher’s own name does not count; of two others none is chosen', () => {
  const sdn = list('us_ofac_sdn')
  assert.deepEqual(pickFiles(sdn, 'lists', ['sdn-2026-10.csv', 'sdn.csv', 'alt.csv']), ['sdn.csv', 'alt.csv'])
  assert.throws(
    () => pickFiles(sdn, 'lists', ['sdn-2026-10.csv', 'sdn-2026-11.csv', 'alt.csv']),
    /sdn-2026-10\.csv and sdn-2026-11\.csv could be the same file/,
  )
})

test('OpenSanctions’ files all have one name, so the folder or the beginning of the name says which list it is', () => {
  const peps = list('peps')
  assert.deepEqual(pickFiles(peps, 'peps', ['index.json', 'entities.ftm.json']), ['entities.ftm.json'])
  assert.deepEqual(pickFiles(peps, 'peps', ['targets.simple.csv']), ['targets.simple.csv'])
  assert.deepEqual(pickFiles(peps, 'lists', ['peps.entities.ftm.json']), ['peps.entities.ftm.json'])
  assert.equal(pickFiles(peps, 'lists', ['entities.ftm.json', 'crime.entities.ftm.json']), null)
})
