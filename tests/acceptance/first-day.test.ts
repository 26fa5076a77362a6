/**
 * The first day of an installation: an empty folder of datasets, a real API, the command that its 404 names, a screening with a hit. It has an
 * installation of its own, because only a fresh one has no lists.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient, type OstiaryClient, OstiaryError } from '@ostiary/sdk'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { eventually } from '@ostiary/testkit/eventually'
import { COMPILED, ROOT, type Started, startApi, startServices } from '@ostiary/testkit/run'

const CLI = `${ROOT}apps/cli/src/main.ts`
const DATA = join(process.env.OSTIARY_DATA ?? join(ROOT, '../shared/data'), 'sanctions')
const HEADER = 'id,firstname,lastname,dob\n'

interface Finished {
  code: number
  out: string
  err: string
}

function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Finished> {
  const options = { env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env }, timeout: 180_000 }
  return new Promise((resolve) => {
    execFile(program, args, options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

interface Installation {
  api: Started
  env: Record<string, string>
  key: string
  sanctions: OstiaryClient['sanctions']
  /** A folder for the publishers' files. */
  lists: string
  ostiary(...args: string[]): Promise<Finished>
  stop(): Promise<void>
}

async function install(name: string): Promise<Installation> {
  const database = await createDatabase(startServices(), 'first_day')
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-first-day-'))
  const lists = join(folder, 'lists')
  mkdirSync(lists)
  const env = { ...testSettings(database.url), SANCTIONS_DIR: join(folder, 'datasets') }
  const api = await startApi({ env, logName: name })
  const ostiary = (...args: string[]) => run(process.execPath, [CLI, ...args], env)
  const tenant = JSON.parse((await ostiary('tenants', 'create', 'First day', '--json')).out)
  const made = await ostiary('keys', 'create', '--tenant', tenant.id, '--live', '--plan', 'plus', '--json')
  const key: string = JSON.parse(made.out).api_key
  return {
    api,
    env,
    key,
    sanctions: createClient({ baseUrl: api.url, apiKey: key }).sanctions,
    lists,
    ostiary,
    async stop() {
      await api.stop()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The answer once the API has taken the list over, which it does within seconds. */
async function screen({ sanctions }: Installation, dataset: string, rows: string) {
  await eventually(async () => (await sanctions.datasets()).some(({ name }) => name === dataset), dataset)
  return sanctions.screen({ dataset, file: `${HEADER}${rows}` })
}

describe('with invented files in the publishers’ formats', () => {
  let here: Installation
  before(async () => {
    here = await install('first-day')
    const row = (number: number, name: string, remarks: string) =>
      `${number},"${name}","individual","DEMO"${',-0- '.repeat(7)},"${remarks}"\r\n`
    const file = (name: string, text: string) => writeFileSync(join(here.lists, name), text)
    file('SDN.CSV', `${row(101, 'QUELLMAR, Vardo', 'DOB 17 Apr 1961.')}${row(102, 'DROHNWICK, Ilsabet', '-0- ')}\x1a`)
    file('ALT.CSV', '101,1,"aka","ZUNDERBACH, Tormund",-0- \r\n\x1a')
    file('cons_prim.csv', `${row(201, 'OSTRIFEL, Karvol', 'DOB 1970.')}\x1a`)
    file('cons_alt.csv', '201,1,"aka","OSTERFELL, Karvol",-0- \r\n\x1a')
    file(
      'consolidated.xml',
      '<?xml version="1.0" encoding="UTF-8"?><CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL><DATAID>7001</DATAID><FIRST_NAME>Jexa</FIRST_NAME>' +
        '<SECOND_NAME>Penhazzard</SECOND_NAME><INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1972-02-03</DATE></INDIVIDUAL_DATE_OF_BIRTH>' +
        '</INDIVIDUAL></INDIVIDUALS></CONSOLIDATED_LIST>',
    )
  })
  after(() => here.stop())

  test('the 404 names the command, the command brings the lists, and the next screening has a hit', async () => {
    const commands: string[] = []
    for (const dataset of ['us_ofac_sdn', 'un_sc_sanctions', 'sanctions']) {
      const refused = await here.sanctions
        .screen({ dataset, file: `${HEADER}1,Vardo,Quellmar,\n` })
        .catch((error) => error)
      assert.ok(refused instanceof OstiaryError)
      assert.deepEqual([refused.status, refused.code], [404, 'UNKNOWN_DATASET'])
      const way = refused.details.map(({ message }) => message).join(' ')
      commands.push(/"ostiary ([^"]+)"/.exec(way)?.[1] ?? assert.fail(way))
    }
    assert.deepEqual(commands, ['datasets enable ofac', 'datasets enable un', 'datasets enable ofac un'])

    const words = commands.at(-1)?.split(' ') ?? []
    const { code, out, err } = await here.ostiary(...words, '--from', here.lists)
    assert.equal(code, 0, err)
    for (const said of [
      'licence: US government work, public domain',
      'licence: UN public list',
      `source: ${here.lists}`,
    ])
      assert.ok(out.includes(said), out)

    const people =
      'a,Tormund,Zunderbach,1961-04-17\nb,Karvol,Osterfell,1970\nc,Jexa,Penhazzard,1972-02-03\nd,Maria,Beispielfrau,\n'
    await screen(here, 'us_ofac_cons', 'x,Maria,Beispielfrau,\n')
    const { summary, results } = await screen(here, 'sanctions', people)
    assert.deepEqual(
      summary.matched.records.map(({ id, matches }) => [id, matches[0]?.dataset, matches[0]?.entityId]),
      [
        ['a', 'us_ofac_sdn', 'ofac-101'],
        ['b', 'us_ofac_cons', 'ofac-201'],
        ['c', 'un_sc_sanctions', 'un-7001'],
      ],
    )
    assert.deepEqual([results.at(-1)?.match, summary.stale], ['false', false])
    const metrics = await (await fetch(`${here.api.adminUrl}/metrics`)).text()
    assert.match(metrics, /^ostiary_sanctions_list_stale\{dataset="us_ofac_sdn"\} 0$/m)
  })
})

test('the commands that the document shows work as they are written', async () => {
  const here = await install('first-day-document')
  try {
    const document = readFileSync(`${ROOT}docs/api/sanctions.md`, 'utf8')
    const [, block = ''] = /\*\*From nothing to a hit.*?```sh\n(.*?)```/s.exec(document) ?? []
    const script = block
      .replaceAll('npm run -s ostiary --', `"${process.execPath}" "${CLI}"`)
      .replaceAll(/\/tmp\/(?=lists|people)/g, `${here.lists}/`)
    const { code, out, err } = await run('sh', ['-e', '-c', script], {
      ...here.env,
      OSTIARY_API_KEY: here.key,
      OSTIARY_URL: here.api.url,
    })
    assert.equal(code, 0, err)
    assert.match(out, /^us_ofac_sdn: OFAC Specially Designated Nationals$/m)
    assert.match(out, /^0017 +1\.0000 +Vardo Quell +Vardo QUELLMAR +us_ofac_sdn ofac-101 /m)
    assert.match(out, /^us_ofac_sdn is removed with all its versions$/m)
  } finally {
    await here.stop()
  }
})

describe('with real files', { skip: existsSync(DATA) ? false : `no list files in ${DATA}: set OSTIARY_DATA` }, () => {
  let here: Installation
  before(async () => {
    here = await install('first-day-real')
    for (const name of ['sdn', 'alt', 'add', 'sdn_comments'])
      copyFileSync(join(DATA, `ofac/bench-${name}.csv`), join(here.lists, `${name}.csv`))
    for (const name of ['prim', 'alt', 'add', 'comments'])
      copyFileSync(join(DATA, `ofac/cons_${name}.csv`), join(here.lists, `cons_${name}.csv`))
    copyFileSync(join(DATA, 'un/UN_consolidated.xml'), join(here.lists, 'UN_consolidated.xml'))
  })
  after(() => here.stop())

  test('all three lists are in service, and the first person of each is found by name', async () => {
    const { code, out, err } = await here.ostiary('datasets', 'enable', 'ofac', 'un', '--from', here.lists, '--json')
    assert.equal(code, 0, err)
    const { lists } = JSON.parse(out) as { lists: { dataset: string; state: string; entries: number }[] }
    assert.deepEqual(
      lists.map(({ dataset, state, entries }) => [dataset, state, entries]),
      [
        ['us_ofac_sdn', 'imported', 4620],
        ['us_ofac_cons', 'imported', 79],
        ['un_sc_sanctions', 'imported', 730],
      ],
    )
    for (const [dataset, person] of [
      ['us_ofac_sdn', firstOfOfac(join(here.lists, 'sdn.csv'))],
      ['us_ofac_cons', firstOfOfac(join(here.lists, 'cons_prim.csv'))],
      ['un_sc_sanctions', firstOfUn(join(here.lists, 'UN_consolidated.xml'))],
    ] as const) {
      const { summary } = await screen(here, dataset, `1,${person.join()},\n`)
      assert.equal(summary.matched.count, 1, dataset)
    }
  })
})

/** First and last name of the first person in one of OFAC's main files. */
function firstOfOfac(path: string): [string, string] {
  const [, last = '', first = ''] = /"([^",]+), ([^"]+)","individual"/.exec(readFileSync(path, 'utf8')) ?? []
  return [first, last]
}

function firstOfUn(path: string): [string, string] {
  const [person = ''] = /<INDIVIDUAL>.*?<\/INDIVIDUAL>/s.exec(readFileSync(path, 'utf8')) ?? []
  const part = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(person)?.[1]?.trim() ?? ''
  return [part('FIRST_NAME'), ['SECOND', 'THIRD', 'FOURTH'].map((number) => part(`${number}_NAME`)).join(' ')]
}
