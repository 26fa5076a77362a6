import { boxOf, cutOut, type Picture } from '@ostiary/faces'
import { drawDocument } from '@ostiary/models/drawn-documents/colour'
import { type Cut, loadCuts } from '@ostiary/models/drawn-documents/glyphs'
import { createRandom } from '@ostiary/models/drawn-documents/random'
import type { DocumentSide } from '@ostiary/testkit/samples/documents'
import { readPortrait } from './scene.ts'

/** Pixels per millimetre, somewhat more than the camera has. */
const SCALE = 12
/** The paper of seed 1 has strong waves; this one is pale. */
const PALE_PAPER = 2
/** The mesh of a face takes this much of a passport's portrait, and its middle is here; ICAO 9303 asks for 70 to 80 % for the head. */
const PORTRAIT = { faceShare: 0.55, faceMiddle: 0.52, width: 35 / 45 } as const

/** Draws one side of an invented document. */
export async function drawSide({ side, seed = PALE_PAPER, portrait, ...content }: DocumentSide): Promise<Picture> {
  const [cut] = loadCuts() as [Cut, ...Cut[]]
  const face = portrait === undefined ? {} : { portrait: await passportPortrait(portrait) }
  return drawDocument({ side, ...content, ...face, cut, random: createRandom(seed), pixelsPerMm: SCALE }).picture
}

/** A portrait, cut as for a passport. Where it is too tight the rest is black. */
async function passportPortrait(name: string): Promise<Picture> {
  const { picture, mesh } = await readPortrait(name)
  const face = boxOf(mesh)
  const height = Math.min(picture.height, face.height / PORTRAIT.faceShare)
  const centre = {
    x: face.x + face.width / 2,
    y: face.y + face.height / 2 + height * (0.5 - PORTRAIT.faceMiddle),
  }
  return cutOut(picture, { centre, width: height * PORTRAIT.width, height, angle: 0, faceWidthMin: 0 })
}
