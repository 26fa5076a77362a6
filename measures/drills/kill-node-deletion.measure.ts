/**
 * kill -9 of API processes between the deletion of people and the next searches. Two processes hold codes of the faces in memory; in
 * each round one of them deletes people and is killed at a random moment, or the other one is. From the moment of the acknowledgement on
 * neither may find the deleted people again; both must find everyone else. --full: 60 rounds instead of 3.
 */
import { randomUUID } from 'node:crypto'
import { sealEnvelope } from '@ostiary/crypto'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { eventually } from '@ostiary/testkit/eventually'
import { openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { createTenant, type Tenant } from '@ostiary/testkit/measuring/node-bench'
import { freePorts, type Started, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { inParallel, post } from './enrols.ts'

const PER_ROUND = 6
const STAY = 60
const WORKERS = 4
const VERSION = 'FACE3_3'

export const measure: Measure = async ({ full, say }) => {
  const rounds = full ? 60 : 3
  const persons = STAY + rounds * PER_ROUND
  const database = await createDatabase(startServices(), 'drill')
  const settings = { ...testSettings(database.url), NODE_EXACT_SEARCH_MAX: '20' }
  const processes = await Promise.all([startFixed(settings, 'a'), startFixed(settings, 'b')])
  const enrolled = await openEnrolledPeople(settings)
  try {
    const people = createPeople(57)
    const tenant = await createTenant(enrolled, 'Deleted')
    const puids = await enrolled.load(tenant.id, people, { livemode: false, persons, samples: 1, from: 0 })
    await enrolled.arrange()
    const predict = async (api: Started, person: number) =>
      (await post(`${api.url}/node/plainPredict`, tenant.key, people.sample(person, 0))).puid
    let strangers = 1_000_000
    const coded = (api: Started) => untilCoded(api, () => predict(api, strangers++))
    const figures = { foundAgain: 0, lost: 0, looks: 0, kills: 0, slowestMs: 0 }

    for (let round = 0; round < rounds; round++) {
      const [deleting, looking] = round % 2 === 0 ? processes : processes.toReversed()
      if (!deleting || !looking) throw new Error('there are two processes')
      for (const one of processes) await coded(one.api)
      const gone = Array.from({ length: PER_ROUND }, (_, n) => STAY + round * PER_ROUND + n)
      const killed = round % 3 === 2 ? looking : deleting
      const killing = sleep(Math.random() * 60).then(async () => {
        figures.kills++
        await killed.restart()
      })
      await inParallel(gone.length, WORKERS, async (n) => {
        const person = gone[n] ?? 0
        await deleteForSure(() => deleting.api.url, tenant, puids[person] ?? '')
        // At once, while its code may still be in memory; a killed process answers nothing until it is back.
        for (const { api } of processes) {
          const answer = await predict(api, person).catch(() => undefined)
          if (answer !== undefined) figures.looks++
          if (answer === puids[person]) figures.foundAgain++
        }
      })
      const acknowledgedAt = performance.now()
      await killing
      const left = persons - (round + 1) * PER_ROUND
      if (killed === deleting) {
        await eventually(async () => (await codesOf(looking.api)) === left, 'the codes of the deleted are still there')
        figures.slowestMs = Math.max(figures.slowestMs, performance.now() - acknowledgedAt)
      }
      for (const { api } of processes) {
        await coded(api)
        for (const person of gone) if ((await predict(api, person)) === puids[person]) figures.foundAgain++
      }
    }
    for (const { api } of processes) {
      for (let person = 0; person < STAY; person++) if ((await predict(api, person)) !== puids[person]) figures.lost++
    }
    say(`${rounds * PER_ROUND} people deleted, ${figures.looks} searches for them right after the acknowledgement`)
    return [
      { name: 'kill-node-deletion.kills', value: figures.kills, floor: rounds, is: 'least' },
      { name: 'kill-node-deletion.looks', value: figures.looks, floor: rounds * PER_ROUND, is: 'least' },
      { name: 'kill-node-deletion.found-again', value: figures.foundAgain, floor: 0, is: 'most' },
      { name: 'kill-node-deletion.lost', value: figures.lost, floor: 0, is: 'most' },
      {
        name: 'kill-node-deletion.codes-gone-seconds',
        value: figures.slowestMs / 1000,
        floor: 5,
        is: 'most',
        load: true,
      },
    ]
  } finally {
    await enrolled.close()
    await Promise.all(processes.map(({ api }) => api.stop('SIGKILL')))
    await database.drop()
  }
}

/** An API process that comes back on the same port. */
async function startFixed(settings: Record<string, string>, name: string) {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const env = { ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) }
  const start = () => startApi({ env, logName: `drill-kill-node-deletion-${name}` })
  const fixed = {
    api: await start(),
    async restart() {
      await fixed.api.stop('SIGKILL')
      fixed.api = await start()
    },
  }
  return fixed
}

async function metricsOf({ adminUrl }: Started): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text()
}

async function codesOf(api: Started): Promise<number> {
  return Number(/^ostiary_node_codes (\d+)/m.exec(await metricsOf(api))?.[1])
}

/** Searches until the codes of this process answer. */
async function untilCoded(api: Started, search: () => Promise<unknown>): Promise<void> {
  const answered = async () => Number(/kind="codes"\} (\d+)/.exec(await metricsOf(api))?.[1] ?? 0)
  await eventually(async () => {
    const before = await answered()
    await search()
    return (await answered()) > before
  }, 'no search was answered by codes')
}

/** Repeats a deletion until it is acknowledged. One that was carried out before its answer was lost finds nobody the second time. */
async function deleteForSure(url: () => string, tenant: Tenant, puid: string): Promise<void> {
  let mayBeDone = false
  await eventually(async () => {
    const issuedAt = Math.floor(Date.now() / 1000)
    const envelope = { purpose: 'deleteUser', modelVersion: VERSION, issuedAt, id: randomUUID(), text: puid } as const
    const sealed = await sealEnvelope(tenant.key, envelope)
    const response = await fetch(`${url()}/node/${VERSION}/deleteUser`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.key },
      body: JSON.stringify({ puid: sealed }),
    }).catch(() => undefined)
    if (response?.status === 200 || (response?.status === 400 && mayBeDone)) return true
    if (response?.status === 400) throw new Error(`a deletion was refused: ${await response.text()}`)
    mayBeDone = true
    return false
  }, 'a deletion was not acknowledged')
}
