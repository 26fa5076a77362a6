import type { Picture } from '@ostiary/faces'

/** A picture as cameras deliver it: all of its brightness, then its two colours at half the width and height (BT.601, 16 to 235). */
export function toI420({ width, height, data }: Picture): Uint8ClampedArray {
  const pixels = width * height
  const half = width / 2
  const planes = new Uint8ClampedArray((pixels * 3) / 2)
  for (let pixel = 0; pixel < pixels; pixel++) {
    const at = pixel * 4
    planes[pixel] = 16 + 0.257 * (data[at] ?? 0) + 0.504 * (data[at + 1] ?? 0) + 0.098 * (data[at + 2] ?? 0)
  }
  for (let row = 0; row < height / 2; row++) {
    for (let column = 0; column < half; column++) {
      const at = (row * 2 * width + column * 2) * 4
      const [red, green, blue] = [
        meanOfFour(data, at, width),
        meanOfFour(data, at + 1, width),
        meanOfFour(data, at + 2, width),
      ]
      const place = pixels + row * half + column
      planes[place] = 128 - 0.148 * red - 0.291 * green + 0.439 * blue
      planes[place + pixels / 4] = 128 + 0.439 * red - 0.368 * green - 0.071 * blue
    }
  }
  return planes
}

function meanOfFour(data: Uint8ClampedArray, at: number, width: number): number {
  const below = at + width * 4
  return ((data[at] ?? 0) + (data[at + 4] ?? 0) + (data[below] ?? 0) + (data[below + 4] ?? 0)) / 4
}
