/** `ostiary datasets enable` with folders. Web servers, the API and the worker: first-day.api.test.ts. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { runQuietly } from './testing/run-quietly.ts'

const folder = temporaryFolder('cli-enable')

/** Sets neither a database nor a master key: commands on lists need neither. */
async function cli(line: string, dir: string) {
  const progress: string[] = []
  const args = line.replaceAll(' @', ` ${folder}/`).split(' ')
  const env = { SANCTIONS_DIR: join(folder, dir) }
  return { ...(await runQuietly(args, env, { progress: (text) => progress.push(text) })), progress }
}

function lay(name: string, text: string): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const row = (number: number, name: string) => `${number},"${name}","individual","DEMO"${',-0- '.repeat(8)}\n`
const person = (id: string, name: string) =>
  `${JSON.stringify({ id, schema: 'Person', properties: { name: [name] } })}\n`
const UN = `<?xml version="1.0"?><CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>Ilsabet</FIRST_NAME><SECOND_NAME>Drohnwick</SECOND_NAME></INDIVIDUAL></INDIVIDUALS></CONSOLIDATED_LIST>`

test('public lists from a folder: licence, source and result of each, and "list" shows them', async () => {
  lay('all/SDN.CSV', row(1, 'QUELLMAR, Vardo') + row(2, 'DROHNWICK, Ilsabet'))
  lay('all/ALT.CSV', '1,1,"aka","QUELL, Vardo",-0-\n')
  lay('all/cons_prim.csv', row(3, 'VALSHAKEN, Tormund'))
  lay('all/cons_alt.csv', '3,1,"aka","VALSHAK, Tormund",-0-\n')
  lay('all/un/consolidated.xml', UN)
  const { code, out, err, progress } = await cli('datasets enable ofac un --from @all', 'one')
  assert.equal(code, 0, err)
  assert.equal(err, '')
  const version = '\\d{14}-[0-9a-f]{6}'
  const expected = [
    'us_ofac_sdn: OFAC Specially Designated Nationals',
    '  publisher: US Treasury, Office of Foreign Assets Control',
    '  licence: US government work, public domain',
    `  source: ${folder}/all: SDN\\.CSV, ALT\\.CSV`,
    `  version ${version} serves, 2 entries with 3 names`,
    'us_ofac_cons: OFAC Consolidated \\(non-SDN\\) list',
    '  publisher: US Treasury, Office of Foreign Assets Control',
    '  licence: US government work, public domain',
    `  source: ${folder}/all: cons_prim\\.csv, cons_alt\\.csv`,
    `  version ${version} serves, 1 entries with 2 names`,
    'un_sc_sanctions: UN Security Council Consolidated List',
    '  publisher: United Nations Security Council',
    '  licence: UN public list, terms of use of un\\.org',
    `  source: ${folder}/all/un: consolidated\\.xml`,
    `  version ${version} serves, 1 entries with 1 names`,
    'The worker looks for changes from now on; .*',
  ]
  assert.match(out, new RegExp(`^${expected.join('\\n')}$`))
  assert.match(progress.join('\n'), /^us_ofac_sdn █{24} 100 %/m)

  const again = JSON.parse((await cli('datasets enable un_sc_sanctions --from @all --json', 'one')).out)
  assert.deepEqual(
    again.lists.map(({ dataset, state, entries, source }: Record<string, unknown>) => [
      dataset,
      state,
      entries,
      source,
    ]),
    [['un_sc_sanctions', 'unchanged', 1, { folder: join(folder, 'all/un'), published: true }]],
  )
  const listed = await cli('datasets list', 'one')
  assert.match(
    listed.out,
    /^un_sc_sanctions +1 .* UN public list, terms of use of un\.org +\d{4}-\d\d-\d\d \d\d:\d\d$/m,
  )
  assert.match((await cli('datasets remove us_ofac_cons', 'one')).out, /removed/)
  assert.ok(!existsSync(join(folder, 'one/us_ofac_cons')), 'its source is gone with it')
})

test('one list that fails takes no other with it; what serves goes on serving, and the exit code is 1', async () => {
  lay('some/sdn.csv', Array.from({ length: 10 }, (_, at) => row(at + 1, `QUELL${'ABCDEFGHIJ'[at]}R, Vardo`)).join(''))
  lay('some/alt.csv', '1,1,"aka","QUELLMAR, Vardo",-0-\n')
  lay('some/consolidated.xml', UN)
  const first = await cli('datasets enable us_ofac_sdn un --from @some', 'two')
  assert.equal(first.code, 0, first.err)
  const served = async () =>
    JSON.parse((await cli('datasets list --json', 'two')).out).map(({ current }: { current: string }) => current)
  const before = await served()

  lay('some/sdn.csv', row(1, 'QUELLMAR, Vardo'))
  lay('some/consolidated.xml', UN.replace('Drohnwick', 'Drohnwig'))
  const second = await cli('datasets enable ofac un --from @some', 'two')
  assert.equal(second.code, 1)
  const [un, sdn] = before
  assert.match(
    second.err,
    new RegExp(
      `^us_ofac_sdn: not imported\\. The new list has 1 entries, .*--force\\. ${sdn} stays in service\\.$`,
      'm',
    ),
  )
  assert.match(
    second.err,
    /^us_ofac_cons: not imported\. .*\/some has no file cons_prim\.csv\. .* It is not in service\.$/m,
  )
  assert.match(
    second.err,
    new RegExp(
      `^2 of 3 lists were not imported\\. .*: ostiary datasets enable us_ofac_sdn us_ofac_cons --from ${folder}/some$`,
      'm',
    ),
  )
  const now = await served()
  assert.equal(now[1], sdn)
  assert.notEqual(now[0], un, 'the third got its turn')

  lay('some/consolidated.xml', '<html>Service unavailable</html>')
  const wrong = await cli('datasets enable un --from @some --json', 'two')
  assert.equal(wrong.code, 1)
  assert.deepEqual(JSON.parse(wrong.out).lists[0].state, 'failed')
  assert.equal((await served())[0], now[0])
  const forced = await cli('datasets enable us_ofac_sdn --from @some --force', 'two')
  assert.equal(forced.code, 0, forced.err)
})

test('OpenSanctions’ lists need a licence, or the word that none is needed; it is recorded', async () => {
  for (const name of ['sanctions', 'peps', 'crime']) lay(`os/${name}/entities.ftm.json`, person(name, 'Vardo Quellmar'))
  const bare = await cli('datasets enable opensanctions --from @os', 'three')
  assert.equal(bare.code, 2)
  assert.match(
    bare.err,
    /^sanctions, peps, crime: OpenSanctions’ data is CC BY-NC, .* --licence, or say --non-commercial$/m,
  )
  assert.ok(!existsSync(join(folder, 'three')), 'nothing was done')
  const free = await cli('datasets enable peps --from @os --non-commercial', 'three')
  assert.equal(free.code, 0, free.err)
  assert.match(free.out, /licence: OpenSanctions, CC BY-NC 4\.0: commercial use needs a licence of theirs/)
  const bought = await cli('datasets enable opensanctions --from @os --licence contract-7 --json', 'three')
  assert.equal(bought.code, 0, bought.err)
  assert.deepEqual(
    JSON.parse(bought.out).lists.map(({ dataset, licence }: Record<string, string>) => [dataset, licence]),
    ['sanctions', 'peps', 'crime'].map((name) => [name, 'contract-7']),
  )
})

test('what is refused before anything is done', async () => {
  const refused: [string, number, RegExp][] = [
    ['', 2, /^Name the lists: ofac, un, opensanctions/],
    [' eu', 2, /^There is no public list "eu"\. There are ofac \(us_ofac_sdn, us_ofac_cons\), un/],
    [' gb_hmt_sanctions', 2, /ended on 2026-01-28/],
    [' eu_fsf', 2, /not read yet/],
    [' ofac --licence x', 2, /are for the lists of OpenSanctions$/m],
    [' peps --licence x --non-commercial', 2, /not both/],
    [' un --from http://lists.example/', 2, /^--from must be a folder or an https address/],
    [' un --from ftp://lists.example/', 2, /^--from must be a folder or an https address/],
    [' un --from https://user:pw@lists.example/', 2, /^--from must be a plain address/],
    [' un --from https://lists.example/?key=1', 2, /^--from must be a plain address/],
    [' ofac un --from @none', 1, /^Failed: There is no folder \S+none$/],
    [' un --from @all/SDN.CSV', 1, /^Failed: \S+SDN\.CSV is a file: name the folder that it is in$/],
  ]
  for (const [line, code, message] of refused) {
    const result = await cli(`datasets enable${line}`, 'four')
    assert.deepEqual([result.code, result.out], [code, ''], line)
    assert.match(result.err, message)
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name === 'four'),
    [],
  )
})

test('the list that the UK ended can still be imported, keeps its kind, and the command says that it ended', async () => {
  lay('gb.csv', 'id,name\n1,Vardo Quellmar\n')
  const imported = await cli('datasets import gb_hmt_sanctions @gb.csv', 'five')
  assert.equal(imported.code, 0)
  assert.match(imported.err, /ended on 2026-01-28: the UK Sanctions List .* has taken its place\. Nobody updates/)
  const [listed] = JSON.parse((await cli('datasets list --json', 'five')).out)
  assert.deepEqual([listed.facts.kind, listed.stale], ['sanctions', false])
})
