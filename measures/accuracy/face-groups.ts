/** Whom the guide refuses, by light and by group. */
import { boxOf, type FaceEngine, type Guidance, meshPoint, type Picture, SIGNAL_MIN } from '@ostiary/faces'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { inRoom } from '@ostiary/testkit/samples/cameras'
import type { Covering } from '@ostiary/testkit/samples/coverings'
import type { Portrait } from '@ostiary/testkit/samples/portraits'
import { createTally, type Heard, measureCoverings, readPlaced, type Tally, tell } from './covered-faces.ts'
import { HALVES, halfOf } from './halves.ts'

/** By eye, on the last portrait of each person. */
const GLASSES = 'B001273 A000367 A000373 B001294 W000790 W000788 S001159 C001125 C001054'.split(' ')
const BEARD = 'W000790 C001125 C001120 C001122 G000597'.split(' ')

/** The rule holds for the first three. The others show where the light ends. */
const LIGHTS = [1, 1 / 4, 1 / 8, 1 / 16, 1 / 32] as const
const RULED = 3
/** Smaller groups are printed, but one person of them is too much of a share. */
const GROUP_MIN = 10
const TIMES_MAX = 1.5
/** The limit for the mean brightness of the face before there was one for its signal. */
const BRIGHTNESS_MIN_BEFORE = 0.16
/** One of each kind, for the short run. */
const FEW: readonly Covering[] = ['eye patch', 'black sunglasses', 'light blue mask', 'patterned mask']
/** What a person cannot correct by moving. */
const REFUSALS: readonly Guidance[] = [
  'too_dark',
  'too_bright',
  'backlit',
  'eyes_hidden',
  'remove_mask',
  'eyes_closed',
  'no_face',
]

interface Person extends Portrait {
  /** L* of the skin of cheeks and forehead in the portrait: it holds the light of the studio too. */
  lightness: number
  /** At each light. */
  isRefused: readonly boolean[]
  isDarkBefore: readonly boolean[]
  isDark: readonly boolean[]
}

interface Options {
  full: boolean
  say(text: string): void
}

export async function measureGroups(engine: FaceEngine, portraits: readonly Portrait[], { full, say }: Options) {
  const last = [...new Map(portraits.map((portrait) => [portrait.person, portrait])).values()]
  const people: Person[] = []
  const bare = createTally()
  const sample = HALVES.flatMap((half) => last.filter(({ person }) => halfOf(person) === half).slice(0, 1))
  for (const portrait of full ? last : sample) {
    const placed = await readPlaced(engine, portrait)
    const heard: Heard[] = []
    for (const light of LIGHTS)
      heard.push(await tell(engine, light === 1 ? placed.bare : inRoom(placed.bare, { light })))
    for (const [index, one] of heard.entries()) bare.add(portrait, one, { light: named(LIGHTS[index] ?? 1) })
    people.push({
      ...portrait,
      lightness: lightnessOf(placed.picture, placed.mesh),
      isRefused: heard.map(({ guidance }) => REFUSALS.includes(guidance)),
      isDarkBefore: heard.map(({ face }) => !face || face.quality.brightness < BRIGHTNESS_MIN_BEFORE),
      isDark: heard.map(({ face }) => !face || face.quality.signal < SIGNAL_MIN),
    })
  }
  say(`${people.length} people at ${LIGHTS.length} lights`)
  const unfair = describeGroups(people)
  describeGates(people)
  bare.describe()
  const coverings = await measureCoverings(engine, full ? { portraits } : { portraits: sample.slice(0, 1), some: FEW })
  if (full) await describeLight(engine, last)
  const sum = (of: (tally: Tally) => number) => of(bare) + of(coverings.tally)
  return [
    { name: 'faces.groups.refused-more', value: unfair, floor: 0, is: 'most' },
    { name: 'faces.guide.good-without-age', value: sum((tally) => tally.goodWithoutAge), floor: 0, is: 'most' },
    {
      name: 'faces.guide.falsely-covered',
      value: sum((tally) => tally.falselyCovered('tuning')),
      floor: 0,
      is: 'most',
    },
    {
      name: 'faces.guide.falsely-covered-held-out',
      value: sum((tally) => tally.falselyCovered('held out')),
      floor: 0,
      is: 'most',
    },
    { name: 'faces.guide.covered-and-good', value: coverings.missed, floor: 0.02, is: 'most' },
  ] satisfies Figure[]
}

/** Prints the table and returns how often a group is refused more than the rule allows. */
function describeGroups(people: readonly Person[]): number {
  const groups: readonly Group[] = [
    ...byLightness(people),
    ...HALVES.map((half): Group => [`${half} half`, people.filter(({ person }) => halfOf(person) === half)]),
    ['glasses', people.filter(({ person }) => GLASSES.includes(person))],
    ['beard or stubble', people.filter(({ person }) => BEARD.includes(person))],
    ['women', people.filter(({ sex }) => sex === 'F')],
    ['men', people.filter(({ sex }) => sex === 'M')],
    ['65 and over', people.filter(({ ageYears }) => ageYears >= 65)],
    ['under 40', people.filter(({ ageYears }) => ageYears < 40)],
  ]
  console.log(`\nrefused by the guide (light, covering, eyes), of n, at light ${LIGHTS.map(named).join(', ')}`)
  let unfair = 0
  for (const [name, group] of groups) {
    const refused = LIGHTS.map((_, index) => group.filter(({ isRefused }) => isRefused[index]).length)
    const flags = refused.map((count, index) => {
      const all = people.filter(({ isRefused }) => isRefused[index]).length
      return index < RULED && isMoreThanAll(count, group.length, all / people.length)
    })
    unfair += flags.filter(Boolean).length
    const cells = refused.map((count, index) => `${count}${flags[index] ? '!' : ''}`.padStart(5))
    console.log(`  ${name.padEnd(32)} n ${String(group.length).padStart(2)} ${cells.join('')}`)
  }
  return unfair
}

type Group = readonly [name: string, people: readonly Person[]]

function byLightness(people: readonly Person[]): Group[] {
  const sorted = people.toSorted((a, b) => a.lightness - b.lightness)
  const quarter = Math.ceil(people.length / 4)
  return [
    ['all', people],
    [`darkest quarter, L* to ${sorted[quarter - 1]?.lightness.toFixed(0)}`, sorted.slice(0, quarter)],
    [`lightest quarter, L* from ${sorted.at(-quarter)?.lightness.toFixed(0)}`, sorted.slice(-quarter)],
  ]
}

/** The rule of fairness: 1.5 times the share of all, or one person more. */
function isMoreThanAll(count: number, size: number, share: number): boolean {
  return size >= GROUP_MIN && count > Math.max(TIMES_MAX * share * size, share * size + 1)
}

/** Prints whom the limit for light alone refuses, by the mean brightness as before and by the signal as now, on the same pictures. */
function describeGates(people: readonly Person[]): void {
  console.log(
    `\ntoo dark, by mean brightness under ${BRIGHTNESS_MIN_BEFORE} as before / by signal under ${SIGNAL_MIN} as now`,
  )
  for (const half of ['all', ...HALVES] as const) {
    const some = half === 'all' ? people : people.filter(({ person }) => halfOf(person) === half)
    for (const [name, group] of byLightness(some)) {
      const cells = LIGHTS.map((_, index) => {
        const count = (gate: 'isDarkBefore' | 'isDark') => {
          const dark = (of: readonly Person[]) => of.filter((person) => person[gate][index]).length
          return `${dark(group)}${isMoreThanAll(dark(group), group.length, dark(some) / some.length) ? '!' : ''}`
        }
        return `${count('isDarkBefore')}/${count('isDark')}`.padStart(8)
      })
      console.log(`  ${`${half}: ${name}`.padEnd(40)} n ${String(group.length).padStart(2)} ${cells.join('')}`)
    }
  }
}

const named = (light: number) => (light === 1 ? '1' : `1/${1 / light}`)

/** Cheeks and forehead. */
const SKIN = [50, 280, 205, 425, 151, 108, 337]

function lightnessOf({ width, data }: Picture, mesh: Float32Array): number {
  const radius = Math.max(1, Math.round(boxOf(mesh).width * 0.02))
  const values = SKIN.flatMap((index) => {
    const { x, y } = meshPoint(mesh, index)
    const found: number[] = []
    for (let row = Math.round(y) - radius; row <= Math.round(y) + radius; row++)
      for (let column = Math.round(x) - radius; column <= Math.round(x) + radius; column++) {
        const at = (row * width + column) * 4
        const linear = (channel: number) => ((data[at + channel] ?? 0) / 255) ** 2.2
        found.push(0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2))
      }
    return found
  }).sort((a, b) => a - b)
  return 116 * Math.cbrt(values[Math.floor(values.length / 2)] ?? 0) - 16
}

/** Prints what less light does to the age and to the passive check: as it is, and brightened by a camera. */
async function describeLight(engine: FaceEngine, people: readonly Portrait[]): Promise<void> {
  console.log('\nless light, with the noise of a small sensor: age and passive check of every fourth person')
  const placed = []
  for (const portrait of people.filter((_, index) => index % 4 === 0))
    placed.push((await readPlaced(engine, portrait)).bare)
  const ages = placed.map(() => 0)
  for (const [light, gainMax] of ROOMS) {
    const [moves, lives]: [number[], number[]] = [[], []]
    for (const [index, bare] of placed.entries()) {
      const picture = light === 1 ? bare : inRoom(bare, { light, gainMax })
      engine.begin()
      const { face } = await engine.look(picture)
      if (!face) continue
      const age = await engine.estimateAge(picture, face)
      if (light === 1) ages[index] = age
      moves.push(age - (ages[index] ?? 0))
      lives.push(await engine.passiveLive(picture, face))
    }
    const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length
    const most = Math.max(...moves.map(Math.abs))
    const live = lives.filter((score) => score >= 0.5).length
    console.log(
      `  light ${named(light).padEnd(5)} brightened up to ${String(gainMax).padEnd(2)}: found ${moves.length} of ${placed.length}, age ${mean.toFixed(1)} (most ${most.toFixed(1)}), live ${live}`,
    )
  }
}

const ROOMS = [
  [1, 1],
  [1 / 4, 1],
  [1 / 8, 1],
  [1 / 16, 1],
  [1 / 32, 1],
  [1 / 16, 16],
  [1 / 64, 32],
] as const
