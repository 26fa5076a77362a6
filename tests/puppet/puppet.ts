import { boxOf, type Picture } from '@ostiary/faces'
import { createHead } from './head.ts'
import { paintLids } from './lids.ts'
import { createCanvas, drawSheet } from './raster.ts'
import type { Stance } from './script.ts'
import { buildStage, placeFace, type Size } from './stage.ts'

export interface Puppet {
  /** Nobody there. */
  empty: Picture
  /** The portrait in a stance: a picture of its own, to keep or to change. */
  draw(stance: Stance): Picture
}

/** A portrait that moves, from its picture and the mesh of its face. */
export function createPuppet(portrait: Picture, { mesh, size }: { mesh: Float32Array; size: Size }): Puppet {
  const placement = placeFace(boxOf(mesh), size)
  const { picture: face, empty } = buildStage(portrait, { placement, size })
  const onStage = mesh.map((value, index) => value * placement.scale + ([placement.x, placement.y, 0][index % 3] ?? 0))
  const head = createHead(onStage, size)
  const texture = { ...size, data: new Uint8ClampedArray(face.data) }
  const canvas = createCanvas(size.width, size.height)
  return {
    empty,
    draw(stance) {
      texture.data.set(face.data)
      paintLids(texture, { face, mesh: onStage, eyes: stance.eyes })
      drawSheet(canvas, { triangles: head.triangles, from: head.from, to: head.turned(stance), texture })
      return { ...canvas.picture, data: new Uint8ClampedArray(canvas.picture.data) }
    },
  }
}
