/** A camera model: how a page looks in a frame at six levels of difficulty. Everything is invented; no real camera was measured. */
import type { Picture } from '@ostiary/documents'
import { drawBackground, drawFingers, type Frame, type Level, lightOf, smear, soften } from './conditions.ts'
import { type GreyPage, PIXELS_PER_MM } from './draw.ts'
import { type Homography, homographyBetween, project } from './homography.ts'
import type { Random } from './random.ts'

/** Level 1 is 1080p held well, 2 is 720p, 3 a hurried user, 4 a worn document, 5 arm's length, 6 a camera of 640x480. */
export const LEVELS: Readonly<Record<1 | 2 | 3 | 4 | 5 | 6, Level>> = {
  1: {
    width: 1920,
    height: 1080,
    fill: [0.8, 0.9],
    tiltDegrees: 2,
    perspective: 0.01,
    blur: [0.5, 0.8],
    noise: 3,
    offset: 0.02,
  },
  2: {
    width: 1280,
    height: 720,
    fill: [0.8, 0.9],
    tiltDegrees: 4,
    perspective: 0.025,
    blur: [0.5, 1],
    noise: 5,
    offset: 0.03,
    shadow: 0.15,
  },
  3: {
    width: 1280,
    height: 720,
    fill: [0.72, 0.86],
    tiltDegrees: 8,
    perspective: 0.045,
    blur: [0.7, 1.2],
    noise: 8,
    offset: 0.06,
    shadow: 0.35,
    busy: 0.5,
    glare: 0.35,
    laminate: 0.5,
    motion: 1,
  },
  4: {
    width: 1280,
    height: 720,
    fill: [0.65, 0.8],
    tiltDegrees: 12,
    perspective: 0.06,
    blur: [0.9, 1.5],
    noise: 11,
    offset: 0.08,
    shadow: 0.5,
    busy: 1,
    glare: 0.6,
    laminate: 1,
    motion: 2,
    fingers: 2,
    wear: 0.4,
    fade: 0.5,
  },
  5: {
    width: 1280,
    height: 720,
    fill: [0.55, 0.7],
    tiltDegrees: 15,
    perspective: 0.08,
    blur: [1, 1.7],
    noise: 14,
    offset: 0.12,
    shadow: 0.6,
    busy: 1,
    glare: 0.8,
    laminate: 1,
    motion: 2.5,
    fingers: 3,
    wear: 0.7,
    fade: 0.7,
  },
  6: {
    width: 640,
    height: 480,
    fill: [0.85, 0.96],
    tiltDegrees: 15,
    perspective: 0.07,
    blur: [0.8, 1.4],
    noise: 16,
    offset: 0.03,
    shadow: 0.6,
    busy: 1,
    glare: 0.9,
    laminate: 1,
    motion: 2,
    fingers: 3,
    wear: 0.8,
    fade: 0.8,
  },
}
export type LevelNumber = keyof typeof LEVELS

export interface Photograph {
  width: number
  height: number
  grey: Uint8Array
  centres: readonly (readonly { x: number; y: number }[])[]
  pixelsPerCharacter: number
}

export interface PhotographOptions {
  tiltDegrees?: number
  pixelsPerMm?: number
  /** Moves the page, in shares of the frame. */
  shift?: { x: number; y: number }
}

export function photograph(page: GreyPage, level: Level, random: Random, options: PhotographOptions = {}): Photograph {
  const { width, height } = level
  const pose = poseOf(page, level, random, options)
  const onto = homographyBetween(
    pose.corners,
    CORNERS.map(([x, y]) => ({ x: x * page.width, y: y * page.height })),
  )
  const toFrame = homographyBetween(
    CORNERS.map(([x, y]) => ({ x: x * page.width, y: y * page.height })),
    pose.corners,
  )
  let grey = drawBackground(level, random)
  placePage({ grey, width, height }, page, { onto, corners: pose.corners, scale: pose.pageWidth / page.width })
  drawFingers({ grey, width, height }, { count: level.fingers ?? 0, page, toFrame, pageWidth: pose.pageWidth, random })
  grey = smear({ grey, width, height }, level.motion ?? 0, random)
  grey = soften({ grey, width, height }, random.between(...level.blur))
  const light = lightOf(level, { page, toFrame, pageWidth: pose.pageWidth, random })
  return {
    width,
    height,
    grey: light({ grey, width, height }),
    centres: page.centres.map((line) => line.map((centre) => project(toFrame, centre))),
    pixelsPerCharacter: (2.54 * PIXELS_PER_MM * pose.pageWidth) / page.width,
  }
}

/** As a canvas gives it. */
export function toPicture({ width, height, grey }: Pick<Photograph, 'width' | 'height' | 'grey'>): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let at = 0; at < grey.length; at++) {
    const value = grey[at] as number
    data[at * 4] = value
    data[at * 4 + 1] = value
    data[at * 4 + 2] = value
    data[at * 4 + 3] = 255
  }
  return { width, height, data }
}

const CORNERS = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
] as const

function poseOf(page: GreyPage, level: Level, random: Random, options: PhotographOptions) {
  const { width, height, perspective } = level
  const tilt = ((options.tiltDegrees ?? random.between(-level.tiltDegrees, level.tiltDegrees)) * Math.PI) / 180
  const [cos, sin, ratio] = [Math.cos(tilt), Math.sin(tilt), page.height / page.width]
  const across = Math.abs(cos) + Math.abs(sin) * ratio
  const down = Math.abs(cos) * ratio + Math.abs(sin)
  const wanted = random.between(...level.fill) * width
  const fitting = Math.min(wanted, (height * 0.97) / down, (width * 0.97) / across)
  const pageWidth = options.pixelsPerMm === undefined ? fitting : (options.pixelsPerMm * page.width) / PIXELS_PER_MM
  const pageHeight = pageWidth * ratio
  const middleX = width * (0.5 + (options.shift?.x ?? 0)) + random.normal() * level.offset * width * 0.3
  const middleY = height * (0.5 + (options.shift?.y ?? 0)) + random.normal() * level.offset * height * 0.2
  const corners = CORNERS.map(([right, low]) => {
    const x = (right - 0.5) * pageWidth + random.normal() * perspective * pageWidth * 0.4
    const y = (low - 0.5) * pageHeight + random.normal() * perspective * pageHeight * 0.4
    return { x: middleX + cos * x - sin * y, y: middleY + sin * x + cos * y }
  })
  return { corners, pageWidth }
}

interface Placing {
  onto: Homography
  corners: readonly { x: number; y: number }[]
  scale: number
}

function placePage({ grey, width, height }: Frame, page: GreyPage, { onto, corners, scale }: Placing): void {
  const steps = scale < 0.75 ? 2 : 1
  const left = Math.max(0, Math.floor(Math.min(...corners.map(({ x }) => x))))
  const right = Math.min(width, Math.ceil(Math.max(...corners.map(({ x }) => x))))
  const top = Math.max(0, Math.floor(Math.min(...corners.map(({ y }) => y))))
  const bottom = Math.min(height, Math.ceil(Math.max(...corners.map(({ y }) => y))))
  const [a, b, c, d, e, f, g, h] = onto
  const { grey: from, width: pageWidth } = page
  const [maxX, maxY] = [page.width - 1.01, page.height - 1.01]
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const at = y * width + x
      const behind = grey[at] as number
      let sum = 0
      for (let step = 0; step < steps * steps; step++) {
        const fineX = x + ((step % steps) + 0.5) / steps
        const fineY = y + (Math.floor(step / steps) + 0.5) / steps
        const depth = 1 / (g * fineX + h * fineY + 1)
        const pageX = (a * fineX + b * fineY + c) * depth
        const pageY = (d * fineX + e * fineY + f) * depth
        if (!(pageX >= 0 && pageY >= 0 && pageX < maxX && pageY < maxY)) {
          sum += behind
          continue
        }
        const x0 = pageX | 0
        const y0 = pageY | 0
        const shareX = pageX - x0
        const shareY = pageY - y0
        const first = y0 * pageWidth + x0
        const upper = (from[first] as number) * (1 - shareX) + (from[first + 1] as number) * shareX
        const lower =
          (from[first + pageWidth] as number) * (1 - shareX) + (from[first + pageWidth + 1] as number) * shareX
        sum += upper * (1 - shareY) + lower * shareY
      }
      grey[at] = sum / (steps * steps)
    }
}
