import type { Picture, Point } from '@ostiary/faces'

/** Points of the mesh along the edges of the lids, from one corner of the eye to the other. */
const EYES = [
  { upper: [33, 246, 161, 160, 159, 158, 157, 173, 133], lower: [33, 7, 163, 144, 145, 153, 154, 155, 133] },
  { upper: [362, 398, 384, 385, 386, 387, 388, 466, 263], lower: [362, 382, 381, 380, 374, 373, 390, 249, 263] },
] as const

/** All in lengths of the eye. */
const LID = {
  /** The mesh runs on the rim or a little inside; lashes go with the lid, and the upper ones are long. */
  marginAbove: 0.18,
  marginBelow: 0.09,
  /** How far beyond the rims the skin is looked at, and how far to either side it is smoothed. */
  skinAbove: 0.05,
  skinBelow: 0.07,
  smoothing: 0.12,
  lashes: 0.04,
} as const

/** Where closed lids meet: the upper one does most of the way. */
const MEETING = 0.8
const LASH_DARKNESS = 0.7
/** Above deep eyes there is no skin but the shadow of the brow, and a lid is not that dark. */
const DARKEST_ABOVE = 0.72
/** A closed lid is round and catches the light. */
const BULGE = 0.05

/**
 * Paints the lids of both eyes into `target`, which holds a copy of `face`: skin between the colours above and below the
 * eye, as far down as the lid has come, and lashes along its edge.
 */
export function paintLids(
  target: Picture,
  { face, mesh, eyes }: { face: Picture; mesh: Float32Array; eyes: number },
): void {
  for (const eye of EYES) paintEye(target, { face, lids: measureLids(mesh, eye), open: Math.min(1, Math.max(0, eyes)) })
}

/** An eye in its own axes: along from corner to corner, down across it. */
interface Lids {
  origin: Point
  along: Point
  down: Point
  length: number
  /** How far down each rim is, at places from 0 to 1 between the corners. */
  upper: (share: number) => number
  lower: (share: number) => number
}

function measureLids(mesh: Float32Array, { upper, lower }: (typeof EYES)[number]): Lids {
  const point = (index: number): Point => ({ x: mesh[index * 3] ?? 0, y: mesh[index * 3 + 1] ?? 0 })
  const [origin, end] = [point(upper[0]), point(upper[8])]
  const length = Math.hypot(end.x - origin.x, end.y - origin.y)
  const along = { x: (end.x - origin.x) / length, y: (end.y - origin.y) / length }
  // Both eyes run from left to right in the picture, so down is a quarter turn from there.
  const down = { x: -along.y, y: along.x }
  const rim = (indices: readonly number[]) =>
    curveThrough(
      indices.map(point).map(({ x, y }) => ({
        x: ((x - origin.x) * along.x + (y - origin.y) * along.y) / length,
        y: (x - origin.x) * down.x + (y - origin.y) * down.y,
      })),
    )
  return { origin, along, down, length, upper: rim(upper), lower: rim(lower) }
}

/** Straight from point to point; the points run from left to right. */
function curveThrough(points: readonly Point[]): (share: number) => number {
  return (share) => {
    const next = Math.max(
      1,
      points.findIndex(({ x }, index) => index > 0 && x >= share),
    )
    const [from, to] = [points[next - 1], points[next]]
    if (!from || !to || to.x === from.x) return 0
    return from.y + ((share - from.x) / (to.x - from.x)) * (to.y - from.y)
  }
}

function paintEye(target: Picture, { face, lids, open }: { face: Picture; lids: Lids; open: number }): void {
  if (open === 1) return
  const { origin, along, down, length } = lids
  const skin = createSkin(face, lids)
  const reach = length * 0.9
  const middle = { x: origin.x + (along.x * length) / 2, y: origin.y + (along.y * length) / 2 }
  const [left, right] = [Math.max(0, Math.floor(middle.x - reach)), Math.min(target.width, middle.x + reach)]
  for (let row = Math.max(0, Math.floor(middle.y - reach)); row < Math.min(target.height, middle.y + reach); row++) {
    for (let column = left; column < right; column++) {
      const [dx, dy] = [column + 0.5 - origin.x, row + 0.5 - origin.y]
      const share = (dx * along.x + dy * along.y) / length
      if (share <= 0 || share >= 1) continue
      const { cover, height, dark } = lidAt(dx * down.x + dy * down.y, { share, lids, open })
      if (cover === 0 && dark === 1) continue
      const at = (row * target.width + column) * 4
      for (const [channel, colour] of skin(share, height).entries()) {
        target.data[at + channel] = dark * (cover * colour + (1 - cover) * (target.data[at + channel] ?? 0))
      }
    }
  }
}

interface Lid {
  /** How much of the lid covers this place: soft at its borders. */
  cover: number
  /** Where between the upper rim (0) and the lower (1). */
  height: number
  dark: number
}

function lidAt(depth: number, { share, lids, open }: { share: number; lids: Lids; open: number }): Lid {
  const { length } = lids
  const [upper, lower] = rimsAt(share, lids)
  const meeting = upper + (lower - upper) * MEETING
  const [edge, rise] = [meeting + (upper - meeting) * open, meeting + (lower - meeting) * open]
  const softness = Math.max(1, 0.04 * length)
  const within = Math.min(ramp((depth - upper) / softness + 0.5), ramp((lower - depth) / softness + 0.5))
  const covered = Math.max(ramp(edge - depth + 0.5), ramp(depth - rise + 0.5))
  const lash = (depth - edge) / (LID.lashes * length)
  return {
    cover: within * covered,
    height: (depth - upper) / Math.max(1, lower - upper),
    dark: 1 - LASH_DARKNESS * (1 - open) * narrowing(share) * Math.exp(-lash * lash),
  }
}

function rimsAt(share: number, { upper, lower, length }: Lids): [number, number] {
  const margin = length * narrowing(share)
  return [upper(share) - LID.marginAbove * margin, lower(share) + LID.marginBelow * margin]
}

/** Everything narrows towards the corners, where lids do not move. */
function narrowing(share: number): number {
  return Math.sqrt(Math.sin(Math.PI * share))
}

type Colour = [number, number, number]

/** The skin of a closed lid, by the place along the eye and the height between the rims. */
function createSkin(face: Picture, lids: Lids): (share: number, height: number) => Colour {
  const { length } = lids
  const strip = (depthAt: (rims: [number, number]) => number) =>
    smoothed(Array.from({ length: STEPS + 1 }, (_, step) => colourAt(face, lids, { share: step / STEPS, depthAt })))
  const above = strip(([upper]) => upper - LID.skinAbove * length)
  const below = strip(([, lower]) => lower + LID.skinBelow * length)
  return (share, height) => {
    const step = Math.round(share * STEPS)
    const top: Colour = above[step] ?? [0, 0, 0]
    const bottom: Colour = below[step] ?? [0, 0, 0]
    const down = ramp(height)
    const light = 1 + BULGE * Math.sin(Math.PI * down)
    const mixed = (channel: 0 | 1 | 2) =>
      light * (Math.max(top[channel], DARKEST_ABOVE * bottom[channel]) * (1 - down) + bottom[channel] * down)
    return [mixed(0), mixed(1), mixed(2)]
  }
}

/** Places along the eye at which the skin is looked at. */
const STEPS = 32

interface SkinPlace {
  share: number
  depthAt: (rims: [number, number]) => number
}

function colourAt(face: Picture, lids: Lids, { share, depthAt }: SkinPlace): Colour {
  const { origin, along, down, length } = lids
  const depth = depthAt(rimsAt(share, lids))
  const x = Math.floor(origin.x + along.x * share * length + down.x * depth)
  const y = Math.floor(origin.y + along.y * share * length + down.y * depth)
  const [red = 0, green = 0, blue = 0] = face.data.subarray((y * face.width + x) * 4)
  return [red, green, blue]
}

function smoothed(colours: readonly Colour[]): Colour[] {
  const reach = Math.round(LID.smoothing * STEPS)
  return colours.map((_, step) => {
    const near = colours.slice(Math.max(0, step - reach), step + reach + 1)
    const mean = (channel: 0 | 1 | 2) => near.reduce((sum, colour) => sum + colour[channel], 0) / near.length
    return [mean(0), mean(1), mean(2)]
  })
}

function ramp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
