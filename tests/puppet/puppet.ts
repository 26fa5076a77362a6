import { boxOf, type Picture } from '@ostiary/faces'
import { createHead } from './head.ts'
import { paintLids } from './lids.ts'
import { createCanvas, drawSheet } from './raster.ts'
import type { Stance } from './script.ts'
import { blurred, buildStage, fadedIn, placeFace, type Size } from './stage.ts'

export interface Puppet {
  /** Nobody there. */
  empty: Picture
  /** The portrait in a stance: a picture of its own, to keep or to change. */
  draw(stance: Stance): Picture
}

/** A portrait that moves, from its picture and the mesh of its face. */
export function createPuppet(
  portrait: Picture,
  { mesh, size, blurPx = 0 }: { mesh: Float32Array; size: Size; blurPx?: number },
): Puppet {
  const placement = placeFace(boxOf(mesh), size)
  const stage = buildStage(portrait, { placement, size })
  const onStage = mesh.map((value, index) => value * placement.scale + ([placement.x, placement.y, 0][index % 3] ?? 0))
  const face = blurred(stage.picture, blurPx)
  const empty = blurred(stage.empty, blurPx)
  const head = createHead(onStage, size)
  const texture = { ...size, data: new Uint8ClampedArray(face.data) }
  const canvas = createCanvas(size.width, size.height)
  return {
    empty,
    draw(stance) {
      if (stance.presence === 0) return { ...empty, data: new Uint8ClampedArray(empty.data) }
      texture.data.set(face.data)
      paintLids(texture, { face, mesh: onStage, eyes: stance.eyes })
      drawSheet(canvas, { triangles: head.triangles, from: head.from, to: head.turned(stance), texture })
      return fadedIn(canvas.picture, empty, stance.presence)
    },
  }
}
