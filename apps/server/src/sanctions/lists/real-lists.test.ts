/** The importers on real list files, which are not part of the repository. OSTIARY_DATA names the folder above them. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findDeltas } from './ftm-delta.ts'
import type { ListedEntity } from './listed.ts'
import { type ListFormat, type ListProgress, readList } from './read-list.ts'
import type { ListSource } from './source.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
const DATA = join(process.env.OSTIARY_DATA ?? join(ROOT, '../shared/data'), 'sanctions')
const skip = existsSync(DATA) ? false : `no list files in ${DATA}: set OSTIARY_DATA`
const at = (path: string) => join(DATA, path)
const YENTE = 'opensanctions-samples/yente-fixtures'

async function read(format: ListFormat, files: (string | ListSource)[]) {
  const entities: ListedEntity[] = []
  let last: ListProgress | undefined
  const onProgress = (progress: ListProgress) => {
    last = progress
  }
  for await (const entity of readList({ format, files, onProgress })) entities.push(entity)
  assert.equal(last?.bytes, last?.totalBytes)
  return { entities, progress: last }
}

function summary(entities: readonly ListedEntity[]) {
  const names = entities.flatMap((entity) => entity.names)
  return {
    schemas: Object.fromEntries(
      Object.entries(Object.groupBy(entities, ({ schema }) => schema)).map(([schema, of]) => [schema, of?.length]),
    ),
    withBirth: entities.filter(({ births }) => births.length > 0).length,
    aliases: names.filter(({ kind }) => kind === 'alias').length,
    weak: names.filter(({ kind }) => kind === 'weak').length,
  }
}

describe('real lists', { skip }, () => {
  test('OFAC SDN of November 2023, with aliases of another day', async () => {
    const names = ['sdn-2023-11', 'alt-latest', 'add-latest', 'sdn_comments-latest']
    const { entities, progress } = await read(
      'ofac',
      names.map((name) => at(`ofac/${name}.csv`)),
    )
    assert.deepEqual(summary(entities), {
      schemas: { Organization: 4575, Person: 5890, Vessel: 685, Airplane: 293 },
      withBirth: 5761,
      aliases: 14332,
      weak: 2785,
    })
    assert.deepEqual(progress?.skipped, { 'alias of no entity': 5749 })
    // Every comma that parted a last name from a first is gone.
    const persons = entities.filter(({ schema }) => schema === 'Person')
    assert.deepEqual(
      persons.filter(({ names: [first] }) => first?.text.includes(',')),
      [],
    )
  })

  test('OFAC, one consistent set of 2021', async () => {
    const names = ['bench-sdn', 'bench-alt', 'bench-add', 'bench-sdn_comments']
    const { entities, progress } = await read(
      'ofac',
      names.map((name) => at(`ofac/${name}.csv`)),
    )
    assert.deepEqual(summary(entities), {
      schemas: { Organization: 3673, Person: 4620, Vessel: 406, Airplane: 277 },
      withBirth: 4428,
      aliases: 11904,
      weak: 2441,
    })
    assert.deepEqual(progress?.skipped, {})
  })

  test('OFAC SDN and consolidated list together: 57 entities are on both', async () => {
    const { entities, progress } = await read('ofac', [at('ofac/sdn-2023-11.csv'), at('ofac/cons_prim.csv')])
    assert.equal(progress?.read, 11_443 + 442)
    assert.equal(entities.length, 11_443 + 442 - 57)
    assert.equal(entities.filter(({ datasets }) => datasets.length === 2).length, 57)
  })

  test('UN consolidated list', async () => {
    const { entities } = await read('un-xml', [at('un/UN_consolidated.xml')])
    assert.deepEqual(summary(entities), {
      schemas: { Person: 730, Organization: 273 },
      withBirth: 678,
      aliases: 2316,
      weak: 628,
    })
    assert.equal(entities.filter(({ births }) => births.some(({ circa }) => circa)).length > 90, true)
    const words = entities.flatMap(({ countries }) => countries).filter((country) => country.length !== 2)
    assert.deepEqual(words, ['former soviet union'])
  })

  test('targets.simple.csv of 16 columns', async () => {
    const { entities } = await read('simple-csv', [at('opensanctions-samples/ua_war_sanctions.targets.simple.csv')])
    assert.deepEqual(summary(entities), {
      schemas: { Company: 1524, Vessel: 1340, Person: 1543, LegalEntity: 1193 },
      withBirth: 1489,
      aliases: 7730,
      weak: 0,
    })
    assert.equal(entities.filter(({ programs }) => programs.length > 0).length, 5600 - 1429)
  })

  test('targets.simple.csv of 15 columns', async () => {
    const { entities } = await read('simple-csv', [at('opensanctions-samples/interpol_red_notices.targets.simple.csv')])
    assert.deepEqual(summary(entities), { schemas: { Person: 6561 }, withBirth: 6557, aliases: 2, weak: 0 })
  })

  test('entities.ftm.json of four publishers', async () => {
    const counts = async (path: string) => {
      const { entities, progress } = await read('ftm', [at(path)])
      return { ...summary(entities), read: progress?.read, skipped: progress?.skipped }
    }
    assert.deepEqual(await counts('opensanctions-samples/ve_assembly.entities.ftm.json'), {
      schemas: { Person: 274 },
      withBirth: 12,
      aliases: 0,
      weak: 0,
      read: 549,
      skipped: { 'no name': 274, 'not a party': 1 },
    })
    // Hand-edited upstream: lone texts in place of lists, and birth dates such as "Unknown".
    assert.deepEqual(await counts('opensanctions-samples/sa_wiki_peps/entities.ftm.json'), {
      schemas: { Person: 607 },
      withBirth: 391,
      aliases: 2415,
      weak: 13,
      read: 1565,
      skipped: { 'not a party': 100, 'no name': 858 },
    })
    assert.equal((await counts(`${YENTE}/zala/entities.ftm.json`)).read, 91)
    assert.deepEqual((await counts(`${YENTE}/parteispenden/entities.ftm.json`)).schemas, {
      Organization: 18,
      Person: 22,
      Company: 56,
    })
  })

  test('a chain of deltas leads from one version to the next', async () => {
    const base = at(`${YENTE}/t1/entities.ftm.json`)
    const before = (await read('ftm', [base])).entities
    const deltas = await findDeltas(at(`${YENTE}/t2`), '20240527134702-zbn')
    assert.equal(deltas.length, 4)
    const after = (await read('ftm', [base, ...deltas])).entities
    // Two added, one of them changed later; one added and deleted; one added last.
    const added = ['NK-2T3S8Hu29ktYnKSTgQp2wL', 'NK-2sJaJRaPJcWUfMbHjTtWcL', 'Q4365364']
    assert.equal(before.length, 6)
    assert.deepEqual(after.slice(0, 6), before)
    assert.deepEqual(
      after.slice(6).map(({ id }) => id),
      added,
    )
    assert.equal(after[6]?.names[0]?.text, 'Foobar Foobargroup')
    assert.deepEqual(await findDeltas(at(`${YENTE}/t2`), '20240528134729-3iv'), [])
  })
})
