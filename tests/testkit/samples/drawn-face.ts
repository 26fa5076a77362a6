import type { Picture } from '@ostiary/faces'

export const DRAWN_SIZE = 320

type Colour = readonly [red: number, green: number, blue: number]

interface Spot {
  x: number
  y: number
  rx: number
  ry: number
  /** How far the edge runs, by the radius. */
  soft: number
  colour: Colour
  share?: number
  /** How much lower it lies at its ends than in its middle: brows and lids are bent. */
  bend?: number
}

/**
 * An artificial face, drawn from soft spots, because a picture of a real person may not be in the repository. The nets take
 * it for a face.
 */
export function drawnFace(): Picture {
  const data = new Uint8ClampedArray(DRAWN_SIZE * DRAWN_SIZE * 4)
  for (let y = 0, at = 0; y < DRAWN_SIZE; y++)
    for (let x = 0; x < DRAWN_SIZE; x++, at += 4) {
      let colour: Colour = [150 + y * 0.1, 165 + y * 0.08, 180 + y * 0.06]
      for (const spot of SPOTS) colour = laid(colour, spot, { x, y })
      // Add grain: the nets were trained on pictures of cameras.
      const grain = (((x * 7919 + y * 104729 + x * y * 31) % 13) - 6) / 2
      data.set([colour[0] + grain, colour[1] + grain, colour[2] + grain, 255], at)
    }
  return { width: DRAWN_SIZE, height: DRAWN_SIZE, data }
}

const eye = (x: number, side: -1 | 1): readonly Spot[] => [
  { x, y: 148, rx: 22, ry: 15, soft: 0.6, colour: [190, 140, 118], share: 0.8 },
  { x: x + side, y: 128, rx: 20, ry: 3.6, soft: 0.5, colour: [70, 45, 32], share: 0.9, bend: 3 },
  { x, y: 150, rx: 14, ry: 6.6, soft: 0.12, colour: [242, 238, 234] },
  { x, y: 150, rx: 6.3, ry: 6.3, soft: 0.15, colour: [84, 60, 44] },
  { x, y: 150, rx: 2.8, ry: 2.8, soft: 0.2, colour: [15, 12, 12] },
  { x: x + 2, y: 148, rx: 1.2, ry: 1.2, soft: 0.3, colour: [255, 255, 255] },
  { x, y: 143.6, rx: 15, ry: 1.7, soft: 0.5, colour: [60, 40, 34], share: 0.9, bend: 4 },
]

/** From the back to the front. */
const SPOTS: readonly Spot[] = [
  // Hair, shoulders, neck, face.
  { x: 160, y: 130, rx: 88, ry: 105, soft: 0.15, colour: [60, 40, 30] },
  { x: 160, y: 330, rx: 140, ry: 75, soft: 0.15, colour: [70, 80, 120] },
  { x: 160, y: 250, rx: 32, ry: 45, soft: 0.15, colour: [196, 150, 126] },
  { x: 160, y: 160, rx: 68, ry: 92, soft: 0.04, colour: [224, 178, 152] },
  // Shade on one side, light on the forehead, cheeks.
  { x: 222, y: 170, rx: 26, ry: 70, soft: 0.8, colour: [200, 150, 125], share: 0.6 },
  { x: 160, y: 108, rx: 40, ry: 22, soft: 0.9, colour: [240, 200, 176], share: 0.7 },
  { x: 124, y: 190, rx: 18, ry: 14, soft: 0.9, colour: [232, 160, 140], share: 0.5 },
  { x: 196, y: 190, rx: 18, ry: 14, soft: 0.9, colour: [232, 160, 140], share: 0.5 },
  ...eye(131, -1),
  ...eye(189, 1),
  // Nose.
  { x: 170, y: 175, rx: 7, ry: 26, soft: 0.8, colour: [198, 148, 124], share: 0.7 },
  { x: 159, y: 172, rx: 5, ry: 26, soft: 0.8, colour: [240, 198, 174], share: 0.7 },
  { x: 160, y: 190, rx: 12, ry: 9, soft: 0.6, colour: [236, 186, 162], share: 0.8 },
  { x: 152.5, y: 196, rx: 4, ry: 2.4, soft: 0.6, colour: [140, 90, 76], share: 0.8 },
  { x: 167.5, y: 196, rx: 4, ry: 2.4, soft: 0.6, colour: [140, 90, 76], share: 0.8 },
  // Lips, the line between them, the shade below.
  { x: 160, y: 217, rx: 25, ry: 4.5, soft: 0.3, colour: [182, 96, 92] },
  { x: 160, y: 222, rx: 20, ry: 6, soft: 0.3, colour: [196, 112, 106] },
  { x: 160, y: 218.5, rx: 23, ry: 1.3, soft: 0.5, colour: [110, 50, 50], share: 0.8 },
  { x: 160, y: 233, rx: 16, ry: 3, soft: 0.8, colour: [196, 146, 124], share: 0.6 },
]

function laid(
  below: Colour,
  { colour, share = 1, bend = 0, ...spot }: Spot,
  { x, y }: { x: number; y: number },
): Colour {
  const right = (x - spot.x) / spot.rx
  const away = Math.hypot(right, (y - spot.y - right * right * bend) / spot.ry)
  const cover = share * Math.min(1, Math.max(0, (1 + spot.soft - away) / (2 * spot.soft)))
  const mix = (channel: 0 | 1 | 2) => below[channel] + (colour[channel] - below[channel]) * cover
  return [mix(0), mix(1), mix(2)]
}
