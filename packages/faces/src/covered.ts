import { meshPoint } from './geometry.ts'
import type { Box, Covered, Picture } from './types.ts'

export interface CoveredInput {
  picture: Picture
  mesh: Float32Array
  box: Box
  /** The aligned crop of 112 pixels, grey. */
  grey: Float32Array
  /** How far the better eye is open. */
  eyes: number
  yaw: number
}

/** A head turned further hides half of the face from its own camera. */
const YAW_MAX = 20
/** An eye that is surely open is behind no dark glass. */
const EYES_SEEN = 0.3

/** Patches on the mesh; left and right alternate. */
const UPPER = [168, 6, 8, 9, 122, 351, 193, 417, 151, 108, 337, 107, 336, 69, 299]
const NOSE = [1, 4, 5, 45, 275, 44, 274, 195, 281, 51, 3, 248]
const LOWER = [
  164, 165, 391, 92, 322, 205, 425, 187, 411, 207, 427, 36, 266, 206, 426, 199, 200, 18, 83, 313, 201, 421, 57, 287,
  212, 432,
]
/** Nose and upper cheeks: no beard grows there. */
const BARE = [
  ...NOSE,
  ...[36, 266, 205, 425, 50, 280, 101, 330, 142, 371, 203, 423, 129, 358, 49, 279, 131, 360, 187, 411],
]
const NOSTRILS = [98, 327, 97, 326, 2, 60, 290, 20, 250]
const NOSE_RIDGE = [1, 4, 5, 195, 197]
const LIPS = [13, 14, 0, 17, 37, 267, 84, 314, 61, 291]
const AROUND_LIPS = [164, 18, 200, 57, 287, 92, 322, 43, 273, 106, 335]

/**
 * Limits between bare portraits and paint over them (docs/accuracy/faces.md), nearer to the paint: a bare face with the advice to take
 * off a mask has no way on. All in logarithms, so that most of the light and of the tone of the skin cancels out.
 */
const LIMITS = {
  /** No lips and no nostrils: brightness of the darkest of them against what is around, and the spread over the lips. */
  flat: { lips: 0.12, nostrils: 0.18, spread: 0.06 },
  /** Another colour than the forehead: how far off a patch is, and how many patches must be. */
  odd: { colour: 0.36, light: 1.2, share: 0.6 },
  /** The spread of red against green over skin without a beard. */
  pattern: 0.25,
  /** Over an eye: how much darker than the cheek, and detail along the eye. Black glass may show its edge there. */
  glass: { dark: 0.55, detail: 0.045, black: 1.4, edge: 0.09, blank: 0.02 },
} as const

/** What hides a part of the face; null where it is bare, or where nobody can say. An eye patch hides one eye only. */
export function findCovered(input: CoveredInput): Covered | null {
  const { eyes, mouth } = coveredEvidence(input)
  if (eyes >= 1) return 'eyes'
  return mouth >= 1 ? 'mouth' : null
}

/** How near the cues are to their limits: 1 is the limit, less is bare. Cues that belong together count as the weakest of them. */
export function coveredEvidence(input: CoveredInput): Readonly<Record<Covered, number>> {
  if (Math.abs(input.yaw) > YAW_MAX) return { eyes: 0, mouth: 0 }
  const patches = patchesOf(input)
  return {
    eyes: Math.min(EYES_SEEN / Math.max(input.eyes, 0.01), ...EYES_AT.map((x) => glassEvidence(input.grey, x))),
    mouth: Math.max(flatEvidence(patches), oddEvidence(patches), patternEvidence(patches)),
  }
}

/** The aligned crop (embed.ts). */
const SIZE = 112
const EYES_AT = [38, 74] as const
const EYE = { left: 9, right: 9, top: 47, bottom: 57 } as const
const CHEEK = { left: 6, right: 6, top: 66, bottom: 75 } as const

type Area = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>

/** Dark glass hides the detail of an eye; a mirror is not dark, but blank. Darkness alone proves nothing: deep eyes have it too. */
function glassEvidence(grey: Float32Array, x: number): number {
  const eye = logsOf(grey, x, EYE)
  const dark = medianOf(logsOf(grey, x, CHEEK).flat()) - meanOf(eye.flat())
  const detail = meanOf(eye.flatMap((row) => row.slice(2).map((value, at) => Math.abs(value - (row[at] ?? 0)))))
  const { glass } = LIMITS
  return Math.max(
    Math.min(dark / glass.dark, below(glass.detail, detail)),
    Math.min(dark / glass.black, below(glass.edge, detail)),
    below(glass.blank, detail),
  )
}

/** 1 where a value is at its limit, more below it. */
const below = (limit: number, value: number) => limit / Math.max(value, 0.001)

/** Each a mean of nine pixels: the noise of a dark picture would count as detail. */
function logsOf(grey: Float32Array, x: number, { left, right, top, bottom }: Area): number[][] {
  const at = (column: number, row: number) => {
    let sum = 0
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) sum += grey[(row + dy) * SIZE + column + dx] ?? 0
    return Math.log(sum / 9 + BLACK)
  }
  return Array.from({ length: bottom - top + 1 }, (_, row) =>
    Array.from({ length: left + right + 1 }, (_, column) => at(x - left + column, top + row)),
  )
}

/** Added before a logarithm: below this level there is only noise. */
const BLACK = 4

interface Patch {
  light: number
  /** Red and blue, each against green. */
  red: number
  blue: number
}

type Patches = (indices: readonly number[]) => Patch[]

function patchesOf({ picture, mesh, box }: CoveredInput): Patches {
  const radius = Math.max(1, Math.round(box.width * 0.012))
  return (indices) => indices.map((index) => patchAt(picture, meshPoint(mesh, index), radius))
}

function patchAt({ width, height, data }: Picture, middle: { x: number; y: number }, radius: number): Patch {
  const [x, y] = [Math.round(middle.x), Math.round(middle.y)]
  let [red, green, blue, count] = [0, 0, 0, 0]
  for (let row = Math.max(0, y - radius); row <= Math.min(height - 1, y + radius); row++)
    for (let column = Math.max(0, x - radius); column <= Math.min(width - 1, x + radius); column++) {
      const at = (row * width + column) * 4
      red += data[at] ?? 0
      green += data[at + 1] ?? 0
      blue += data[at + 2] ?? 0
      count++
    }
  const log = (sum: number) => Math.log(sum / Math.max(1, count) + BLACK)
  const [r, g, b] = [log(red), log(green), log(blue)]
  return { light: 0.299 * r + 0.587 * g + 0.114 * b, red: r - g, blue: b - g }
}

/** Cloth without a pattern: there is nothing where nostrils and lips are dark on every bare face. */
function flatEvidence(patches: Patches): number {
  const light = (indices: readonly number[]) => patches(indices).map((patch) => patch.light)
  const lips = light(LIPS)
  const { flat } = LIMITS
  return Math.min(
    below(flat.lips, medianOf(light(AROUND_LIPS)) - Math.min(...lips)),
    below(flat.spread, spreadOf(lips)),
    below(flat.nostrils, medianOf(light(NOSE_RIDGE)) - Math.min(...light(NOSTRILS))),
  )
}

/** Cloth of another colour than the skin around the eyes, over nose and cheeks alike: a beard leaves the nose bare. */
function oddEvidence(patches: Patches): number {
  const upper = patches(UPPER)
  const [light, red, blue] = [
    medianOf(upper.map((patch) => patch.light)),
    medianOf(upper.map((patch) => patch.red)),
    medianOf(upper.map((patch) => patch.blue)),
  ]
  const { odd } = LIMITS
  const most = (indices: readonly number[]) => {
    const offs = patches(indices).map((patch) =>
      Math.max(Math.hypot(patch.red - red, patch.blue - blue) / odd.colour, Math.abs(patch.light - light) / odd.light),
    )
    return offs.sort((a, b) => b - a)[Math.ceil(odd.share * offs.length) - 1] ?? 0
  }
  return Math.min(most(NOSE), most(LOWER))
}

function patternEvidence(patches: Patches): number {
  return spreadOf(patches(BARE).map(({ red }) => red)) / LIMITS.pattern
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function spreadOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
}
