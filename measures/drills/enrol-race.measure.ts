/**
 * 150 people, each enrolled twice at the same moment from two pictures, by eight workers through two API processes. Exactly
 * 150 persons must exist afterwards. --full does it ten times.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { createTenant } from '@ostiary/testkit/measuring/node-bench'
import { startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { enrolForSure, inParallel } from './enrols.ts'

const PERSONS = 150
const WORKERS = 8

export const measure: Measure = async ({ full, say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const settings = testSettings(database.url)
  const apis = [
    await startApi({ env: settings, logName: 'drill-enrol-race-1' }),
    await startApi({ env: settings, logName: 'drill-enrol-race-2' }),
  ]
  const enrolled = await openEnrolledPeople(settings)
  const rounds = full ? 10 : 1
  try {
    let persons = 0
    let disagreements = 0
    for (let round = 0; round < rounds; round++) {
      const people = createPeople(100 + round)
      const tenant = await createTenant(enrolled, `Race ${round}`)
      const puids: string[] = []
      // Neighbours in the list are the same person, so two workers enrol them at the same moment.
      await inParallel(PERSONS * 2, WORKERS, async (index) => {
        const vector = people.sample(Math.floor(index / 2), index % 2)
        puids[index] = await enrolForSure(() => apis[index % 2]?.url ?? '', tenant.key, vector)
      })
      const { rows } = await enrolled.query('select count(*)::int as count from face_persons where tenant_id = $1', [
        tenant.id,
      ])
      persons += rows[0].count
      disagreements += puids.filter((puid, index) => puid !== puids[index - (index % 2)]).length
    }
    say(`${rounds * PERSONS} people enrolled twice each by ${WORKERS} workers through ${apis.length} processes`)
    return [
      { name: 'enrol-race.persons', value: persons, floor: rounds * PERSONS, is: 'least' },
      { name: 'enrol-race.persons-too-many', value: persons - rounds * PERSONS, floor: 0, is: 'most' },
      { name: 'enrol-race.pairs-that-disagree', value: disagreements, floor: 0, is: 'most' },
    ]
  } finally {
    await enrolled.close()
    await Promise.all(apis.map((api) => api.stop()))
    await database.drop()
  }
}
