import type { LaunchEventType } from '@ostiary/contract'
import type { Camera } from '../camera/camera-types.ts'
import type { Engine } from '../engine/engine.ts'
import type { DocumentChoice, DocumentGuidance, DocumentSide, DocumentView, ReadFacts } from './document-types.ts'
import { guideFrame } from './guide-frame.ts'
import type { DocumentLook, DocumentReader } from './reader.ts'

export interface ShowOptions {
  camera: Camera
  reader: DocumentReader
  engine: Pick<Engine, 'findPortrait'>
  choice: DocumentChoice
  /** The portrait is compared with a face, now or later. */
  needsPortrait: boolean
  log(type: Extract<LaunchEventType, 'document_shown' | 'document_read'>, side: number): void
  onView(view: Partial<DocumentView>): void
  /** Waits a moment for a camera without a new picture. */
  pause(): Promise<void>
  signal: AbortSignal
}

export interface ShownDocument {
  facts: ReadFacts
  sides: 1 | 2
}

/** A page has text and portrait together. A card needs two sides, but only one if nobody asks for its portrait. */
function sidesOf({ choice, needsPortrait }: ShowOptions): DocumentSide[] {
  if (choice === 'passport') return ['page']
  return needsPortrait ? ['front', 'back'] : ['back']
}

/** Looks at pictures until every side is read. Has no shutter: the first pictures that are good enough count. */
export async function showDocument(options: ShowOptions): Promise<ShownDocument> {
  const { log, onView } = options
  let facts: ReadFacts | undefined
  const hints = new Set<PortraitHint>()
  let shown = 0
  for (const side of sidesOf(options)) {
    const isSecondSide = shown > 0
    // Some cards have portrait and lines on one side.
    if (isSecondSide && facts && !TWO_SIDED.includes(facts.format)) break
    shown++
    log('document_shown', shown)
    // Or the user has shown the back already, when the front was asked for.
    if (!isSecondSide || !facts) {
      onView({ side, isSecondSide, guidance: firstGuidance(options, side), sharpness: 0 })
      facts = (await readSide(options, side, hints)) ?? facts
    }
    log('document_read', shown)
  }
  if (!facts) throw new Error('Nothing was read')
  return { facts: { ...facts, hints: [...facts.hints, ...hints] }, sides: shown > 1 ? 2 : 1 }
}

/** Their text is on the side without the portrait. */
const TWO_SIDED: readonly string[] = ['TD1', 'AAMVA']

function firstGuidance({ choice }: ShowOptions, side: DocumentSide): DocumentGuidance {
  return choice === 'licence' && side === 'back' ? 'barcode_find' : 'doc_find'
}

/** What the portrait itself shows; the reader raises the others. */
type PortraitHint = Extract<ReadFacts['hints'][number], 'pasted_portrait'>

/** Returns the text's facts, where this side has a text. */
async function readSide(
  options: ShowOptions,
  side: DocumentSide,
  hints: Set<PortraitHint>,
): Promise<ReadFacts | undefined> {
  const { onView, needsPortrait, signal } = options
  let hasPortrait = !needsPortrait || side === 'back'
  let facts: ReadFacts | undefined
  for (;;) {
    signal.throwIfAborted()
    const look = await lookOnce(options, side)
    signal.throwIfAborted()
    if (!look) continue
    facts = look.read ?? facts
    let { guidance } = look
    if (hasPortrait) closePicture(look)
    else if (look.portrait) {
      const seen = await options.engine.findPortrait(look.portrait.picture, look.portrait.areas)
      signal.throwIfAborted()
      hasPortrait = seen.is === 'found' && isPrinted(options, side, seen.face.width)
      if (seen.is === 'found' && hasPortrait && (await options.reader.isPasted(seen.face))) hints.add('pasted_portrait')
      if (seen.is === 'too_small') guidance = 'doc_too_far'
      else if (!hasPortrait) guidance = side === 'front' && look.hasText ? 'doc_wrong_side' : 'doc_portrait'
    } else if (side === 'front' && look.read) guidance = 'doc_wrong_side'
    onView({ guidance, sharpness: look.sharpness })
    // A front with lines is that of an older card: wait until they are read.
    const isDone = side === 'front' ? hasPortrait && (facts !== undefined || !look.hasText) : hasPortrait && facts
    if (isDone) return facts
  }
}

/**
 * A card fills the frame, so the face on it is small. A wide one is the face of the person who holds it, before a webcam, and would match
 * itself.
 */
function isPrinted({ camera }: ShowOptions, side: DocumentSide, faceWidth: number): boolean {
  return side !== 'front' || faceWidth <= guideFrame(camera.width, camera.height, side).width * FACE_SHARE_MAX
}
/** A portrait 35 mm high has a face 16 mm wide, on a card of 86 mm that may be held closer than the frame asks for. */
const FACE_SHARE_MAX = 0.3

async function lookOnce(
  { camera, reader, pause, signal }: ShowOptions,
  side: DocumentSide,
): Promise<DocumentLook | undefined> {
  const picture = await camera.grab().catch(() => undefined)
  if (!picture) {
    await pause()
    return undefined
  }
  if (signal.aborted) picture.close()
  signal.throwIfAborted()
  return reader.look(picture, side)
}

function closePicture({ portrait }: DocumentLook): void {
  portrait?.picture.close()
}
