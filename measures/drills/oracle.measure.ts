/**
 * Reads an enrolled vector out of area E with a live key, as far as the service lets it at once: with default settings, with exact scores,
 * with three keys of the tenant; then for an hour, with keys of which each takes its 429 for a yes. What the answers of an hour and of a day come
 * to is computed. Then an honest hour: 10,000 predictions over 1,000 people, at most 40
 * for one. --full: the yes/no oracle with more seeds.
 */
import { HIT_BUDGET } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type EnrolledPeople, openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { predictBody } from '@ostiary/testkit/measuring/node-bench'
import { freePorts, ROOT, type Started, startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { inParallel, post } from './enrols.ts'
import { type Attacker, createAttacker, createVectors, dot, type OracleAnswer, type Vector } from './oracle-attack.ts'
import { type Ask, readRefusals } from './oracle-refusals.ts'

const SEED = 9001
const HONEST = { predictions: 10_000, people: 1_000, regulars: 50, regularVisits: 40, workers: 8 }
/** Scores of an hour before the service goes over to one band. */
const SCORED_PER_HOUR = 59
/** Before the day's alarm. */
const HOURS_OF_SCORES = 5
const COSINE_MAX = 0.75
/** An attacker who has lost the person asks far from them, where nothing is counted, and would ask forever. */
const MOST_ANSWERS = 1_000

interface Target {
  name: string
  keys: string[]
  exact: boolean
  attacker: Attacker
}

export const measure: Measure = async ({ full, say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const settings = testSettings(database.url)
  const start = (logName = 'drill-oracle') => startApi({ env: settings, logName })
  const api = await start()
  const enrolled = await openEnrolledPeople(settings)
  try {
    return [
      ...(await attackAtOnce(enrolled, api, say)),
      ...(await attackTwoProcesses(enrolled, api, start, say)),
      ...(await attackByRefusals(enrolled, api, settings, say)),
      ...(await compute(say)),
      ...(await honestHour(enrolled, api, say)),
      ...(await yesNoQueries(full ? 5 : 1, say)),
    ]
  } finally {
    await enrolled.close()
    await api.stop()
    await database.drop()
  }
}

const SCENARIOS = [
  { name: 'bands', keys: 1, exact: false },
  { name: 'exact', keys: 1, exact: true },
  { name: 'three-keys', keys: 3, exact: true },
] as const

async function attackAtOnce(enrolled: EnrolledPeople, api: Started, say: Say): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [n, scenario] of SCENARIOS.entries()) {
    const target = await newTarget(enrolled, api, { ...scenario, seed: SEED + n })
    let asked = 0
    await forEachAnswer(target, over([api.url], target.keys), () => asked++)
    const cosine = target.attacker.cosine()
    say(`${target.name}: 429 after ${asked} answers, cosine ${cosine.toFixed(3)}`)
    figures.push(
      { name: `oracle.answers-${target.name}`, value: asked, floor: HIT_BUDGET.hour.most / 2 + 3, is: 'most' },
      { name: `oracle.hour-${target.name}`, value: cosine, floor: COSINE_MAX, is: 'most' },
    )
  }
  return figures
}

/** Three keys over two processes, which know of each other's counts only by the database. */
async function attackTwoProcesses(
  enrolled: EnrolledPeople,
  api: Started,
  start: (logName: string) => Promise<Started>,
  say: Say,
): Promise<Figure[]> {
  const second = await start('drill-oracle-second')
  try {
    const target = await newTarget(enrolled, api, { name: 'two-processes', keys: 3, exact: true, seed: SEED + 10 })
    let asked = 0
    await forEachAnswer(target, over([api.url, second.url], target.keys), () => asked++)
    say(`three keys over two processes got ${asked} answers, cosine ${target.attacker.cosine().toFixed(3)}`)
    return [
      { name: 'oracle.two-processes-answers', value: asked, floor: 100, is: 'most' },
      { name: 'oracle.hour-two-processes', value: target.attacker.cosine(), floor: COSINE_MAX, is: 'most' },
    ]
  } finally {
    await second.stop()
  }
}

/**
 * An hour of a tenant with many keys, each of which waits as long as it is told and takes its 429 for a yes. Each key more reads one refusal more:
 * ten stay below the bound; a hundred do not, and that is stated.
 */
async function attackByRefusals(
  enrolled: EnrolledPeople,
  api: Started,
  settings: Record<string, string>,
  say: Say,
): Promise<Figure[]> {
  const [port = 0] = await freePorts(1)
  const moved = await startApi({
    env: { ...settings, SHIFTED_CLOCK_PORT: String(port) },
    logName: 'drill-oracle-moved',
    nodeFlags: ['--import', `${ROOT}measures/drills/shifted-clock.ts`],
  })
  const moveTo = async (seconds: number) => void (await fetch(`http://127.0.0.1:${port}/${seconds}`))
  try {
    const figures: Figure[] = []
    for (const [keys, exact] of READERS) {
      await moveTo(0)
      const target = await newTarget(enrolled, api, { name: 'reads-refusals', keys, exact, seed: SEED + 3 })
      const ways = over([moved.url], target.keys)
      const scores = exact ? SCORED_PER_HOUR : 0
      const { answers, refusals } = await readRefusals({ ...target, ways, scores, moveTo })
      const cosine = target.attacker.cosine()
      const name = `${keys}-keys-read-refusals${exact ? '-exact' : ''}`
      say(`${name}: ${answers} answers and ${refusals} refusals in an hour, cosine ${cosine.toFixed(3)}`)
      const is = keys <= KEYS_BELOW_THE_BOUND ? 'most' : 'least'
      figures.push({ name: `oracle.hour-${name}`, value: cosine, floor: COSINE_MAX, is })
    }
    return figures
  } finally {
    await moved.stop()
  }
}
const KEYS_BELOW_THE_BOUND = 10
const READERS = [
  [3, true],
  [KEYS_BELOW_THE_BOUND, false],
  [KEYS_BELOW_THE_BOUND, true],
  [100, false],
] as const

/**
 * What the answers of an hour and of a day come to, a refusal among them, which costs as much. Computed with the same attacker and not asked of
 * the service: no process waits a day here. That the service gives no more answers is a test (hit-budget.test.ts). With exact scores the attacker
 * of a day waits each time that the scores end, and spends what is left on yes and no.
 */
async function compute(say: Say): Promise<Figure[]> {
  const figures: Figure[] = []
  const [hour, day] = [HIT_BUDGET.hour.most, HIT_BUDGET.day.most]
  for (const [span, name, answers, scores] of [
    ['hour', 'bands', hour, 0],
    ['hour', 'exact', hour, SCORED_PER_HOUR],
    ['day', 'bands', day, 0],
    ['day', 'exact', day, HOURS_OF_SCORES * SCORED_PER_HOUR],
  ] as const) {
    const enrolled = createVectors(SEED + 20).direction()
    const attacker = createAttacker(enrolled, SEED + 1_020)
    const ask = async (probe: Vector): Promise<OracleAnswer> => ({ score: scoreOf(dot(probe, enrolled)) })
    for (let n = 0; n < answers; n++) await attacker.step(ask, n < scores ? 'score' : 'yes-no')
    const cosine = attacker.cosine()
    say(
      `${name}: computed, not asked of the service, for the ${answers} answers of a${span === 'hour' ? 'n hour' : ' day'}: cosine ${cosine.toFixed(3)}`,
    )
    // Stated of a day: the alarm of the first hour has to end this. Below the cosine of an hour it would be no attack.
    const bound =
      span === 'hour' ? ({ floor: COSINE_MAX, is: 'most' } as const) : ({ floor: 0.7, is: 'least' } as const)
    figures.push({ name: `oracle.${span}-computed-${name}`, value: cosine, ...bound })
  }
  return figures
}

/** The exact score of docs/api/biometrics.md for FACE3_3; null below the threshold. */
function scoreOf(cosine: number): number | null {
  return cosine >= 0.5 ? Math.round(10_000 / (1 + Math.exp(-13.7 * (cosine - 0.5)))) / 10_000 : null
}

async function honestHour(enrolled: EnrolledPeople, api: Started, say: Say): Promise<Figure[]> {
  const people = createPeople(14)
  const { tenantId, keys } = await newTenant(enrolled, 1)
  const puids = await enrolled.load(tenantId, people, { livemode: true, persons: HONEST.people, samples: 1, from: 0 })
  const before = await alarms(api)
  const visits = visitsOf()
  let refused = 0
  let wrong = 0
  await inParallel(visits.length, HONEST.workers, async (index) => {
    const person = visits[index] ?? 0
    const answer = await post(`${api.url}/node/plainPredict`, keys[0] ?? '', people.sample(person, 1 + index))
    if (answer.http !== 200) refused++
    else if (answer.puid !== puids[person]) wrong++
  })
  const raised = (await alarms(api)) - before
  say(`an honest hour: ${visits.length} predictions, ${refused} refused, ${wrong} of somebody else, ${raised} alarms`)
  return [
    { name: 'oracle.honest-predictions', value: visits.length, floor: HONEST.predictions, is: 'least' },
    { name: 'oracle.honest-refused', value: refused, floor: 0, is: 'most' },
    { name: 'oracle.honest-alarms', value: raised, floor: 0, is: 'most' },
  ]
}

/** Who comes when: some people 40 times, the others as often as remains, all mixed. */
function visitsOf(): number[] {
  const { predictions, people, regulars, regularVisits } = HONEST
  const often = Array.from({ length: regulars * regularVisits }, (_, n) => n % regulars)
  const others = Array.from({ length: predictions - often.length }, (_, n) => regulars + (n % (people - regulars)))
  const all = [...often, ...others]
  // 7,919 shares no factor with 10,000: each is visited once, far from its neighbours.
  return all.map((_, n) => all[(n * 7_919) % all.length] ?? 0)
}

/** What yes and no alone give away, without a budget and without a service: for docs/threat-model.md. */
async function yesNoQueries(rounds: number, say: Say): Promise<Figure[]> {
  const goals = [0.75, 0.9, 0.99]
  const needed = goals.map(() => 0)
  for (let round = 0; round < rounds; round++) {
    const enrolled = createVectors(SEED + 50 + round).direction()
    const attacker = createAttacker(enrolled, SEED + 70 + round)
    const ask = async (probe: Vector): Promise<OracleAnswer> => ({ score: dot(probe, enrolled) >= 0.5 ? 1 : null })
    let asked = 0
    for (const [n, goal] of goals.entries()) {
      for (; attacker.cosine() < goal; asked++) await attacker.step(ask, 'yes-no')
      needed[n] = Math.max(needed[n] ?? 0, asked)
    }
  }
  say(`yes and no alone: cosine ${goals.map((goal, n) => `${goal} after ${needed[n]} queries`).join(', ')}`)
  return goals.map((goal, n) => ({
    name: `oracle.yes-no-queries-to-${goal}`,
    value: needed[n] ?? 0,
    floor: 150,
    is: 'least',
  }))
}

/** Asks with one key after the other, on one process after the other, until each is refused. */
async function forEachAnswer(
  { exact, attacker }: Pick<Target, 'exact' | 'attacker'>,
  ways: readonly Ask[],
  onAnswer: () => void,
): Promise<void> {
  const open = [...ways]
  let scored = 0
  for (let n = 0; open.length > 0; n++) {
    const at = n % open.length
    const reads = exact && scored < SCORED_PER_HOUR ? 'score' : 'yes-no'
    const ask = async (probe: Vector) => {
      const answer = await (open[at] as Ask)(probe)
      return 'waitSeconds' in answer ? 'refused' : answer
    }
    if (await attacker.step(ask, reads)) {
      scored++
      if (scored > MOST_ANSWERS) throw new Error(`Still no refusal after ${MOST_ANSWERS} answers`)
      onAnswer()
    } else {
      open.splice(at, 1)
    }
  }
}

const over = (urls: readonly string[], keys: readonly string[]): Ask[] =>
  urls.flatMap((url) =>
    keys.map(
      (key): Ask =>
        (probe) =>
          predict(url, key, probe),
    ),
  )

async function predict(url: string, key: string, probe: Vector): ReturnType<Ask> {
  const response = await fetch(`${url}/node/plainPredict`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: predictBody(probe),
  })
  if (response.status === 429) return { waitSeconds: Number(response.headers.get('retry-after')) }
  // A probe that is not compared is not counted either, and would be asked forever.
  if (response.status !== 200) throw new Error(`The prediction was answered ${response.status}`)
  const { status, score } = (await response.json()) as { status: number; score: number }
  return { score: status === 0 ? score : null }
}

async function newTarget(
  enrolled: EnrolledPeople,
  api: Started,
  { name, keys: count, exact, seed }: { name: string; keys: number; exact: boolean; seed: number },
): Promise<Target> {
  const { tenantId, keys } = await newTenant(enrolled, count)
  if (exact) await enrolled.wire.settings.service.set(tenantId, { nodeScores: 'exact' })
  const vector = createVectors(seed).direction()
  const { http } = await post(`${api.url}/node/plainEnroll`, keys[0] ?? '', vector)
  if (http !== 200) throw new Error(`The enrolment was answered ${http}`)
  return { name, keys, exact, attacker: createAttacker(vector, seed + 1_000) }
}

async function newTenant({ wire }: EnrolledPeople, count: number): Promise<{ tenantId: string; keys: string[] }> {
  const { tenantId } = await wire.keys.service.createTenant('Oracle')
  const keys: string[] = []
  for (let n = 0; n < count; n++) {
    const made = { livemode: true, name: `oracle ${n}`, allowedIps: [], usagePlanId: 'unmetered' as const }
    keys.push((await wire.keys.service.createKey(tenantId, { ...made, scopes: ['node:*'] })).api_key)
  }
  return { tenantId, keys }
}

async function alarms({ adminUrl }: Started): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/^ostiary_node_hit_alarms_total\{level="alarm"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

type Say = (text: string) => void
