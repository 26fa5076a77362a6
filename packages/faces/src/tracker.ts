import { detectorInput, readDetections } from './detect.ts'
import { distanceBetween, type Square } from './geometry.ts'
import { meshInput, readMesh, squareOfDetection, squareOfMesh } from './mesh.ts'
import type { Nets } from './nets.ts'
import type { Picture } from './types.ts'

export interface Found {
  faces: number
  mesh: Float32Array | undefined
}

export interface Tracker {
  /** `precise`: reads a face that moved a second time, from its new place, as for every new face. */
  find(picture: Picture, options?: { precise: boolean }): Promise<Found>
  forget(): void
}

const FACE_MIN = 0.5
/** How often the detector searches for other faces while one is followed: it takes several times as long as the mesh. */
const SEARCH_EVERY_MS = 1000
const NOMINAL_PICTURE_MS = 100
/** A new face is read where the detector found it, again from the place that this reading gives, and at most once more. */
const READS_MAX = 3
/** A face that moved less than this (in sides of its square; radians) is read from the same square as before. */
const REST = { shift: 0.04, scale: 0.06, angle: 0.05 }

/**
 * Follows one face by its mesh; the detector runs when it is lost, and now and then to see whether there are others.
 * The square that a face is read from does not change while the face is at rest, so equal pictures give equal measurements:
 * any difference comes from the face, and one repeated picture gives none.
 */
export function createTracker(nets: Nets, now: (() => number) | undefined): Tracker {
  let tracked: { square: Square; width: number; height: number } | undefined
  let faces = 0
  let searchedAtMs = 0
  let nominalMs = 0

  const nextMs = () => {
    nominalMs += NOMINAL_PICTURE_MS
    return now ? now() : nominalMs
  }

  const follow = async (picture: Picture, reads: number) => {
    const isSameCamera = tracked?.width === picture.width && tracked.height === picture.height
    return tracked && isSameCamera ? settle(nets, picture, { square: tracked.square, reads }) : undefined
  }

  return {
    async find(picture, { precise } = { precise: false }) {
      const atMs = nextMs()
      const followed = await follow(picture, precise ? READS_MAX : 1)
      let reading = followed
      if (!followed || faces > 1 || atMs - searchedAtMs >= SEARCH_EVERY_MS) {
        const found = await search(nets, picture)
        searchedAtMs = atMs
        // A face that is followed is there, even when the detector overlooks it.
        faces = Math.max(found.length, followed ? 1 : 0)
        const [largest] = found
        if (!followed && largest) reading = await settle(nets, picture, { square: largest.next, reads: READS_MAX - 1 })
      }
      tracked = reading && { square: reading.next, width: picture.width, height: picture.height }
      return { faces: reading ? faces : 0, mesh: reading?.mesh }
    },

    forget() {
      tracked = undefined
      faces = 0
    },
  }
}

interface Reading {
  mesh: Float32Array
  /** Where the face is to be read the next time. */
  next: Square
}

/** Reads the mesh, and again from where it was found as long as that is elsewhere and reads are left. */
async function settle(
  nets: Nets,
  picture: Picture,
  { square, reads }: { square: Square; reads: number },
): Promise<Reading | undefined> {
  const mesh = await readAt(nets, picture, square)
  if (!mesh) return undefined
  const found = squareOfMesh(mesh)
  if (isAtRest(square, found)) return { mesh, next: square }
  const again = reads > 1 ? await settle(nets, picture, { square: found, reads: reads - 1 }) : undefined
  return again ?? { mesh, next: found }
}

function isAtRest(before: Square, now: Square): boolean {
  const turn = Math.abs(now.angle - before.angle)
  return (
    distanceBetween(before.centre, now.centre) < REST.shift * before.side &&
    Math.abs(now.side / before.side - 1) < REST.scale &&
    Math.min(turn, 2 * Math.PI - turn) < REST.angle
  )
}

/** Faces in the whole picture, the largest first, as far as the mesh agrees: the detector alone takes patterns for faces. */
async function search(nets: Nets, picture: Picture): Promise<Reading[]> {
  const detections = readDetections(await nets.run('blazeface', detectorInput(picture)), picture)
  const readings: Reading[] = []
  for (const detection of detections) {
    const mesh = await readAt(nets, picture, squareOfDetection(detection))
    if (mesh) readings.push({ mesh, next: squareOfMesh(mesh) })
  }
  return readings
}

async function readAt(nets: Nets, picture: Picture, square: Square): Promise<Float32Array | undefined> {
  const { probability, mesh } = readMesh(await nets.run('facemesh', meshInput(picture, square)), square)
  return probability >= FACE_MIN ? mesh : undefined
}
