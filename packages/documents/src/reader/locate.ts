/** Finds groups of two or three parallel lines of print that have the proportions of a machine-readable zone. */
import type { Point } from '../types.ts'
import { type Band, type EdgeMaps, edgeMaps, findBands, JOIN_RADIUS } from './bands.ts'
import { type Grey, shrink, soften } from './grey.ts'

/** The middle of a line of print, from its first to its last character, in pixels of the picture. */
export interface TextLine {
  start: Point
  end: Point
}

export interface LineGroup {
  /** From top to bottom, if the document is not upside down. */
  lines: readonly TextLine[]
  columns: number
  score: number
}

const MOST_GROUPS = 6

/** Fine first; print that fills the frame needs the coarse look, because its characters stand too far apart to join. */
const LOOKS = [
  { width: 640, density: 1.15 },
  { width: 420, density: 1.15 },
  { width: 640, density: 0.85 },
] as const
const SCORE_ENOUGH = 1.45

export function locateLines(grey: Grey): LineGroup[] {
  let groups: LineGroup[] = []
  for (const { width, density } of LOOKS) {
    const factor = Math.max(1, Math.round(grey.width / width))
    const maps = edgeMaps(factor === 1 ? soften(grey) : shrink(grey, factor))
    groups = withoutTwins([...groups, ...groupsAt(maps, { density, factor })])
    const [best] = groups
    if (best && best.score > SCORE_ENOUGH) break
  }
  return groups.slice(0, MOST_GROUPS)
}

function groupsAt(maps: EdgeMaps, { density, factor }: { density: number; factor: number }): LineGroup[] {
  const bands = joined(findBands(maps, density)).filter(
    ({ start, end, thickness }) => end - start > maps.width * 0.2 && (end - start) / thickness > 7,
  )
  return bands
    .flatMap((band) => stacksOn(band, bands))
    .flatMap((stack) => groupsOf(stack, { factor, width: maps.width }))
}

const lengthOf = ({ start, end }: Band) => end - start

/** Glare may cut a line in two: pieces that lie in one direction become one band. */
function joined(bands: readonly Band[]): Band[] {
  const rest = bands.toSorted((a, b) => lengthOf(b) - lengthOf(a))
  const lines: Band[] = []
  for (const band of rest) {
    const at = lines.findIndex((line) => continues(line, band))
    const line = lines[at]
    if (line) lines[at] = merge(line, band)
    else lines.push(band)
  }
  return lines
}

function continues(line: Band, piece: Band): boolean {
  if (lengthOf(line) < 60) return false
  if (lengthOf(piece) > 40 && turnBetween(line.angle, piece.angle) > 0.12) return false
  if (piece.thickness > line.thickness * 1.8) return false
  const { along, across } = seenFrom(line, piece)
  const half = lengthOf(piece) / 2
  const gap = Math.max(along - half - line.end, line.start - along - half)
  return (
    Math.abs(across) < line.thickness * 0.6 + 0.03 * Math.max(0, gap) && gap < line.thickness * 3 && gap > -half * 0.5
  )
}

function merge(line: Band, piece: Band): Band {
  const { along } = seenFrom(line, piece)
  const half = lengthOf(piece) / 2
  const pixels = line.pixels + piece.pixels
  const share = piece.pixels / pixels
  // The new direction leads through the middles of both pieces, each by its weight.
  const toPiece = Math.atan2(piece.y - line.y, piece.x - line.x)
  const lean = smallTurn(toPiece - line.angle)
  const angle = line.angle + lean * share * 0.5
  const [x, y] = [line.x + (piece.x - line.x) * share, line.y + (piece.y - line.y) * share]
  const moved = along * share
  return {
    x,
    y,
    angle,
    start: Math.min(line.start, along - half) - moved,
    end: Math.max(line.end, along + half) - moved,
    thickness: line.thickness,
    pixels,
  }
}

function seenFrom({ x, y, angle }: Band, other: { x: number; y: number }): { along: number; across: number } {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return {
    along: (other.x - x) * cos + (other.y - y) * sin,
    across: (other.y - y) * cos - (other.x - x) * sin,
  }
}

/** Between -90 and 90 degrees: a direction has no sign. */
function smallTurn(angle: number): number {
  return angle - Math.PI * Math.round(angle / Math.PI)
}

const turnBetween = (a: number, b: number) => Math.abs(smallTurn(a - b))

/** The bands below this one that may belong to the same zone: stacks of two and of three. */
function stacksOn(top: Band, bands: readonly Band[]): Band[][] {
  const below = bands
    .map((band) => ({ band, ...seenFrom(top, band) }))
    .filter(({ band, along, across }) => across > 0 && isParallel(top, band, along) && isNear(top, across))
    .toSorted((a, b) => a.across - b.across)
  return below.flatMap(({ band, across }) => {
    const third = bands.find((other) => {
      const seen = seenFrom(top, other)
      return Math.abs(seen.across - 2 * across) < 0.35 * across && isParallel(top, other, seen.along)
    })
    return third && third !== band
      ? [
          [top, band, third],
          [top, band],
        ]
      : [[top, band]]
  })
}

function isParallel(top: Band, band: Band, along: number): boolean {
  const ratio = lengthOf(band) / lengthOf(top)
  const offset = along + (band.start + band.end - top.start - top.end) / 2
  return (
    band !== top &&
    turnBetween(band.angle, top.angle) < 0.07 &&
    ratio > 0.55 &&
    ratio < 1.8 &&
    Math.abs(offset) < lengthOf(top) * 0.3
  )
}

function isNear(top: Band, across: number): boolean {
  const ratio = lengthOf(top) / across
  return ratio > 7 && ratio < 30
}

/** Length of a line by the distance of two lines, from the first to the last ink. */
const ratioOf = ({ columns, distanceMm }: Shape) => (columns * 2.54 - 0.7) / distanceMm
const RATIO_TOLERANCE = 0.13

interface Shape {
  columns: number
  distanceMm: number
  /** Subtracted from the score. */
  doubt: number
}
const shapeOf = (columns: number): Shape => ({ columns, distanceMm: 6.35, doubt: 0 })
const THREE_LINES = [shapeOf(30)]
/** Some pages of two lines have them 8 mm apart. They have the proportions of 36 columns, which are tried first. */
const TWO_LINES = [shapeOf(44), shapeOf(36), shapeOf(30), { columns: 44, distanceMm: 8, doubt: 0.3 }]

/**
 * A band may be longer than its line (it touched the edge of the page) or shorter (glare). So the ends are taken from any of
 * the lines, such that length and distance fit a format.
 */
function groupsOf(stack: readonly Band[], { factor, width }: { factor: number; width: number }): LineGroup[] {
  const [top, ...others] = stack as [Band, ...Band[]]
  const last = others.at(-1) ?? top
  const distance = seenFrom(top, last).across / others.length
  const turn = Math.max(...others.map(({ angle }) => turnBetween(angle, top.angle)))
  const ends = stack.map((band) => {
    const { along } = seenFrom(top, band)
    return { start: along + band.start + JOIN_RADIUS * 0.8, end: along + band.end - JOIN_RADIUS * 0.8, along }
  })
  return (stack.length === 3 ? THREE_LINES : TWO_LINES).flatMap((shape) => {
    const { columns, doubt } = shape
    const fitting = ends
      .flatMap(({ start }) => ends.map(({ end }) => ({ start, end })))
      .map(({ start, end }) => ({ start, end, misfit: Math.abs((end - start) / distance / ratioOf(shape) - 1) }))
      .filter(({ misfit }) => misfit < RATIO_TOLERANCE)
    const best = fitting.toSorted((a, b) => a.misfit - b.misfit)[0]
    if (!best) return []
    const strays = ends.map(({ start, end }) => Math.abs(start - best.start) + Math.abs(end - best.end))
    const stray = strays.reduce((sum, value) => sum + value, 0) / stack.length / (best.end - best.start)
    const lines = stack.map((band, index) =>
      lineOf(
        band,
        { start: best.start - (ends[index]?.along ?? 0), end: best.end - (ends[index]?.along ?? 0) },
        factor,
      ),
    )
    const score = stack.length * 0.5 + (best.end - best.start) / width - turn * 3 - stray - best.misfit * 3 - doubt
    if (columns === 30 && lines.length === 2)
      return completed(lines as [TextLine, TextLine], { columns, score: score - 0.5 })
    return [{ lines, columns, score }]
  })
}

/** Two lines of thirty columns are two of three: the third is above or below them. */
function completed(
  [upper, lower]: readonly [TextLine, TextLine],
  rest: { columns: number; score: number },
): LineGroup[] {
  const beyond = (a: Point, b: Point) => ({ x: 2 * b.x - a.x, y: 2 * b.y - a.y })
  const extended = (from: TextLine, to: TextLine) => ({
    start: beyond(from.start, to.start),
    end: beyond(from.end, to.end),
  })
  return [
    { lines: [upper, lower, extended(upper, lower)], ...rest },
    { lines: [extended(lower, upper), upper, lower], ...rest },
  ]
}

function lineOf(band: Band, { start, end }: { start: number; end: number }, factor: number): TextLine {
  const [cos, sin] = [Math.cos(band.angle), Math.sin(band.angle)]
  const at = (along: number) => ({
    x: (band.x + cos * along + 0.5) * factor,
    y: (band.y + sin * along + 0.5) * factor,
  })
  return { start: at(start), end: at(end) }
}

function withoutTwins(groups: readonly LineGroup[]): LineGroup[] {
  const kept: LineGroup[] = []
  for (const group of groups.toSorted((a, b) => b.score - a.score))
    if (!kept.some((other) => isTwin(group, other))) kept.push(group)
  return kept
}

function isTwin(one: LineGroup, other: LineGroup): boolean {
  const [a, b] = [one.lines[0], other.lines[0]]
  if (!a || !b || one.columns !== other.columns) return false
  const near = Math.hypot(a.end.x - a.start.x, a.end.y - a.start.y) / 60
  return (
    Math.hypot(a.start.x - b.start.x, a.start.y - b.start.y) < near &&
    Math.hypot(a.end.x - b.end.x, a.end.y - b.end.y) < near
  )
}
