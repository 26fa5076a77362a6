import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { startApi } from '../testing/running-api.ts'

const folder = temporaryFolder('runs')
const PEOPLE = `${folder}/customers.csv`
const LIST = 'id,name,dob,topics\n'
const VORBERG = 'e1,Karvol Vorberg,1958-04-03,sanction\n'
const QUORIM = 'e2,Talvostin Quorim,1961-01-09,sanction\n'
const FALK = 'e3,Ilmar Drossfalk,1970-07-07,sanction\n'
const STRANGER = 'c9,Ana,Example,1990-05-04\n'

const api = await startApi('runs')
before(async () => {
  writeFileSync(
    PEOPLE,
    `id,firstname,lastname,dob\nc1,Karvol,Vorberg,1958-04-03\nc2,Talvostin,Quorim,1961-01-09\nc3,Ilmar,Drossfalk,1970-07-07\n${STRANGER}`,
  )
  await importList(`${LIST}${VORBERG}${QUORIM}`)
})

/** Waits until the service answers from the new version. */
async function importList(csv: string): Promise<void> {
  writeFileSync(`${folder}/list.csv`, csv)
  const done = await api.cli(`datasets import people ${folder}/list.csv --licence none --format custom-csv --json`)
  assert.equal(done.code, 0, done.err)
  const { version } = JSON.parse(done.out)
  const { match } = api.client().sanctions
  const served = () => match({ dataset: 'people', people: [{ lastname: 'Example' }] }).catch(() => undefined)
  await eventually(async () => (await served())?.summary.version === version)
}

const screen = (more = '') => api.cli(`screen ${PEOPLE} --dataset people ${more}`)

test('runs are refused until the tenant keeps them, before a row is sent', async () => {
  const { code, err } = await screen('--since last')
  assert.equal(code, 1)
  assert.match(err, /keeps no runs/)
  assert.equal((await screen('--series customers')).code, 2)
  assert.equal((await api.cli('tenants settings Fjord --set screeningRunDays=400')).code, 0)
  await eventually(async () => (await screen('--keep --series trial')).code === 3)
})

test('the same command every month shows what is new, gone and changed', async () => {
  const first = await screen('--since last --series customers')
  assert.equal(first.code, 3, 'something matched')
  assert.match(first.out, /kept as run [0-9a-f-]{36}$/m)
  assert.match(first.out, /There is no earlier run/)
  const second = await screen('--since last --series customers')
  assert.equal(second.code, 0, 'nothing is new')
  assert.match(second.out, /^0 new, 0 gone, 0 changed since run [0-9a-f-]{36} of \d{4}-\d\d-\d\d \(version \S+\)$/m)

  await importList(`${LIST}${QUORIM.replace('sanction', 'sanction;role.pep')}${FALK}`)
  const third = await screen(`--since last --series customers --csv ${folder}/hits.csv`)
  assert.equal(third.code, 3)
  const [, changes = ''] = third.out.split('Since the earlier run:\n')
  assert.match(changes, /^new +c3 +1\.0000 +Ilmar Drossfalk +Ilmar Drossfalk +people e3/m)
  assert.match(changes, /^changed +c2 +1\.0000 +Talvostin Quorim +Talvostin Quorim +people e2/m)
  assert.match(changes, /^gone +c1 +1\.0000 +Karvol Vorberg +- +- +no longer a match$/m)
  assert.match(changes, /^1 new, 1 gone, 1 changed since run/m)
  const report = readFileSync(`${folder}/hits.csv`, 'utf8').split('\r\n')
  assert.match(report[0] ?? '', /,"change"$/)
  assert.deepEqual(
    report.slice(1, 3).map((line) => line.split(',').at(-1)),
    ['"changed"', '"new"'],
  )
})

test('the runs are listed, shown, compared and deleted', async () => {
  const listed = JSON.parse((await api.cli('runs list --series customers --json')).out)
  assert.equal(listed.length, 3)
  const [third, second, first] = listed
  assert.match((await api.cli('runs list')).out, /^ID +STATE +STARTED.*HITS\n.*COMPLETE.*people.*customers +4 +2$/m)
  assert.match((await api.cli(`runs show ${third.id}`)).out, /^Rows +4\nHits +2$/m)
  const compared = await api.cli(`runs compare ${third.id} --with ${second.id}`)
  assert.match(compared.out, /^new +[\w-]{22} +[\w-]{22} +- +1$/m)
  assert.match(compared.out, /^1 new, 1 gone, 1 changed: /m)
  const json = JSON.parse((await api.cli(`runs compare ${third.id} --with ${first.id} --json`)).out)
  assert.deepEqual([json.new.length, json.gone.length, json.changed.length], [1, 1, 1])
  const since = await screen(`--since ${first.id} --series customers --json`)
  const { changes, run } = JSON.parse(since.out)
  assert.equal(changes.since.id, first.id)
  assert.deepEqual(
    changes.hits.map((hit: { change: string; row: { id: string }; entityId: string | null }) => [
      ...[hit.change, hit.row.id, hit.entityId],
    ]),
    [
      ['new', 'c3', 'e3'],
      ['changed', 'c2', 'e2'],
      ['gone', 'c1', null],
    ],
  )
  for (const { id } of [...listed, run]) assert.equal((await api.cli(`runs delete ${id}`)).code, 0)
  const gone = await api.cli(`runs show ${first.id}`)
  assert.deepEqual([gone.code, /no run with this id/.test(gone.err)], [1, true])
  assert.equal((await api.cli('runs compare x')).code, 2)
})

test('a file whose sending fails leaves no run behind', async () => {
  writeFileSync(`${folder}/broken.csv`, 'id,firstname,lastname,dob\nc1,"Karvol" x,Vorberg,\n')
  assert.equal((await api.cli(`screen ${folder}/broken.csv --dataset people --keep --series broken`)).code, 1)
  assert.equal((await api.cli('runs list --series broken')).out, 'There is no run.')
})
