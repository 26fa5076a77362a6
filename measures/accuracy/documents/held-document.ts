/** A camera's picture of a document with a printed portrait, held slightly askew before a dark table. */
import type { DocumentPlace } from '@ostiary/documents'
import type { Picture } from '@ostiary/faces'
import type { Random } from '@ostiary/models/drawn-documents/random'
import { PRINT_DOTS_PER_MM, type PrintKind } from './print.ts'

interface Page {
  widthMm: number
  heightMm: number
  /** Upper left corner of the portrait. */
  portraitMm: { x: number; y: number }
}

const PAGES: Readonly<Record<PrintKind['page'], Page>> = {
  TD3: { widthMm: 125, heightMm: 88, portraitMm: { x: 6, y: 25 } },
  card: { widthMm: 85.6, heightMm: 54, portraitMm: { x: 5, y: 14 } },
}
/** The machine-readable zone of a TD3 page, from its upper left corner. */
const ZONE_MM = { left: 6, right: 6 + 44 * 2.54, top: 70.6, bottom: 81 }
const EDGE_MM = 4
const PAPER = 215
const TABLE = 70
const TILT_MAX = (4 * Math.PI) / 180
/** The camera's pixel takes light from this many places across and down. */
const SAMPLES = 3

export interface Held {
  picture: Picture
  place: DocumentPlace
}

export function holdDocument(print: Picture, kind: PrintKind, random: Random): Held {
  const page = PAGES[kind.page]
  const scale = kind.pixelsPerMm
  const angle = (2 * random.next() - 1) * TILT_MAX
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const width = Math.ceil((page.widthMm + 2 * EDGE_MM) * scale)
  const height = Math.ceil((page.heightMm + 2 * EDGE_MM) * scale)
  // From the middle, so that a tilt leaves the document in the picture.
  const toPicture = (xMm: number, yMm: number) => {
    const [x, y] = [(xMm - page.widthMm / 2) * scale, (yMm - page.heightMm / 2) * scale]
    return { x: width / 2 + x * cos - y * sin, y: height / 2 + x * sin + y * cos }
  }
  const light = new Float32Array(width * height * 3)
  for (let row = 0, at = 0; row < height; row++)
    for (let column = 0; column < width; column++, at += 3) {
      const toMm = (sampleX: number, sampleY: number) => {
        const [x, y] = [column + sampleX - width / 2, row + sampleY - height / 2]
        return {
          xMm: (x * cos + y * sin) / scale + page.widthMm / 2,
          yMm: (y * cos - x * sin) / scale + page.heightMm / 2,
        }
      }
      addLight({ light, at, print, page, toMm })
    }
  const blurred = blur(light, { width, height, sigma: kind.blurPx })
  const portraitWidthMm = print.width / PRINT_DOTS_PER_MM
  const glare = toPicture(
    page.portraitMm.x + portraitWidthMm * random.next(),
    page.portraitMm.y + kind.heightMm * random.next(),
  )
  const reach = portraitWidthMm * scale * 0.25
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [dx, dy] = [(pixel % width) - glare.x, Math.floor(pixel / width) - glare.y]
    const shine = kind.glare * Math.exp(-(dx * dx + dy * dy) / (2 * reach * reach))
    for (let channel = 0; channel < 3; channel++) {
      const level = Math.min(255, (blurred[pixel * 3 + channel] ?? 0) + shine)
      data[pixel * 4 + channel] = level + kind.noise * random.normal()
    }
  }
  const { left, right, top, bottom } = ZONE_MM
  const frame = { x: EDGE_MM * scale, y: EDGE_MM * scale, width: page.widthMm * scale, height: page.heightMm * scale }
  const corners = [
    toPicture(left, top),
    toPicture(right, top),
    toPicture(right, bottom),
    toPicture(left, bottom),
  ] as const
  return { picture: { width, height, data }, place: kind.page === 'TD3' ? { format: 'TD3', corners } : { frame } }
}

interface Lit {
  light: Float32Array
  at: number
  print: Picture
  page: Page
  /** A place in the pixel (0 to 1 across and down) on the page. */
  toMm(x: number, y: number): { xMm: number; yMm: number }
}

function addLight({ light, at, print, page, toMm }: Lit): void {
  const dotAt = ({ xMm, yMm }: { xMm: number; yMm: number }) => ({
    column: Math.floor((xMm - page.portraitMm.x) * PRINT_DOTS_PER_MM),
    row: Math.floor((yMm - page.portraitMm.y) * PRINT_DOTS_PER_MM),
  })
  const { xMm, yMm } = toMm(0.5, 0.5)
  const { column, row } = dotAt({ xMm, yMm })
  if (column < 0 || row < 0 || column >= print.width || row >= print.height) {
    const isPage = xMm >= 0 && yMm >= 0 && xMm <= page.widthMm && yMm <= page.heightMm
    light.fill(isPage ? PAPER : TABLE, at, at + 3)
    return
  }
  for (let sample = 0; sample < SAMPLES ** 2; sample++) {
    const dot = dotAt(toMm(((sample % SAMPLES) + 0.5) / SAMPLES, (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES))
    const x = Math.min(print.width - 1, Math.max(0, dot.column))
    const y = Math.min(print.height - 1, Math.max(0, dot.row))
    const from = (y * print.width + x) * 4
    for (let channel = 0; channel < 3; channel++)
      light[at + channel] = (light[at + channel] ?? 0) + (print.data[from + channel] ?? 0) / SAMPLES ** 2
  }
}

function blur(
  light: Float32Array,
  { width, height, sigma }: { width: number; height: number; sigma: number },
): Float32Array {
  const reach = Math.ceil(sigma * 2.5)
  const weights = Array.from({ length: 2 * reach + 1 }, (_, at) => Math.exp(-((at - reach) ** 2) / (2 * sigma * sigma)))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const along = (from: Float32Array, isRow: boolean) => {
    const to = new Float32Array(from.length)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        for (let step = -reach; step <= reach; step++) {
          const near = isRow ? Math.min(width - 1, Math.max(0, x + step)) : Math.min(height - 1, Math.max(0, y + step))
          const source = (isRow ? y * width + near : near * width + x) * 3
          const weight = (weights[step + reach] ?? 0) / sum
          const at = (y * width + x) * 3
          for (let channel = 0; channel < 3; channel++)
            to[at + channel] = (to[at + channel] ?? 0) + weight * (from[source + channel] ?? 0)
        }
    return to
  }
  return along(along(light, true), false)
}
