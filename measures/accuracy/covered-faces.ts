/** What the guide says of bare faces and of painted coverings, for each half of the people. */
import {
  alignedGrey,
  boxOf,
  type Covered,
  coveredEvidence,
  type FaceEngine,
  type Guidance,
  guidanceFor,
  isAgeable,
  ovalFor,
  type Picture,
  type SeenFace,
} from '@ostiary/faces'
import { beforeCamera } from '@ostiary/testkit/samples/cameras'
import { COVERINGS, type Covering, wearing } from '@ostiary/testkit/samples/coverings'
import { type Portrait, readPicture } from '@ostiary/testkit/samples/portraits'
import { HALVES, type Half, halfOf } from './halves.ts'

export interface Heard {
  guidance: Guidance
  face: SeenFace | null
  /** How near the cues for a covering are to their limits; 1 is the limit. */
  evidence: Readonly<Record<Covered, number>>
  isGoodWithoutAge: boolean
}

export async function readPlaced(engine: FaceEngine, { path }: Portrait) {
  const picture = await readPicture(path)
  engine.begin()
  const { face } = await engine.look(picture)
  if (!face) throw new Error(`No face was found in ${path}`)
  return { picture, mesh: face.mesh, bare: beforeCamera(picture, face.box) }
}

export async function tell(engine: FaceEngine, picture: Picture): Promise<Heard> {
  engine.begin()
  const sighting = await engine.look(picture)
  const oval = ovalFor(picture.width, picture.height)
  const guidance = guidanceFor(sighting, { oval })
  const kept = guidanceFor(sighting, { oval, was: 'in_oval' })
  const { face } = sighting
  return {
    guidance,
    face,
    evidence: face ? evidenceOf(picture, face) : { eyes: 0, mouth: 0 },
    isGoodWithoutAge: [guidance, kept].includes('in_oval') && !(face !== null && isAgeable(face)),
  }
}

function evidenceOf(picture: Picture, { mesh, box, eyes, pose }: SeenFace) {
  return coveredEvidence({ picture, mesh, box, grey: alignedGrey(picture, mesh), eyes, yaw: pose.yaw })
}

export type Tally = ReturnType<typeof createTally>

/** Counts faults, and how near faces without dark glasses and masks come to being taken for covered. */
export function createTally() {
  const nearest = new Map<string, Record<Half, number>>()
  const falsely: Record<Half, number> = { tuning: 0, 'held out': 0 }
  let goodWithoutAge = 0
  return {
    get goodWithoutAge() {
      return goodWithoutAge
    },
    falselyCovered: (half: Half) => falsely[half],

    add({ person }: Portrait, { face, evidence, isGoodWithoutAge }: Heard, { light = '1', covering = 'bare' } = {}) {
      if (isGoodWithoutAge) goodWithoutAge++
      if (isHiding(covering)) return
      const half = halfOf(person)
      if (face?.covered) falsely[half]++
      const what = `${covering}, light ${light}`
      const most = nearest.get(what) ?? { tuning: 0, 'held out': 0 }
      nearest.set(what, { ...most, [half]: Math.max(most[half], evidence.eyes, evidence.mouth) })
    },

    describe() {
      console.log('\nthe nearest bare face to a limit for coverings (1 is the limit): tuning half, held-out half')
      for (const [what, most] of nearest)
        console.log(`  ${what.padEnd(26)} ${HALVES.map((half) => most[half].toFixed(2)).join('  ')}`)
    },
  }
}

interface CoveringsOptions {
  portraits: readonly Portrait[]
  some?: readonly Covering[]
}

/** Prints what is said of painted coverings, and returns the share that passes as well placed. */
export async function measureCoverings(engine: FaceEngine, { portraits, some = COVERINGS }: CoveringsOptions) {
  const worn = ['bare', ...some] as const
  const counted = new Map<string, Map<Guidance, number>>()
  const tally = createTally()
  for (const portrait of portraits) {
    const { picture, mesh, bare } = await readPlaced(engine, portrait)
    for (const covering of worn) {
      const heard = await tell(
        engine,
        covering === 'bare' ? bare : beforeCamera(wearing(picture, mesh, covering), boxOf(mesh)),
      )
      tally.add(portrait, heard, { covering })
      const row = rowOf(covering, halfOf(portrait.person))
      const counts = counted.get(row) ?? new Map<Guidance, number>()
      counted.set(row, counts.set(heard.guidance, (counts.get(heard.guidance) ?? 0) + 1))
    }
  }
  console.log(`\nwhat the guide says of ${portraits.length} portraits, bare and with painted coverings`)
  let good = 0
  for (const covering of worn)
    for (const half of HALVES) {
      const counts = counted.get(rowOf(covering, half)) ?? new Map<Guidance, number>()
      if (isHiding(covering)) good += counts.get('in_oval') ?? 0
      const said = [...counts].map(([code, count]) => `${code} ${count}`).join(', ')
      console.log(`  ${covering.padEnd(18)} ${half.padEnd(8)} ${said}`)
    }
  tally.describe()
  return { tally, missed: good / (worn.filter(isHiding).length * portraits.length) }
}

const rowOf = (covering: Covering | 'bare', half: Half) => `${covering} ${half}`
const isHiding = (covering: string) => covering.endsWith('glasses') || covering.endsWith('mask')
