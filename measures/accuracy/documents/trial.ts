/** Draws one document, photographs it a few times, reads every frame. */
import { acceptReads, isAcceptable, type MrzFormat, type MrzRead, readFrame } from '@ostiary/documents'
import { drawPage, type MorphRange } from '@ostiary/models/drawn-documents/draw'
import { type Cut, loadCuts } from '@ostiary/models/drawn-documents/glyphs'
import { type InventedDocument, inventDocument } from '@ostiary/models/drawn-documents/invent'
import {
  LEVELS,
  type LevelNumber,
  type Photograph,
  photograph,
  toPicture,
} from '@ostiary/models/drawn-documents/photograph'
import { createRandom } from '@ostiary/models/drawn-documents/random'
import { loadReportedCut } from './reported-cut.ts'

/** Reported documents begin here. Thresholds and rules were chosen on documents from TUNING_SEED. */
export const REPORTED_SEED = 6_000_000
export const TUNING_SEED = 3_000_000

/** Prints that the trainer never draws: narrower, and wider, than any that it does. */
export const BEYOND_TRAINED: readonly MorphRange[] = [
  { weight: 0.03, width: [0.8, 0.85], height: [0.92, 1.06], slant: 0.03, eachCharacter: 0.08, bend: 0.025 },
  { weight: 0.03, width: [1.11, 1.15], height: [0.92, 1.06], slant: 0.03, eachCharacter: 0.08, bend: 0.025 },
]

export interface Trial {
  seed: number
  format: MrzFormat
  level: LevelNumber
  frames: number
  /** `reported`: the cut that was never trained on. `beyond`: trained cuts, printed beyond the trained range. */
  print: 'reported' | 'beyond'
}

export interface FrameResult {
  isFound: boolean
  isExact: boolean
  isAccepted: boolean
  confidence: number
  leastConfidence: number
  cpuMs: number
}

export interface TrialResult {
  trial: Trial
  frames: readonly FrameResult[]
  /** By the rule over several frames. */
  isAccepted: boolean
  isRight: boolean
  digitFailed: boolean
}

export function runTrial(trial: Trial): TrialResult {
  const { document, photos } = drawTrial(trial)
  const reads: MrzRead[] = []
  const frames = photos.map((photo) => {
    const picture = toPicture(photo)
    const before = process.threadCpuUsage()
    const read = readFrame(picture)
    const { user, system } = process.threadCpuUsage(before)
    if (read) reads.push(read)
    return {
      isFound: read !== undefined,
      isExact: read !== undefined && isExact(read, document),
      isAccepted: read !== undefined && isAcceptable(read),
      confidence: read?.confidence ?? 0,
      leastConfidence: read?.leastConfidence ?? 0,
      cpuMs: (user + system) / 1000,
    }
  })
  const acceptance = acceptReads(reads)
  return {
    trial,
    frames,
    isAccepted: acceptance.state === 'accepted',
    isRight: acceptance.state === 'accepted' && isExact(acceptance.read, document),
    digitFailed: acceptance.state === 'digit_failed',
  }
}

/** The frames are drawn one after the other: a page and its photographs follow from the seed alone. */
export function drawTrial({ seed, format, level, frames, print }: Trial): {
  document: InventedDocument
  photos: Photograph[]
} {
  const random = createRandom(seed)
  const document = inventDocument(format, random)
  const conditions = LEVELS[level]
  const { wear = 0, fade = 0 } = conditions
  const look =
    print === 'reported'
      ? { cut: reportedCut() }
      : { cut: random.pick(trainedCuts()), morph: random.pick(BEYOND_TRAINED) }
  const page = drawPage({ document, random, wear, fade, ...look })
  return { document, photos: Array.from({ length: frames }, () => photograph(page, conditions, random)) }
}

const isExact = ({ format, lines }: MrzRead, document: InventedDocument) =>
  format === document.format && lines.join('\n') === document.lines.join('\n')

let reported: Cut | undefined
let trained: Cut[] | undefined
const reportedCut = () => (reported ??= loadReportedCut())
const trainedCuts = () => (trained ??= loadCuts())
