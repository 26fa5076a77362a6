/** Side of the square tiles that are transformed: a power of two. */
export const TILE = 256

/** Power at each frequency of a tile of TILE x TILE values. Works in place on `tile`; frequency (0, 0) comes first. */
export function powerOf(tile: Float64Array): Float64Array {
  const imaginary = new Float64Array(TILE * TILE)
  for (let row = 0; row < TILE; row += 1) transform(tile, imaginary, { start: row * TILE, step: 1 })
  for (let column = 0; column < TILE; column += 1) transform(tile, imaginary, { start: column, step: TILE })
  return tile.map((real, at) => real * real + (imaginary[at] ?? 0) ** 2)
}

const COS = Float64Array.from({ length: TILE / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / TILE))
const SIN = Float64Array.from({ length: TILE / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / TILE))
const REVERSED = Uint16Array.from({ length: TILE }, (_, index) => {
  let reversed = 0
  for (let bit = 1; bit < TILE; bit *= 2) reversed = reversed * 2 + (index & bit ? 1 : 0)
  return reversed
})

/** Cooley and Tukey's fast Fourier transform of one row or column. */
function transform(re: Float64Array, im: Float64Array, { start, step }: { start: number; step: number }): void {
  for (let index = 0; index < TILE; index += 1) {
    const other = REVERSED[index] as number
    if (other <= index) continue
    const [a, b] = [start + index * step, start + other * step]
    ;[re[a], re[b]] = [re[b] as number, re[a] as number]
    ;[im[a], im[b]] = [im[b] as number, im[a] as number]
  }
  for (let size = 2; size <= TILE; size *= 2) {
    const half = size / 2
    const turn = TILE / size
    for (let block = 0; block < TILE; block += size)
      for (let k = 0; k < half; k += 1) {
        const [cos, sin] = [COS[k * turn] as number, SIN[k * turn] as number]
        const a = start + (block + k) * step
        const b = a + half * step
        const re2 = (re[b] as number) * cos - (im[b] as number) * sin
        const im2 = (re[b] as number) * sin + (im[b] as number) * cos
        re[b] = (re[a] as number) - re2
        im[b] = (im[a] as number) - im2
        re[a] = (re[a] as number) + re2
        im[a] = (im[a] as number) + im2
      }
  }
}
