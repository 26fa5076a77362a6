import type { DocumentPayload } from '@ostiary/contract'
import {
  type Acceptance,
  addDays,
  type DocumentText,
  doSidesDisagree,
  findProblem,
  isClear,
  type MrzRead,
  type Picture,
  parseAamva,
  parseMrz,
  portraitAreas,
  reuseMark,
  toClaims,
  type ZoneLook,
} from '@ostiary/documents'
import type { PortraitArea, PortraitFace } from '@ostiary/faces'
import type { DocumentGuidance, DocumentSide, ReadFacts } from './document-types.ts'
import { type Frame, guideFrame } from './guide-frame.ts'
import type { PictureHint } from './picture-hints.ts'
import { type PictureQuality, qualityOf } from './picture-quality.ts'
import type { DocumentLook, WantedDocument } from './reader.ts'

/** What the worker reads with. */
export interface ReadingTools {
  identity: DocumentPayload['reader']
  readMrz(picture: Picture): MrzRead | undefined
  acceptReads(reads: readonly MrzRead[]): Acceptance
  lookForZone(picture: Picture): ZoneLook | undefined
  findBarcode(picture: Picture): Promise<string | undefined>
  hintsOf(picture: Picture, part: Frame): PictureHint[]
  isPasted(picture: Picture, face: PortraitFace): boolean
}

/** What one picture shows; the portrait's areas instead of the picture. */
export type ReadingLook = Omit<DocumentLook, 'portrait'> & { areas?: PortraitArea[] }

/** Pixels per character. Below `good` a doubtful text is asked for from nearer, below `min` every text (docs/documents.md). */
const PIXELS = { min: 12, good: 16, max: 55 } as const
/** Share of the picture's width that a zone may fill. */
const FILL_MAX = 0.9
const DARK = 0.16
const GLARE = 0.06
const SHARP = { min: 0.3, portrait: 0.4 } as const
const FINGER = { confidenceMin: 0.75, leastMax: 0.15 } as const
/** Pictures of the back without any text before the user is asked to turn it over. */
const FLIP_AFTER = 12
const READS_MAX = 40
const EQUAL_BARCODES = 2
/** A barcode corrects its own errors, so a text that was decoded twice is certain. */
const BARCODE_CONFIDENCE = 999
const LATELY_DAYS = 31

/** Reads one document from many pictures. Its texts stay in here: only facts come out. */
export function createReading(wanted: WantedDocument, tools: ReadingTools) {
  const reads: MrzRead[] = []
  const barcodes = new Map<string, number>()
  let facts: ReadFacts | undefined
  /** The last good picture of the front: the one in which the page found the portrait. */
  let front: { picture: Picture; frame: Frame } | undefined
  /** The last picture in which the page may search for the portrait. */
  let searched: Picture | undefined
  let without = 0

  async function look(picture: Picture, side: DocumentSide): Promise<ReadingLook> {
    const seen = await lookAt(picture, side)
    if (seen.areas) searched = picture
    return seen
  }

  async function lookAt(picture: Picture, side: DocumentSide): Promise<ReadingLook> {
    const frame = guideFrame(picture.width, picture.height, side)
    const quality = qualityOf(picture, frame)
    const isBarcode = wanted.choice === 'licence'
    // The front of a licence has neither lines nor a barcode.
    if (isBarcode && side === 'front') return lookAtFront(picture, frame, quality)
    return isBarcode ? lookForBarcode(picture, quality) : lookForLines(picture, side, frame, quality)
  }

  function lookAtFront(picture: Picture, frame: Frame, quality: PictureQuality): ReadingLook {
    const trouble = troubleOf(quality)
    const isGood = trouble === undefined && quality.sharpness >= SHARP.portrait
    if (isGood) front = { picture, frame }
    return {
      guidance: trouble ?? (isGood ? 'doc_hold' : 'doc_find'),
      sharpness: quality.sharpness,
      hasText: false,
      ...(isGood && { areas: portraitAreas({ frame }) }),
    }
  }

  async function lookForLines(
    picture: Picture,
    side: DocumentSide,
    frame: Frame,
    quality: PictureQuality,
  ): Promise<ReadingLook> {
    const read = tools.readMrz(picture)
    const hasText = read !== undefined && read.confidence >= FINGER.confidenceMin
    if (!hasText && side === 'front') return lookAtFront(picture, frame, quality)
    if (read && hasText) {
      reads.push(read)
      if (reads.length > READS_MAX) reads.shift()
    }
    without = hasText ? 0 : without + 1
    const accepted = tools.acceptReads(reads)
    if (!facts && accepted.state !== 'searching') facts = await factsOfLines(picture, accepted)
    const { sharpness } = quality
    const guidance = read && hasText ? guidanceOfRead(picture, read, quality) : guidanceWithout(picture, side, quality)
    const areas = read && hasText ? portraitAreas({ format: read.format, corners: read.corners }) : []
    return {
      guidance: facts ? 'doc_hold' : guidance,
      sharpness,
      hasText,
      ...(areas.length > 0 && { areas }),
      ...(facts && { read: facts }),
    }
  }

  function guidanceOfRead(picture: Picture, read: MrzRead, quality: PictureQuality): DocumentGuidance {
    if (read.pixelsPerCharacter < PIXELS.min) return 'doc_too_far'
    if (read.pixelsPerCharacter > PIXELS.max || !isInside(read, picture)) return 'doc_too_close'
    if (quality.glare > GLARE) return 'doc_glare'
    if (quality.sharpness < SHARP.min) return 'doc_blurry'
    if (read.leastConfidence < FINGER.leastMax) return 'doc_fingers'
    return !isClear(read) && mayComeNearer(picture, read) ? 'doc_too_far' : 'doc_hold'
  }

  /** Nothing was read: where lines are found anyway, they say why. */
  function guidanceWithout(picture: Picture, side: DocumentSide, quality: PictureQuality): DocumentGuidance {
    const zone = tools.lookForZone(picture)
    if (zone?.isCutOff) return 'doc_too_close'
    if (zone && zone.pixelsPerCharacter < PIXELS.min) return 'doc_too_far'
    if (zone && !zone.isSharp) return 'doc_blurry'
    const trouble = troubleOf(quality)
    if (trouble) return trouble
    return side === 'back' && without >= FLIP_AFTER ? 'doc_flip' : 'doc_find'
  }

  async function lookForBarcode(picture: Picture, quality: PictureQuality): Promise<ReadingLook> {
    const text = facts ? undefined : await tools.findBarcode(picture)
    if (text !== undefined) {
      const equal = (barcodes.get(text) ?? 0) + 1
      barcodes.set(text, equal)
      const zone = tools.readMrz(picture)
      if (zone) reads.push(zone)
      const parsed = equal >= EQUAL_BARCODES ? parseAamva(text) : undefined
      if (parsed) {
        const hints = [...hintsOfCard(picture), ...(doesZoneDisagree(parsed) ? (['sides_disagree'] as const) : [])]
        facts = await factsOf(parsed, { frames: equal, confidence: BARCODE_CONFIDENCE, hints })
      }
    }
    without = text === undefined ? without + 1 : 0
    const lost = without >= FLIP_AFTER ? 'barcode_focus' : 'barcode_find'
    const guidance = facts || text !== undefined ? 'doc_hold' : (troubleOf(quality) ?? lost)
    return { guidance, sharpness: quality.sharpness, hasText: text !== undefined, ...(facts && { read: facts }) }
  }

  /** Enhanced licences have lines beside the barcode. Those that were not read twice alike say nothing. */
  function doesZoneDisagree(barcode: DocumentText): boolean {
    const accepted = tools.acceptReads(reads)
    if (accepted.state !== 'accepted') return false
    const zone = parseMrz(accepted.read.format, accepted.read.lines, wanted.today)
    // The lines may have a number of their own, that of the card.
    return zone !== undefined && doSidesDisagree(barcode, { ...zone, number: undefined })
  }

  async function factsOfLines(
    picture: Picture,
    { read, equalFrames }: Exclude<Acceptance, { state: 'searching' }>,
  ): Promise<ReadFacts | undefined> {
    const text = parseMrz(read.format, read.lines, wanted.today)
    if (!text) return undefined
    const page = pageOf(read)
    const hints = page ? tools.hintsOf(picture, page) : hintsOfCard(picture)
    return factsOf(text, { frames: equalFrames, confidence: Math.round(1000 * read.confidence), hints })
  }

  /** Of a card with its text on the back: the front shows whether it is in colour. Without one, only a screen can be recognised. */
  function hintsOfCard(back: Picture): PictureHint[] {
    if (front) return tools.hintsOf(front.picture, front.frame)
    return tools.hintsOf(back, guideFrame(back.width, back.height, 'back')).filter((hint) => hint === 'screen')
  }

  async function factsOf(
    text: DocumentText,
    more: Pick<ReadFacts, 'frames' | 'confidence' | 'hints'>,
  ): Promise<ReadFacts> {
    const problem = findProblem(text, wanted)
    const reuse = wanted.reuseKey === undefined ? undefined : await reuseMark(text, bytesOf(wanted.reuseKey))
    const { expiry } = text
    return {
      ...toClaims(text, wanted),
      ...more,
      ...(reuse !== undefined && { reuse }),
      reader: tools.identity,
      unusable: problem === 'unsupported' ? 'unsupported' : problem === 'noBirthDate' ? 'no_birth_date' : null,
      expiredLately: expiry !== undefined && expiry < wanted.today && addDays(expiry, LATELY_DAYS) >= wanted.today,
    }
  }

  return { look, isPasted: (face: PortraitFace) => searched !== undefined && tools.isPasted(searched, face) }
}

function troubleOf({ brightness, glare, sharpness }: PictureQuality): DocumentGuidance | undefined {
  if (brightness < DARK) return 'doc_dark'
  if (glare > GLARE) return 'doc_glare'
  return sharpness < SHARP.min ? 'doc_blurry' : undefined
}

/** The page around the lines; undefined for a card, whose lines are on the back. Smaller than the page, which may be tilted. */
function pageOf({ format, corners }: MrzRead): Frame | undefined {
  const whole = portraitAreas({ format, corners }).at(-1)
  if (!whole) return undefined
  const [width, height] = [whole.width * WITHIN, whole.height * WITHIN]
  return { x: whole.centre.x - width / 2, y: whole.centre.y - height / 2, width, height }
}
const WITHIN = 0.85

/** Whether a zone with enough pixels would still fit: a small camera never shows a passport so large. */
function mayComeNearer({ width }: Picture, { lines, pixelsPerCharacter }: MrzRead): boolean {
  const columns = lines[0]?.length ?? 0
  return pixelsPerCharacter < PIXELS.good && columns * PIXELS.good <= width * FILL_MAX
}

function isInside({ corners }: MrzRead, { width, height }: Picture): boolean {
  return corners.every(({ x, y }) => x >= 0 && y >= 0 && x < width && y < height)
}

/** From base64url. */
function bytesOf(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}
