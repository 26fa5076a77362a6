/**
 * Areas C to E: the accuracy of the page's own code on portraits of known people: comparison of two pictures, age, liveness,
 * the effect of blur, and whom the guide refuses. --full: every portrait for every part.
 */
import {
  cosine,
  createFaceEngine,
  distance,
  distanceBetween,
  EMBEDDINGS,
  type EmbeddingId,
  eyeAspects,
  type FaceEngine,
  fivePointsOf,
  type Picture,
  type SeenFace,
  USABLE_SCORE_MIN,
} from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import {
  loadPortraits,
  missingPortraits,
  type Portrait,
  readPicture,
  SPOOF_SAMPLES,
} from '@ostiary/testkit/samples/portraits'
import { measureGroups } from './face-groups.ts'
import {
  bootstrapMeanInterval,
  equalErrorRate,
  falseRejectionRateFor,
  type PairScores,
  ratesAt,
} from './verification.ts'

interface Judged extends Portrait {
  face: SeenFace | null
  vectors: Partial<Record<EmbeddingId, Float32Array>>
  estimateYears: number | undefined
  live: number | undefined
}

/** Two files that are more similar than this are the same photograph, cropped or retouched. */
const SAME_PHOTOGRAPH = 0.95
/** The match thresholds (docs/models.md). Distances are negated, so that a higher score means more similar. */
const MATCH: Readonly<Record<EmbeddingId, number>> = { FACE3_3: 0.5, FACE3_1: -0.5 }
const ALIKE: Readonly<Record<EmbeddingId, (one: Float32Array, other: Float32Array) => number>> = {
  FACE3_3: cosine,
  FACE3_1: (one, other) => -distance(one, other),
}

export const measure: Measure = async ({ full, say }) => {
  const missing = missingPortraits()
  if (missing !== undefined) {
    say(`skipped: there are no portraits at ${missing}`)
    return []
  }
  const engine = createFaceEngine({ load: loadNetFromDisk() })
  const tasks = full ? allOf(loadPortraits()) : sampleOf(loadPortraits())
  const judged: Judged[] = []
  // Read the next picture while this one is measured.
  let reading = readPicture(tasks[0]?.portrait.path ?? '')
  for (const [index, task] of tasks.entries()) {
    const picture = await reading
    const next = tasks[index + 1]
    if (next) reading = readPicture(next.portrait.path)
    judged.push(await judge(engine, picture, task))
    if ((index + 1) % 20 === 0 || !next) say(`${index + 1} of ${tasks.length} portraits`)
  }
  const found = judged.filter(({ face }) => face !== null).length
  describeRest(judged.flatMap(({ face }) => face ?? []))
  return [
    { name: 'faces.found', value: found / judged.length, floor: 1, is: 'least' },
    ...describePairs('FACE3_3', judged, 0.01),
    ...describePairs('FACE3_1', judged, 0.03),
    ...describeAges(judged),
    ...(await measureSpoofs(engine, judged)),
    ...(await measureBlur(engine, { portraits: judged, count: full ? 40 : 8 })),
    ...(await measureGroups(engine, loadPortraits(), { full, say })),
  ]
}

interface Task {
  portrait: Portrait
  embed: boolean
  age: boolean
}

const allOf = (portraits: readonly Portrait[]): Task[] =>
  portraits.map((portrait) => ({ portrait, embed: true, age: true }))

/** Two portraits of every second person who has several, for the comparison; all with a certain date, for the age. */
function sampleOf(portraits: readonly Portrait[]): Task[] {
  const people = Map.groupBy(
    portraits.filter(({ isDated }) => !isDated),
    ({ person }) => person,
  )
  const pairs = [...people.values()].filter((_, index) => index % 2 === 0).flatMap((some) => [some[0], some.at(-1)])
  return [
    ...pairs.filter((portrait) => portrait !== undefined).map((portrait) => ({ portrait, embed: true, age: false })),
    ...portraits.filter(({ isDated }) => isDated).map((portrait) => ({ portrait, embed: false, age: true })),
  ]
}

async function judge(engine: FaceEngine, picture: Picture, { portrait, embed, age }: Task): Promise<Judged> {
  engine.begin()
  const { face } = await engine.look(picture)
  const live = face ? await engine.passiveLive(picture, face) : undefined
  const judged: Judged = { ...portrait, face, vectors: {}, estimateYears: undefined, live }
  if (face && embed) for (const id of EMBEDDINGS) judged.vectors[id] = await engine.embedFace(picture, face, id)
  if (face && age) judged.estimateYears = await engine.estimateAge(picture, face)
  return judged
}

/** Prints the pose of faces that look into the camera: at rest it is not zero, and it differs between people. */
function describeRest(faces: readonly SeenFace[]): void {
  console.log('\nportraits at rest: one in twenty is lower, median, one in twenty is higher')
  const describe = (name: string, values: readonly number[]) => {
    const sorted = values.toSorted((a, b) => a - b)
    const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2)
    console.log(`  ${name.padEnd(22)} ${at(0.05).padStart(7)} ${at(0.5).padStart(7)} ${at(0.95).padStart(7)}`)
  }
  for (const angle of ['yaw', 'pitch', 'roll'] as const)
    describe(
      angle,
      faces.map(({ pose }) => pose[angle]),
    )
  describe(
    'eyes, height by width',
    faces.flatMap(({ mesh }) => eyeAspects(mesh)),
  )
  describe(
    'eyes, openness',
    faces.map(({ eyes }) => eyes),
  )
  describe(
    'quality',
    faces.map(({ quality }) => quality.score),
  )
}

function describePairs(id: EmbeddingId, judged: readonly Judged[], floor: number): Figure[] {
  const { genuine, impostor, samePhotograph } = pairsOf(id, judged)
  const scores = { genuine, impostor }
  const { rate, threshold } = equalErrorRate(scores)
  const { falseRejectionRate, falseAcceptanceRate } = ratesAt(scores, MATCH[id])
  const strict = falseRejectionRateFor(scores, 0.001)
  console.log(`\n${id}: ${genuine.length} pairs of one person, ${impostor.length} of two`)
  console.log(`  left out as one photograph: ${samePhotograph}`)
  console.log(`  equal error ${percent(rate)} at ${threshold.toFixed(3)}`)
  console.log(
    `  refused where one impostor in a thousand passes: ${percent(strict.rate)} at ${strict.threshold.toFixed(3)}`,
  )
  console.log(`  at ${MATCH[id]}: refused ${percent(falseRejectionRate)}, passed ${percent(falseAcceptanceRate)}`)
  console.log(`  least alike of one person ${Math.min(...genuine).toFixed(3)}, median ${median(genuine).toFixed(3)}`)
  console.log(`  most alike of two people ${Math.max(...impostor).toFixed(3)}`)
  return [{ name: `faces.${id}.eer`, value: rate, floor, is: 'most' }]
}

function pairsOf(id: EmbeddingId, judged: readonly Judged[]): PairScores & { samePhotograph: number } {
  const [genuine, impostor]: [number[], number[]] = [[], []]
  let samePhotograph = 0
  for (const [index, one] of judged.entries())
    for (const other of judged.slice(index + 1)) {
      const [a, b] = [one.vectors[id], other.vectors[id]]
      if (!a || !b) continue
      if (one.person !== other.person) impostor.push(ALIKE[id](a, b))
      else if (isOnePhotograph(one, other)) samePhotograph++
      else genuine.push(ALIKE[id](a, b))
    }
  return { genuine, impostor, samePhotograph }
}

function isOnePhotograph({ vectors: one }: Judged, { vectors: other }: Judged): boolean {
  return (
    one.FACE3_3 !== undefined && other.FACE3_3 !== undefined && cosine(one.FACE3_3, other.FACE3_3) > SAME_PHOTOGRAPH
  )
}

type Aged = Judged & { estimateYears: number }

function describeAges(judged: readonly Judged[]): Figure[] {
  const aged = judged.filter((one): one is Aged => one.estimateYears !== undefined)
  const dated = aged.filter(({ isDated }) => isDated)
  console.log('\nage, by portraits whose date is sure')
  const mae = describeErrors('all', dated)
  describeErrors(
    'under 45',
    dated.filter(({ ageYears }) => ageYears < 45),
  )
  describeErrors(
    'from 45',
    dated.filter(({ ageYears }) => ageYears >= 45),
  )
  for (const [sex, name] of [
    ['F', 'women'],
    ['M', 'men'],
  ] as const)
    describeErrors(
      name,
      dated.filter((one) => one.sex === sex),
    )
  const others = aged.filter(({ isDated }) => !isDated)
  if (others.length > 0) describeErrors('date of publication only', others)
  return [{ name: 'faces.age.mae', value: mae, floor: 5.5, is: 'most' }]
}

/** Prints a line about these and returns their mean absolute error. */
function describeErrors(name: string, some: readonly Aged[]): number {
  const errors = some.map(({ ageYears, estimateYears }) => estimateYears - ageYears)
  const sizes = errors.map(Math.abs).sort((a, b) => a - b)
  const interval = bootstrapMeanInterval(sizes).map((limit) => limit.toFixed(2))
  const p90 = sizes[Math.ceil(sizes.length * 0.9) - 1] ?? Number.NaN
  const [mae, bias] = [mean(sizes).toFixed(2), mean(errors).toFixed(2)]
  console.log(
    `  ${name}: ${some.length} portraits, MAE ${mae} [${interval.join(', ')}], bias ${bias}, 90 % within ${p90.toFixed(1)}`,
  )
  return mean(sizes)
}

/** The set says that its samples lie on their side; read with their own note about that they stand. All three are tried. */
async function measureSpoofs(engine: FaceEngine, portraits: readonly Judged[]): Promise<Figure[]> {
  console.log('\nspoof samples: what the passive check says (1 is live)')
  const scores: Record<'genuine' | 'attack', number[]> = { genuine: [], attack: [] }
  for (const { path, kind } of SPOOF_SAMPLES)
    for (const [turned, filter] of [
      ['as it is', 'null'],
      ['90', 'transpose=1'],
      ['270', 'transpose=2'],
    ] as const) {
      engine.begin()
      const picture = await readPicture(path, { filters: [filter] })
      const { face } = await engine.look(picture)
      if (!face) {
        console.log(`  ${kind.padEnd(8)} turned ${turned}: no face`)
        continue
      }
      const live = await engine.passiveLive(picture, face)
      console.log(`  ${kind.padEnd(8)} turned ${turned}: ${live.toFixed(3)}, roll ${face.pose.roll.toFixed(0)}`)
      scores[kind === 'genuine' ? 'genuine' : 'attack'].push(live)
    }
  const fed = portraits.flatMap(({ live }) => live ?? [])
  console.log(
    `  ${fed.length} portraits fed as files: ${Math.min(...fed).toFixed(3)} to ${Math.max(...fed).toFixed(3)}`,
  )
  return [
    { name: 'faces.spoof.genuine-live-least', value: Math.min(...scores.genuine), floor: 0.5, is: 'least' },
    { name: 'faces.spoof.attack-live-most', value: Math.max(...scores.attack), floor: 0.5, is: 'most' },
  ]
}

interface BlurOptions {
  portraits: readonly Judged[]
  count: number
}

/** A blur of a twenty-fifth of the distance between the eyes lowers estimates by years; so it must be noticed. */
async function measureBlur(engine: FaceEngine, { portraits, count }: BlurOptions): Promise<Figure[]> {
  const some = portraits.filter(({ isDated, face }) => isDated && face !== null).slice(0, count)
  const blurred: { shiftYears: number; isUsable: boolean }[] = []
  for (const { path, face: sharp, estimateYears = 0 } of some) {
    if (!sharp) continue
    const [left, right] = fivePointsOf(sharp.mesh)
    const sigma = (distanceBetween(left, right) / 25).toFixed(2)
    engine.begin()
    const picture = await readPicture(path, { filters: ['format=rgb24', `gblur=sigma=${sigma}`] })
    const { face } = await engine.look(picture)
    if (!face) continue
    const shiftYears = (await engine.estimateAge(picture, face)) - estimateYears
    blurred.push({ shiftYears, isUsable: face.quality.score >= USABLE_SCORE_MIN })
  }
  const usable = blurred.filter(({ isUsable }) => isUsable).length
  const sharp = some.filter(({ face }) => (face?.quality.score ?? 0) >= USABLE_SCORE_MIN).length
  console.log(`\nblur: ${some.length} portraits; good enough for an estimate: ${sharp} as they are, ${usable} blurred`)
  console.log(`  the blur moves the estimate by ${mean(blurred.map(({ shiftYears }) => shiftYears)).toFixed(1)} years`)
  return [
    { name: 'faces.sharp.usable', value: sharp / some.length, floor: 0.95, is: 'least' },
    { name: 'faces.blurred.usable', value: usable / some.length, floor: 0.15, is: 'most' },
  ]
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const percent = (value: number) => `${(value * 100).toFixed(2)} %`
