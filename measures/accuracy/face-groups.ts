/** Whom the guide refuses, by light and by group, and what it says of faces that are covered. */
import {
  boxOf,
  type FaceEngine,
  type Guidance,
  guidanceFor,
  isAgeable,
  meshPoint,
  ovalFor,
  type Picture,
  type SeenFace,
} from '@ostiary/faces'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { beforeCamera, inRoom } from '@ostiary/testkit/samples/cameras'
import { COVERINGS, type Covering, wearing } from '@ostiary/testkit/samples/coverings'
import { type Portrait, readPicture } from '@ostiary/testkit/samples/portraits'

/** By eye, on the last portrait of each person. */
const GLASSES = 'B001273 A000367 A000373 B001294 W000790 W000788 S001159 C001125 C001054'.split(' ')
const BEARD = 'W000790 C001125 C001120 C001122 G000597'.split(' ')

/** The rule holds for the first three. The others show where the light ends. */
const LIGHTS = [1, 1 / 4, 1 / 8, 1 / 16, 1 / 32] as const
const RULED = 3
/** Smaller groups are printed, but one person of them is too much of a share. */
const GROUP_MIN = 10
const TIMES_MAX = 1.5
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
  isRefused: readonly boolean[]
}

interface Options {
  full: boolean
  say(text: string): void
}

export async function measureGroups(engine: FaceEngine, portraits: readonly Portrait[], { full, say }: Options) {
  const last = [...new Map(portraits.map((portrait) => [portrait.person, portrait])).values()]
  const people: Person[] = []
  const faults = { goodWithoutAge: 0, falselyCovered: 0 }
  for (const portrait of full ? last : last.filter((_, index) => index % 16 === 0)) {
    const { bare, mesh, picture } = await readPlaced(engine, portrait)
    const replies: Guidance[] = []
    for (const light of LIGHTS) {
      const heard = await tell(engine, light === 1 ? bare : inRoom(bare, { light }))
      replies.push(heard.guidance)
      if (heard.isGoodWithoutAge) faults.goodWithoutAge++
      if (heard.face?.covered) faults.falselyCovered++
    }
    const isRefused = replies.map((guidance) => REFUSALS.includes(guidance))
    people.push({ ...portrait, lightness: lightnessOf(picture, mesh), isRefused })
  }
  say(`${people.length} people at ${LIGHTS.length} lights`)
  const unfair = describeGroups(people)
  const coverings = await measureCoverings(engine, full ? portraits : last.slice(0, 1))
  if (full) await describeLight(engine, last)
  return [
    { name: 'faces.groups.refused-more', value: unfair, floor: 0, is: 'most' },
    {
      name: 'faces.guide.good-without-age',
      value: faults.goodWithoutAge + coverings.goodWithoutAge,
      floor: 0,
      is: 'most',
    },
    {
      name: 'faces.guide.falsely-covered',
      value: faults.falselyCovered + coverings.falselyCovered,
      floor: 0,
      is: 'most',
    },
    { name: 'faces.guide.covered-and-good', value: coverings.missed, floor: 0.02, is: 'most' },
  ] satisfies Figure[]
}

async function readPlaced(engine: FaceEngine, { path }: Portrait) {
  const picture = await readPicture(path)
  engine.begin()
  const { face } = await engine.look(picture)
  if (!face) throw new Error(`No face was found in ${path}`)
  return { picture, mesh: face.mesh, bare: beforeCamera(picture, face.box) }
}

interface Heard {
  guidance: Guidance
  face: SeenFace | null
  isGoodWithoutAge: boolean
}

async function tell(engine: FaceEngine, picture: Picture): Promise<Heard> {
  engine.begin()
  const sighting = await engine.look(picture)
  const oval = ovalFor(picture.width, picture.height)
  const guidance = guidanceFor(sighting, { oval })
  const kept = guidanceFor(sighting, { oval, was: 'in_oval' })
  const { face } = sighting
  return {
    guidance,
    face,
    isGoodWithoutAge: [guidance, kept].includes('in_oval') && !(face !== null && isAgeable(face)),
  }
}

/** Prints the table and returns how often a group is refused more than the rule allows. */
function describeGroups(people: readonly Person[]): number {
  const byLightness = people.toSorted((a, b) => a.lightness - b.lightness)
  const quarter = Math.ceil(people.length / 4)
  const groups: readonly (readonly [string, readonly Person[]])[] = [
    ['all', people],
    [`darkest quarter, L* to ${byLightness[quarter - 1]?.lightness.toFixed(0)}`, byLightness.slice(0, quarter)],
    [`lightest quarter, L* from ${byLightness.at(-quarter)?.lightness.toFixed(0)}`, byLightness.slice(-quarter)],
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
      const share = people.filter(({ isRefused }) => isRefused[index]).length / people.length
      const most = Math.max(TIMES_MAX * share * group.length, share * group.length + 1)
      return index < RULED && group.length >= GROUP_MIN && count > most
    })
    unfair += flags.filter(Boolean).length
    const cells = refused.map((count, index) => `${count}${flags[index] ? '!' : ''}`.padStart(5))
    console.log(`  ${name.padEnd(32)} n ${String(group.length).padStart(2)} ${cells.join('')}`)
  }
  return unfair
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

/** Prints what is said of painted coverings, and returns the share that passes as well placed. */
async function measureCoverings(engine: FaceEngine, portraits: readonly Portrait[]) {
  const counted = new Map<Covering | 'bare', Map<Guidance, number>>()
  const faults = { goodWithoutAge: 0, falselyCovered: 0 }
  for (const portrait of portraits) {
    const { picture, mesh, bare } = await readPlaced(engine, portrait)
    for (const covering of ['bare', ...COVERINGS] as const) {
      const seen = covering === 'bare' ? bare : beforeCamera(wearing(picture, mesh, covering), boxOf(mesh))
      const { guidance, face, isGoodWithoutAge } = await tell(engine, seen)
      const counts = counted.get(covering) ?? new Map<Guidance, number>()
      counted.set(covering, counts.set(guidance, (counts.get(guidance) ?? 0) + 1))
      if (isGoodWithoutAge) faults.goodWithoutAge++
      if (!isHiding(covering) && face?.covered) faults.falselyCovered++
    }
  }
  console.log(`\nwhat the guide says of ${portraits.length} portraits, bare and with painted coverings`)
  for (const [covering, counts] of counted)
    console.log(`  ${covering.padEnd(18)} ${[...counts].map(([code, count]) => `${code} ${count}`).join(', ')}`)
  const hiding = [...counted].filter(([covering]) => isHiding(covering))
  const good = hiding.reduce((sum, [, counts]) => sum + (counts.get('in_oval') ?? 0), 0)
  return { ...faults, missed: good / (hiding.length * portraits.length) }
}

const isHiding = (covering: Covering | 'bare') => covering.endsWith('glasses') || covering.endsWith('mask')

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
