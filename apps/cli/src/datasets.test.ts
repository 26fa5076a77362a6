import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { runQuietly } from './testing/run-quietly.ts'

const folder = temporaryFolder('cli-datasets')
const TENANT = '0195f3a0-1111-7000-8000-000000000001'

/** Sets neither a database nor a master key: commands on lists need neither. */
async function cli(line: string, dir = 'lists') {
  const progress: string[] = []
  const args = line.replaceAll('@', `${folder}/`).split(' ')
  const env = { SANCTIONS_DIR: join(folder, dir), SANCTIONS_KEEP_VERSIONS: '2' }
  return { ...(await runQuietly(args, env, { progress: (text) => progress.push(text) })), progress }
}

function write(name: string, text: string): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const person = (id: string, name: string) =>
  `${JSON.stringify({ id, schema: 'Person', properties: { name: [name] } })}\n`

test('datasets: import, list, verify, roll back, remove', async () => {
  write('one.csv', 'id,name\n1,Vardo Quellmar\n2,Ilsabet Drohnwick\n')
  write('two.csv', 'id,name\n1,Vardo Quellmar\n2,Ilsabet Drohnwick\n3,Tormund Valshaken\n')
  assert.match((await cli('datasets list')).out, /^There is no list yet/)
  const imported = await cli('datasets import staff @one.csv --licence ours --kind crime')
  assert.equal(imported.code, 0, imported.err)
  assert.match(imported.out, /^staff: version \d{14}-[0-9a-f]{6} serves, 2 entries with 2 names$/)
  assert.match(imported.progress.join('\n'), /^staff █{24} 100 % {2}2 entries, checking it$/m)
  assert.equal(imported.progress.at(-1), '', 'the line of the progress bar is ended')
  const again = await cli('datasets import staff @one.csv --licence ours --kind crime')
  assert.match(again.out, /^staff: nothing to do, the same list already serves as /)

  const second = JSON.parse((await cli('datasets import staff @two.csv --licence ours --kind crime --json')).out)
  assert.deepEqual(
    [second.dataset, second.state, second.entries, second.format],
    ['staff', 'imported', 3, 'custom-csv'],
  )
  assert.match(
    (await cli('datasets verify staff')).out,
    /is intact: 3 entries; 3 sample names found their own entries$/,
  )
  assert.match((await cli('datasets list')).out, /staff +3 +\d{14}-\w{6} +\d+\.\d MB +2 +crime +ours/)

  const back = JSON.parse((await cli('datasets rollback staff --json')).out)
  assert.equal(back.from, second.version)
  assert.match((await cli(`datasets verify staff --version ${back.to}`)).out, /2 entries/)
  const held = await cli('datasets import staff @two.csv --licence ours --kind crime')
  assert.match(
    held.out,
    new RegExp(`but a rollback put ${back.to} into service.\\nTo put it .* --to ${second.version}$`),
  )
  assert.match((await cli(`datasets rollback staff --to ${second.version}`)).out, /now serves instead of/)
  assert.match((await cli('datasets rebuild --all')).out, /^staff: nothing to do$/)
  assert.match((await cli('datasets rebuild staff --force')).out, /^staff: index rebuilt as /)
  assert.match((await cli('datasets remove staff')).out, /removed with all its versions/)
  assert.deepEqual(readdirSync(join(folder, 'lists')), [])
})

test('datasets: known lists need no title; OpenSanctions’ licence is pointed out; deltas are applied', async () => {
  const row = (number: number, name: string) => `${number},"${name}","individual",-0- ${',-0- '.repeat(8)}\n`
  write('ofac/sdn.csv', row(1, 'QUELLMAR, Vardo') + row(2, 'DROHNWICK, Ilsabet'))
  const bare = await cli('datasets import us_ofac_sdn @ofac/sdn.csv', 'known')
  assert.equal(bare.code, 1)
  assert.match(bare.err, /^Failed: alt\.csv is not among the files: refused, .* --force$/m)
  write('ofac/alt.csv', '1,1,"aka","QUELL, Vardo",-0-\n')
  const ofac = await cli('datasets import us_ofac_sdn @ofac/sdn.csv @ofac/alt.csv', 'known')
  assert.equal(ofac.code, 0, ofac.err)
  assert.equal(ofac.err, '')
  const [listed] = JSON.parse((await cli('datasets list --json', 'known')).out)
  assert.deepEqual(
    [listed.facts.title, listed.facts.licence, listed.facts.kind],
    ['OFAC Specially Designated Nationals', 'US government work, public domain', 'sanctions'],
  )

  const [since, next] = ['20261101000000-aaa', '20261102000000-bbb']
  write('os/entities.ftm.json', person('a', 'Vardo Quellmar') + person('b', 'Ilsabet Drohnwick'))
  write('os/delta/delta.json', JSON.stringify({ versions: { [since]: 'x', [next]: 'y' } }))
  const added = { op: 'ADD', entity: { id: 'c', schema: 'Person', properties: { name: ['Tormund Valshaken'] } } }
  write(`os/delta/${next}/entities.delta.json`, `${JSON.stringify(added)}\n`)
  const whole = await cli(`datasets import peps @os/entities.ftm.json --deltas @os/delta --since ${since}`, 'known')
  assert.equal(whole.code, 0, whole.err)
  assert.match(whole.out, /3 entries/)
  assert.match(whole.err, /CC BY-NC: commercial use needs a licence/)
  const licensed = await cli('datasets import peps @os/entities.ftm.json --licence bought', 'known')
  assert.equal(licensed.err, '')
})

test('datasets: a tenant’s own list, and what is refused', async () => {
  write('one.csv', 'id,name\n1,Vardo Quellmar\n2,Ilsabet Drohnwick\n')
  const own = await cli(`datasets import custom_vip @one.csv --tenant ${TENANT}`, 'own')
  assert.equal(own.code, 0, own.err)
  assert.match((await cli('datasets list', 'own')).out, new RegExp(`custom_vip \\(${TENANT}\\) +2 `))
  const refused: [string, RegExp][] = [
    ['import', /^Name the dataset/],
    ['import staff', /^Name the files of the list/],
    ['import staff @one.csv --format csv', /^--format must be one of ftm, simple-csv/],
    ['import staff @one.csv --kind bad', /^--kind must be one of sanctions, peps, crime, other/],
    ['import Staff @one.csv', /^The name of a dataset has/],
    ['import demo @one.csv', /^The name demo is taken/],
    ['import custom_vip @one.csv', /belongs to one tenant/],
    [`import vip @one.csv --tenant ${TENANT}`, /begins with custom_/],
    ['import custom_vip @one.csv --tenant Fjord', /^--tenant must be the id of a tenant/],
    ['import staff @one.csv --deltas @x', /^Give --deltas and --since together/],
    ['rebuild', /^Name the dataset, or say --all/],
  ]
  for (const [line, message] of refused) {
    const { code, err } = await cli(`datasets ${line}`, 'own')
    assert.equal(code, 2, line)
    assert.match(err, message)
  }
  write('shrunk.csv', 'id,name\n')
  const shrunk = await cli(`datasets import custom_vip @shrunk.csv --tenant ${TENANT}`, 'own')
  assert.deepEqual([shrunk.code, shrunk.out], [1, ''])
  assert.match(shrunk.err, /^Failed: The new list has 0 entries, the one in service 2: refused/)
  for (const line of ['verify staff', 'rollback staff', 'rebuild staff', 'remove staff', 'import staff @none.csv']) {
    const { code, err } = await cli(`datasets ${line}`, 'own')
    assert.equal(code, 1, line)
    assert.match(err, /^Failed: (There is no|ENOENT)/)
  }
  const wrong = await runQuietly(['datasets', 'list'], { SANCTIONS_KEEP_VERSIONS: 'many' })
  assert.equal(wrong.code, 1)
})
