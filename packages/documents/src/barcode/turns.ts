import type { Picture } from '../types.ts'

/**
 * The decoder reads every drawn card at a tilt of 1 degree, half of them at 2 and few at 3 (measured), so steps of 3 leave at most
 * 1.5. The nearest come first.
 */
export const BARCODE_TURNS: readonly number[] = [0, 3, -3, 6, -6, 9, -9, 12, -12]

/** Stands for what is outside the picture: no bar and no paper. */
const OUTSIDE = 128

/** The picture in grey, turned around its middle by degrees (clockwise as seen), large enough to lose no corner. */
export function turnPicture(picture: Picture, degrees: number): Picture {
  const grey = toGrey(picture)
  const radians = (degrees * Math.PI) / 180
  const cos = Math.cos(radians)
  const sin = Math.sin(radians)
  const width = Math.ceil(picture.width * Math.abs(cos) + picture.height * Math.abs(sin))
  const height = Math.ceil(picture.width * Math.abs(sin) + picture.height * Math.abs(cos))
  const data = new Uint8ClampedArray(width * height * 4)
  const middle = { x: (picture.width - 1) / 2, y: (picture.height - 1) / 2 }
  for (let y = 0; y < height; y += 1) {
    const down = y - (height - 1) / 2
    for (let x = 0; x < width; x += 1) {
      const right = x - (width - 1) / 2
      const value = sample(grey, picture, middle.x + cos * right + sin * down, middle.y - sin * right + cos * down)
      const at = (y * width + x) * 4
      data[at] = value
      data[at + 1] = value
      data[at + 2] = value
      data[at + 3] = 255
    }
  }
  return { width, height, data }
}

function toGrey({ width, height, data }: Picture): Float32Array {
  const grey = new Float32Array(width * height)
  for (let at = 0; at < grey.length; at += 1) {
    const from = at * 4
    grey[at] = 0.299 * (data[from] ?? 0) + 0.587 * (data[from + 1] ?? 0) + 0.114 * (data[from + 2] ?? 0)
  }
  return grey
}

function sample(grey: Float32Array, { width, height }: Picture, x: number, y: number): number {
  const left = Math.floor(x)
  const top = Math.floor(y)
  if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) return OUTSIDE
  const at = top * width + left
  const right = x - left
  const down = y - top
  const above = (grey[at] ?? 0) * (1 - right) + (grey[at + 1] ?? 0) * right
  const below = (grey[at + width] ?? 0) * (1 - right) + (grey[at + width + 1] ?? 0) * right
  return above * (1 - down) + below * down
}
