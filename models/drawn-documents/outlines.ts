/** Outlines of a cut of OCR-B: what its font file says about the characters of a machine-readable zone. */
export interface Outlines {
  /** Font units of one advance: OCR-B has one width. */
  advance: number
  /** Height of the capital H in font units. */
  capital: number
  /** Path of each character in font units, y upwards: M, L, Q, C and Z with absolute numbers. */
  paths: Readonly<Record<string, string>>
}

interface PathStep {
  type: string
  numbers: readonly number[]
}

type Corner = readonly [x: number, y: number]

const CURVE_STEPS = 8

/** The closed polygons of a path, its curves cut into straight pieces. */
export function polygonsOf(path: string): Corner[][] {
  const polygons: Corner[][] = []
  let current: Corner[] = []
  for (const { type, numbers } of stepsOf(path)) {
    const points = pairsOf(numbers)
    const from = current.at(-1)
    if (type === 'M') current = [...points]
    else if (type === 'L') current.push(...points)
    else if (type === 'Z') {
      polygons.push(current)
      current = []
    } else if (from !== undefined) current.push(...curve([from, ...points]))
  }
  return polygons
}

function stepsOf(path: string): PathStep[] {
  return [...path.matchAll(/([MLQCZ])([^MLQCZ]*)/g)].map(([, type = '', rest = '']) => ({
    type,
    numbers: rest.trim() === '' ? [] : rest.trim().split(/[ ,]+/).map(Number),
  }))
}

function pairsOf(numbers: readonly number[]): Corner[] {
  const pairs: Corner[] = []
  for (let at = 0; at + 1 < numbers.length; at += 2) pairs.push([numbers[at] ?? 0, numbers[at + 1] ?? 0])
  return pairs
}

/** De Casteljau: works for curves with one and with two control points. */
function curve(control: readonly Corner[]): Corner[] {
  return Array.from({ length: CURVE_STEPS }, (_, step) => {
    const share = (step + 1) / CURVE_STEPS
    let points = control
    while (points.length > 1)
      points = points.slice(1).map(([x, y], index) => {
        const [x0, y0] = points[index] ?? [0, 0]
        return [x0 + (x - x0) * share, y0 + (y - y0) * share] as const
      })
    return points[0] ?? [0, 0]
  })
}
