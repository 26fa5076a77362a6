import type { Oval } from '@ostiary/faces'

export interface Crop {
  x: number
  y: number
  width: number
  height: number
}

/** Aspect ratio of the viewfinder, as in style/capture.css. */
const RATIO = 3 / 4

/** The part of the picture that the viewfinder shows: its middle, as large as fits (CSS: object-fit: cover). */
export function cropOf(width: number, height: number): Crop {
  const shown = width / height > RATIO ? { width: height * RATIO, height } : { width, height: width / RATIO }
  return { x: (width - shown.width) / 2, y: (height - shown.height) / 2, ...shown }
}

/** An oval as a clockwise path from its top, where the progress stroke starts. */
export function ovalPath({ x, y, rx, ry }: Oval): string {
  return `M${x} ${y - ry}A${rx} ${ry} 0 0 1 ${x} ${y + ry}A${rx} ${ry} 0 0 1 ${x} ${y - ry}z`
}

/** Everything except the oval: with fill rule "evenodd", the oval is a hole. */
export function veilPath(crop: Crop, oval: Oval): string {
  return `M${crop.x} ${crop.y}h${crop.width}v${crop.height}h-${crop.width}z${ovalPath(oval)}`
}
