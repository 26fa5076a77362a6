/** Moves a grid to where the net sees the characters: a fit by ink alone slips within long lines. */
import { along, type Grid } from './grid.ts'
import { CLASSES, type NetAnswer, NOTHING } from './net.ts'

interface Sighting {
  n: number
  x: number
  y: number
  weight: number
}

/** A character that is this certain says where it stands. */
const CERTAIN = 0.5
const LEAST_SIGHTINGS = 8

/** Which cells were looked at. */
export interface Looked {
  first: number
  step: number
}

/** The refined grid and how far it moved, in pitches; the same grid where the net sees too little. */
export function refineGrid(grid: Grid, look: (grid: Grid) => NetAnswer, looked: Looked): { grid: Grid; moved: number } {
  const sightings = sightingsOf(grid, look(grid), looked)
  const seen = counted(sightings)
  const x = fitCurve(seen.map(({ n, x: value, weight }) => ({ n, value, weight })))
  const y = fitCurve(seen.map(({ n, y: value, weight }) => ({ n, value, weight })))
  if (seen.length < LEAST_SIGHTINGS || !x || !y) return { grid, moved: 0 }
  const far = (n: number) =>
    Math.max(Math.abs(along(x, n) - along(grid.x, n)), Math.abs(along(y, n) - along(grid.y, n)))
  return { grid: { x, y }, moved: Math.max(...sightings.map(({ n }) => far(n))) / grid.x[1] }
}

function sightingsOf(grid: Grid, { probabilities, offsets }: NetAnswer, { first, step }: Looked): Sighting[] {
  const sightings: Sighting[] = []
  for (let index = 0; index < offsets.length / 2; index++) {
    const n = first + index * step
    let most = 0
    for (let at = 0; at < NOTHING; at++) most = Math.max(most, probabilities[index * CLASSES + at] as number)
    if (most < CERTAIN) continue
    const pitch = grid.x[1] + 2 * grid.x[2] * n
    sightings.push({
      n,
      x: along(grid.x, n) + (offsets[index * 2] as number) * pitch,
      y: along(grid.y, n) + (offsets[index * 2 + 1] as number) * pitch,
      weight: most * most,
    })
  }
  return sightings
}

/** Counts the characters again by their distance: where the grid slipped, a cell was skipped or met twice. */
function counted(sightings: readonly Sighting[]): Sighting[] {
  if (sightings.length < 2) return [...sightings]
  const middle = sightings.length >> 1
  const steps = sightings
    .slice(1)
    .map(({ n, x }, index) => (x - (sightings[index]?.x ?? 0)) / (n - (sightings[index]?.n ?? 0)))
  const pitch = steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 1
  const recounted = [...sightings]
  const follow = (index: number, before: number) => {
    const [from, to] = [recounted[before], recounted[index]]
    if (from && to) recounted[index] = { ...to, n: from.n + Math.round((to.x - from.x) / pitch) }
  }
  for (let index = middle + 1; index < recounted.length; index++) follow(index, index - 1)
  for (let index = middle - 1; index >= 0; index--) follow(index, index + 1)
  return recounted
}

interface Observation {
  n: number
  value: number
  weight: number
}

const ROUNDS = 4
const OUTLIER = 1.5

/** A parabola through the observations; those that lie far from it lose their weight. */
function fitCurve(observations: readonly Observation[]): Grid['x'] | undefined {
  let weights = observations.map(({ weight }) => weight)
  let curve: Grid['x'] | undefined
  for (let round = 0; round < ROUNDS; round++) {
    curve = leastSquares(observations, weights)
    if (!curve) return undefined
    const fitted = curve
    weights = observations.map(({ n, value, weight }) => {
      const off = Math.abs(value - along(fitted, n)) / OUTLIER
      return off > 1 ? weight / (off * off * off) : weight
    })
  }
  return curve
}

/** Normal equations of a parabola, around the middle so that they are well behaved. */
function leastSquares(observations: readonly Observation[], weights: readonly number[]): Grid['x'] | undefined {
  const centre = observations.reduce((sum, { n }) => sum + n, 0) / observations.length
  const powers = [0, 0, 0, 0, 0]
  const right = [0, 0, 0]
  observations.forEach(({ n, value }, index) => {
    const weight = weights[index] ?? 0
    const at = (n - centre) / 10
    let power = weight
    for (let degree = 0; degree <= 4; degree++, power *= at) {
      powers[degree] = (powers[degree] ?? 0) + power
      if (degree <= 2) right[degree] = (right[degree] ?? 0) + power * value
    }
  })
  const [s0, s1, s2, s3, s4] = powers as [number, number, number, number, number]
  const [r0, r1, r2] = right as [number, number, number]
  const determinant = s0 * (s2 * s4 - s3 * s3) - s1 * (s1 * s4 - s2 * s3) + s2 * (s1 * s3 - s2 * s2)
  if (Math.abs(determinant) < 1e-9) return undefined
  const a = (r0 * (s2 * s4 - s3 * s3) - s1 * (r1 * s4 - r2 * s3) + s2 * (r1 * s3 - r2 * s2)) / determinant
  const b = (s0 * (r1 * s4 - r2 * s3) - r0 * (s1 * s4 - s2 * s3) + s2 * (s1 * r2 - s2 * r1)) / determinant
  const c = (s0 * (s2 * r2 - s3 * r1) - s1 * (s1 * r2 - s2 * r1) + r0 * (s1 * s3 - s2 * s2)) / determinant
  const [step, bend] = [b / 10, c / 100]
  return [a - step * centre + bend * centre * centre, step - 2 * bend * centre, bend]
}
