/** Where a plane goes under a camera: nine numbers, the last of them 1. */
export type Homography = readonly [number, number, number, number, number, number, number, number, number]

interface Point {
  x: number
  y: number
}

/** The homography that takes four points to four others. */
export function homographyBetween(from: readonly Point[], to: readonly Point[]): Homography {
  const rows = from.flatMap(({ x, y }, index) => {
    const { x: u, y: v } = to[index] ?? { x: 0, y: 0 }
    return [
      [x, y, 1, 0, 0, 0, -u * x, -u * y, u],
      [0, 0, 0, x, y, 1, -v * x, -v * y, v],
    ]
  })
  return [...solve(rows), 1] as unknown as Homography
}

export function project(homography: Homography, { x, y }: Point): Point {
  const [a, b, c, d, e, f, g, h] = homography
  const depth = g * x + h * y + 1
  return { x: (a * x + b * y + c) / depth, y: (d * x + e * y + f) / depth }
}

/** Gauss-Jordan with pivots; each row ends with its right side. */
function solve(rows: number[][]): number[] {
  const size = rows.length
  for (let step = 0; step < size; step++) {
    const at = (row: number, column: number) => rows[row]?.[column] ?? 0
    let pivot = step
    for (let row = step; row < size; row++) if (Math.abs(at(row, step)) > Math.abs(at(pivot, step))) pivot = row
    const chosen = rows[pivot] ?? []
    rows[pivot] = rows[step] ?? []
    rows[step] = chosen
    rows.forEach((row, index) => {
      if (index === step) return
      const factor = (row[step] ?? 0) / (chosen[step] ?? 1)
      for (let column = step; column <= size; column++)
        row[column] = (row[column] ?? 0) - factor * (chosen[column] ?? 0)
    })
  }
  return rows.map((row, index) => (row[size] ?? 0) / (row[index] ?? 1))
}
