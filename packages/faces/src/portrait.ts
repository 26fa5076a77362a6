import { EMBEDDING } from './embed.ts'
import { angleOf, boxOf, fivePointsOf } from './geometry.ts'
import type { Nets } from './nets.ts'
import { createTracker } from './tracker.ts'
import type { Picture, Point } from './types.ts'
import { cosine } from './vectors.ts'
import type { Crop } from './warp.ts'

/** A rectangle of a picture, turned by `angle` (radians, clockwise), in which the portrait of a document may be. */
export interface PortraitArea {
  centre: Point
  width: number
  height: number
  angle: number
  /** In pixels. A narrower face is too small for a comparison. */
  faceWidthMin: number
}

/** What a picture of a document shows of its portrait. */
export type PortraitSighting = { is: 'none' } | { is: 'too_small' | 'found'; face: PortraitFace }

/** Where a face is in the picture. Turned by `angle` (radians, clockwise) it is upright. */
export interface PortraitFace {
  centre: Point
  width: number
  height: number
  angle: number
}

export interface FoundPortrait {
  sighting: PortraitSighting
  /** The face for FACE3_3, where one was found. */
  crop: Crop | undefined
}

/**
 * The score of a live face and the portrait of a document, from 0 to 1: the cosine of their FACE3_3 vectors. Vectors of
 * different people may point in opposite directions; that is 0.
 */
export function matchScore(live: Float32Array, portrait: Float32Array): number {
  return Math.min(1, Math.max(0, cosine(live, portrait)))
}

/** Searches the areas one after the other. The widest face wins, so that a ghost portrait never replaces the portrait. */
export async function findPortrait(
  nets: Nets,
  picture: Picture,
  areas: readonly PortraitArea[],
): Promise<FoundPortrait> {
  let widest: FoundPortrait = { sighting: { is: 'none' }, crop: undefined }
  let width = 0
  for (const area of areas) {
    const cut = cutOut(picture, area)
    // A tracker of its own: that of the camera goes on searching where the live face was.
    const { mesh } = await createTracker(nets, undefined).find(cut, { precise: true })
    const face = mesh && inPicture(mesh, cut, area)
    if (!mesh || !face || face.width <= width) continue
    width = face.width
    widest =
      face.width < area.faceWidthMin
        ? { sighting: { is: 'too_small', face }, crop: undefined }
        : { sighting: { is: 'found', face }, crop: EMBEDDING.FACE3_3.crop(cut, mesh) }
  }
  return widest
}

/** From the upright cut of an area to the picture. The nets find a face that lies on its side in the cut as well. */
function inPicture(mesh: Float32Array, cut: Picture, { centre, angle }: PortraitArea): PortraitFace {
  const box = boxOf(mesh)
  const [leftEye, rightEye] = fivePointsOf(mesh)
  const quarters = Math.round(angleOf(leftEye, rightEye) / (Math.PI / 2))
  const [along, across] = [box.x + (box.width - cut.width) / 2, box.y + (box.height - cut.height) / 2]
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return {
    centre: { x: centre.x + along * cos - across * sin, y: centre.y + along * sin + across * cos },
    ...(quarters % 2 === 0 ? { width: box.width, height: box.height } : { width: box.height, height: box.width }),
    angle: angle + (quarters * Math.PI) / 2,
  }
}

/** The area as an upright picture of its own, in the scale of the picture. Outside the picture it is black. */
export function cutOut(picture: Picture, { centre, width: wide, height: high, angle }: PortraitArea): Picture {
  const [width, height] = [Math.max(1, Math.round(wide)), Math.max(1, Math.round(high))]
  const data = new Uint8ClampedArray(width * height * 4)
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  for (let row = 0, at = 0; row < height; row++)
    for (let column = 0; column < width; column++, at += 4) {
      const [along, across] = [column + 0.5 - width / 2, row + 0.5 - height / 2]
      // Pixel centres lie on whole numbers here.
      const x = centre.x + along * cos - across * sin - 0.5
      const y = centre.y + along * sin + across * cos - 0.5
      copyPixel(picture, { x, y }, data, at)
    }
  return { width, height, data }
}

/** Bilinear; a place outside the picture stays black. */
function copyPixel({ width, height, data }: Picture, { x, y }: Point, into: Uint8ClampedArray, at: number): void {
  into[at + 3] = 255
  if (x < -0.5 || y < -0.5 || x > width - 0.5 || y > height - 0.5) return
  const left = Math.min(width - 1, Math.max(0, Math.floor(x)))
  const top = Math.min(height - 1, Math.max(0, Math.floor(y)))
  const [fx, fy] = [Math.max(0, x - left), Math.max(0, y - top)]
  const nw = (top * width + left) * 4
  const ne = left + 1 < width ? nw + 4 : nw
  const down = top + 1 < height ? width * 4 : 0
  for (let channel = 0; channel < 3; channel++) {
    const upper = (data[nw + channel] ?? 0) * (1 - fx) + (data[ne + channel] ?? 0) * fx
    const lower = (data[nw + down + channel] ?? 0) * (1 - fx) + (data[ne + down + channel] ?? 0) * fx
    into[at + channel] = upper * (1 - fy) + lower * fy
  }
}
