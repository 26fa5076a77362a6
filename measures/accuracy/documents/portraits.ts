/**
 * Area C: a live face against the portrait of a document. The document side is a portrait as it is printed and held before a
 * camera; the live side is another, untouched portrait. The page's own code finds the portrait and computes the score.
 */
import { DOCUMENT_FACE_MATCH } from '@ostiary/contract'
import { portraitAreas } from '@ostiary/documents'
import { type Box, cosine, createFaceEngine, type FaceEngine, matchScore, type Picture } from '@ostiary/faces'
import { createRandom } from '@ostiary/models/drawn-documents/random'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { type Figure, type MeasureOptions, median } from '@ostiary/testkit/measuring/figure'
import { loadPortraits, missingPortraits, type Portrait, readPicture } from '@ostiary/testkit/samples/portraits'
import { holdDocument } from './held-document.ts'
import { chooseThreshold, countErrors, errorsLine, halfOf, type PortraitPair, THRESHOLDS } from './portrait-pairs.ts'
import { GHOST_KIND, PORTRAIT_DOTS_PER_MM, PRINT_KINDS, type PrintKind, printPortrait } from './print.ts'

const DEFAULT_THRESHOLD = DOCUMENT_FACE_MATCH.threshold
/** Two files that are more similar than this are the same photograph, cropped or retouched. */
const SAME_PHOTOGRAPH = 0.95
const SEED = 1611
/**
 * How much of the portrait the face takes. `passport`: as ICAO 9303 asks, 70 to 80 % of the height from chin to crown, which is about
 * 55 % for the points of the mesh. `half-length`: as the photographs are, with shoulders and chest; some cards come near that.
 */
type Framing = 'passport' | 'half-length'
const PASSPORT = { faceShare: 0.55, faceMiddle: 0.52, width: 35 / 45 }
/** The short form: this many people with several portraits and with one, and the first and the fourth kind of print. */
const SAMPLE = { several: 3, single: 2, kinds: [0, 3] }

interface Live extends Portrait {
  vector: Float32Array
  /** The part of the picture that a passport would show, as a filter of ffmpeg. */
  passportCrop: string
}

export async function measurePortraits({ full, say }: MeasureOptions): Promise<Figure[]> {
  const missing = missingPortraits()
  if (missing !== undefined) {
    say(`skipped: there are no portraits at ${missing}`)
    return []
  }
  const engine = createFaceEngine({ load: loadNetFromDisk() })
  const portraits = full ? loadPortraits() : sampleOf(loadPortraits())
  const live = await embedLive(engine, portraits)
  say(`${live.length} of ${portraits.length} live faces`)
  const printed = full ? live.filter(hasOther) : live.filter((one, at) => hasOther(one, at, live) && at % 2 === 0)
  const kinds = full ? PRINT_KINDS : PRINT_KINDS.filter((_, at) => SAMPLE.kinds.includes(at))
  const compare = async (framing: Framing) => {
    say(`framing: ${framing}`)
    const pairs: PortraitPair[] = []
    let found = 0
    for (const kind of kinds) {
      const seen = await comparePrinted(engine, { kind, framing, printed, live })
      found += seen.found
      pairs.push(...seen.pairs)
      const missed = `${seen.tooSmall} too small, ${printed.length - seen.found - seen.tooSmall} not seen`
      say(`${kind.name}: found ${seen.found} of ${printed.length}, ${missed}, ${seen.faceWidth.toFixed(0)} px wide`)
    }
    describeErrors(`all prints, framing: ${framing}`, pairs)
    if (full) describe(pairs, kinds)
    return { pairs, foundShare: found / (kinds.length * printed.length) }
  }
  const { pairs, foundShare } = await compare('passport')
  if (full) await compare('half-length')
  const { refused, genuine, passed, others } = countErrors(pairs, DEFAULT_THRESHOLD)
  return [
    { name: 'documents.portrait.found', value: foundShare, floor: 0.98, is: 'least' },
    { name: 'documents.portrait.frr', value: refused / genuine, floor: full ? 0.06 : 0.25, is: 'most' },
    { name: 'documents.portrait.far', value: passed / others, floor: full ? 0.001 : 0.01, is: 'most' },
    ...(full ? await measureGhosts(engine, printed, say) : []),
  ]
}

/** Two portraits each of some people who have several, and some people who have one. */
function sampleOf(portraits: readonly Portrait[]): Portrait[] {
  const people = [...Map.groupBy(portraits, ({ person }) => person).values()]
  const several = people.filter(({ length }) => length > 1).slice(0, SAMPLE.several)
  const single = people.filter(({ length }) => length === 1).slice(0, SAMPLE.single)
  return [...several.flatMap((some) => [some[0], some.at(-1)]), ...single.flat()].filter((one) => one !== undefined)
}

const hasOther = ({ person, path }: Portrait, _: number, all: readonly Portrait[]) =>
  all.some((other) => other.person === person && other.path !== path)

async function embedLive(engine: FaceEngine, portraits: readonly Portrait[]): Promise<Live[]> {
  const live: Live[] = []
  for (const portrait of portraits) {
    engine.begin()
    const picture = await readPicture(portrait.path)
    const { face } = await engine.look(picture)
    if (!face) continue
    const vector = await engine.embedFace(picture, face, 'FACE3_3')
    live.push({ ...portrait, vector, passportCrop: passportCrop(picture, face.box) })
  }
  return live
}

/** As large as the picture allows where it is too tight. */
function passportCrop({ width, height }: Picture, face: Box): string {
  const high = Math.min(height, face.height / PASSPORT.faceShare, width / PASSPORT.width)
  const wide = high * PASSPORT.width
  const x = Math.min(width - wide, Math.max(0, face.x + face.width / 2 - wide / 2))
  const y = Math.min(height - high, Math.max(0, face.y + face.height / 2 - high * PASSPORT.faceMiddle))
  return `crop=${[wide, high, x, y].map(Math.round).join(':')}`
}

interface Printed {
  kind: PrintKind
  framing: Framing
  printed: readonly Live[]
  live: readonly Live[]
}

async function comparePrinted(engine: FaceEngine, { kind, framing, printed, live }: Printed) {
  const pairs: PortraitPair[] = []
  let tooSmall = 0
  const widths: number[] = []
  for (const [index, one] of printed.entries()) {
    const { sighting, vector } = await lookAtPrint(engine, { kind, framing, portrait: one, seed: SEED + index })
    if (sighting.is === 'too_small') tooSmall++
    if (!vector || sighting.is === 'none') continue
    widths.push(sighting.face.width)
    for (const other of live) {
      const isSame = one.person === other.person
      if (isSame && cosine(one.vector, other.vector) > SAME_PHOTOGRAPH) continue
      pairs.push({
        kind: kind.name,
        people: [one.person, other.person],
        score: matchScore(other.vector, vector),
        yearsApart: isSame ? Math.abs(one.ageYears - other.ageYears) : undefined,
      })
    }
  }
  return { pairs, found: widths.length, tooSmall, faceWidth: median(widths) }
}

async function lookAtPrint(
  engine: FaceEngine,
  { kind, framing, portrait, seed }: { kind: PrintKind; framing: Framing; portrait: Live; seed: number },
) {
  const height = Math.round(kind.heightMm * PORTRAIT_DOTS_PER_MM)
  const crop = framing === 'passport' ? [portrait.passportCrop] : []
  const picture = await readPicture(portrait.path, { filters: [...crop, `scale=-2:${height}`] })
  const random = createRandom(seed * 1009 + Math.round(kind.heightMm * 100 + kind.pixelsPerMm * 10))
  const held = holdDocument(printPortrait(picture, kind, random), kind, random)
  return engine.embedPortrait(held.picture, portraitAreas(held.place))
}

/** A ghost portrait without the portrait beside it must be too small. */
async function measureGhosts(
  engine: FaceEngine,
  printed: readonly Live[],
  say: MeasureOptions['say'],
): Promise<Figure[]> {
  let taken = 0
  let seen = 0
  for (const [index, portrait] of printed.entries()) {
    const { sighting } = await lookAtPrint(engine, {
      kind: GHOST_KIND,
      framing: 'passport',
      portrait,
      seed: SEED + index,
    })
    if (sighting.is === 'found') taken++
    if (sighting.is !== 'none') seen++
  }
  say(`${GHOST_KIND.name}: seen ${seen} of ${printed.length}, taken for the portrait ${taken}`)
  return [{ name: 'documents.portrait.ghosts-taken', value: taken, floor: 0, is: 'most' }]
}

function describe(pairs: readonly PortraitPair[], kinds: readonly PrintKind[]): void {
  for (const { name } of kinds)
    describeErrors(
      name,
      pairs.filter(({ kind }) => kind === name),
    )
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 10],
  ] as const)
    describeErrors(
      `one person, ${from} to ${to} years between the dates of the two portraits`,
      pairs.filter(({ yearsApart = -1 }) => yearsApart >= from && yearsApart < to),
    )
  for (const half of [0, 1] as const) {
    const some = halfOf(pairs, half)
    describeErrors(half === 0 ? 'one half of the people' : 'the other half', some)
    console.log(`  chosen on this half, to be confirmed on the other: ${chooseThreshold(some) ?? 'none of them'}`)
  }
}

function describeErrors(name: string, pairs: readonly PortraitPair[]): void {
  console.log(`\n${name}`)
  for (const threshold of THRESHOLDS) console.log(`  ${errorsLine(pairs, threshold)}`)
}
