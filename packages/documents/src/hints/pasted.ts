import type { Picture, Point } from '../types.ts'

/** From here on a portrait looks pasted. Chosen at 2 % false alarms on drawn documents, around faces that the nets found. */
export const BORDER_SHARPNESS_MIN = 1.17

/** Where the face of the portrait is in the picture. Turned by `angle` (radians, clockwise) it is upright. */
export interface PortraitFace {
  centre: Point
  width: number
  height: number
  angle: number
}

/**
 * The points of a face's mesh take about this share of the portrait's height, and their middle is here. From chin to crown a head takes
 * 70 to 80 % (ICAO 9303), which is 0.5 to 0.6 for the mesh; some cards show more of the shoulders.
 */
const FRAMING = { faceHeight: 0.48, faceMiddle: 0.52, width: 0.78 }
/**
 * How far from there a border is looked for, by the portrait's height: enough for faces of 0.4 to 0.6 of it. And how far one end may
 * be from the other, by the length of the side.
 */
const SEARCH = { across: 0.09, down: 0.13, lean: 0.07 }
/** How much of a side is looked at: its ends are not known exactly. */
const MIDDLE_PART = 0.7
/** Pixels on each side of a border that are compared for the step itself, and for the whole change of brightness. */
const NEAR = 1
const FAR = 6
/** A border is hard when more than this share of the change happens within the step. A border that fades has about 0.25. */
const HARD_SHARE = 0.4

/**
 * How hard the portrait's borders are, in levels of brightness: the step beyond what a soft border would have. A portrait that is
 * printed with the page fades into it. The softest of the four sides counts: long hair has hard edges on both sides of a face, and the edge
 * of the document may lie beside the portrait. Undefined when a side is not in the picture.
 */
export function borderSharpness(picture: Picture, face: PortraitFace): number | undefined {
  const sides = sidesOf(picture, face)
  return sides.includes(undefined) ? undefined : Math.min(...sides.map((side) => side ?? 0))
}

function sidesOf(picture: Picture, face: PortraitFace): (number | undefined)[] {
  const height = face.height / FRAMING.faceHeight
  const width = height * FRAMING.width
  const margin = Math.ceil((SEARCH.down + SEARCH.lean / 2) * height) + FAR + 2
  const upright = smoothed(cutUpright(picture, face, { width: width + 2 * margin, height: height + 2 * margin }))
  const middleX = upright.width / 2
  const top = upright.height / 2 - height * FRAMING.faceMiddle
  const vertical = (x: number) =>
    hardestLine(
      upright,
      { x, y: top + height / 2, length: height * MIDDLE_PART, isUpright: true },
      height * SEARCH.across,
    )
  const level = (y: number) =>
    hardestLine(upright, { x: middleX, y, length: width * MIDDLE_PART, isUpright: false }, height * SEARCH.down)
  return [vertical(middleX - width / 2), vertical(middleX + width / 2), level(top), level(top + height)]
}

/** Brightness; NaN beyond the picture. */
interface Luma {
  width: number
  height: number
  data: Float32Array
}

/** The surroundings of the face, turned upright, in the scale of the picture. */
function cutUpright(
  { width, height, data }: Picture,
  { centre, angle }: PortraitFace,
  size: { width: number; height: number },
): Luma {
  const cut = { width: Math.ceil(size.width), height: Math.ceil(size.height) }
  const luma = new Float32Array(cut.width * cut.height).fill(Number.NaN)
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  for (let row = 0, to = 0; row < cut.height; row++)
    for (let column = 0; column < cut.width; column++, to++) {
      const [along, across] = [column - cut.width / 2, row - cut.height / 2]
      const x = Math.round(centre.x + along * cos - across * sin)
      const y = Math.round(centre.y + along * sin + across * cos)
      if (x < 0 || y < 0 || x >= width || y >= height) continue
      const at = (y * width + x) * 4
      luma[to] = 0.3 * (data[at] as number) + 0.59 * (data[at + 1] as number) + 0.11 * (data[at + 2] as number)
    }
  return { ...cut, data: luma }
}

/** Over 3 x 3 pixels, against noise. */
function smoothed({ width, height, data }: Luma): Luma {
  const rows = data.map((value, at) => ((data[at - 1] ?? value) + value + (data[at + 1] ?? value)) / 3)
  const means = rows.map((value, at) => ((rows[at - width] ?? value) + value + (rows[at + width] ?? value)) / 3)
  return { width, height, data: means }
}

interface Side {
  /** Its middle. */
  x: number
  y: number
  length: number
  isUpright: boolean
}

/** The hardest of all nearly parallel lines near a side. Undefined when none of them is in the picture. */
function hardestLine(luma: Luma, { x, y, length, isUpright }: Side, reach: number): number | undefined {
  const [along, aside] = isUpright ? [luma.width, 1] : [1, luma.width]
  const middle = Math.round(y) * luma.width + Math.round(x)
  const leanMax = Math.round(length * SEARCH.lean)
  const half = Math.floor(length / 2)
  let hardest: number | undefined
  for (let lean = -leanMax; lean <= leanMax; lean += 2)
    for (let offset = -Math.floor(reach); offset <= reach; offset++) {
      let [sum, count] = [0, 0]
      for (let step = -half; step <= half; step += 2) {
        const at = middle + step * along + Math.round(offset + (lean * step) / length) * aside
        const near = Math.abs((luma.data[at + NEAR * aside] as number) - (luma.data[at - NEAR * aside] as number))
        const far = Math.abs((luma.data[at + FAR * aside] as number) - (luma.data[at - FAR * aside] as number))
        sum += near - HARD_SHARE * far
        count++
      }
      // NaN where the line leaves the picture.
      if (sum / count > (hardest ?? -1)) hardest = Math.max(0, sum / count)
    }
  return hardest
}
