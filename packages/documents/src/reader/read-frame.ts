/** Reads the machine-readable zone of one picture. */
import type { MrzRead, Picture, Point } from '../types.ts'
import { confidencesOf, type Decoded, decode } from './decode.ts'
import { type Grey, greyOf, shrink } from './grey.ts'
import { along, cutCells, fitGrid, type Grid } from './grid.ts'
import { type LineGroup, locateLines, type TextLine } from './locate.ts'
import { lookAgain } from './look-again.ts'
import { createNet, type Net, type NetAnswer, unpackLayers } from './net.ts'
import { refineGrid } from './refine.ts'
import { cutStrip, inPicture, type Strip } from './strip.ts'
import { WEIGHTS } from './weights.ts'

/** Cells that are read on each side of a line, because its first character is not known yet. */
const BEYOND = 4
/** A grid that moved so far, in pitches, is refined once more. */
const FAR = 0.2
/** More pixels per character than the strip has are halved first, so that noise is averaged. */
const HALVED_FROM = 27
/** A group that reads as well as this is not compared with others. */
const SCORE_ENOUGH = -0.12
const MOST_GROUPS = 4
/** A zone that is less certain than this is not looked at again. */
const WORTH_A_LOOK = 0.9

let shipped: Net | undefined

export function readFrame(picture: Picture): MrzRead | undefined {
  return readWith(shippedNet(), greyOf(picture))
}

/** The net with the weights of `weights.ts`, made once. */
export function shippedNet(): Net {
  shipped ??= createNet(unpackLayers(Uint8Array.from(atob(WEIGHTS), (character) => character.charCodeAt(0))))
  return shipped
}

export function readWith(net: Net, grey: Grey): MrzRead | undefined {
  let best: Zone | undefined
  for (const group of locateLines(grey).slice(0, MOST_GROUPS)) {
    const zone = readGroup(net, grey, group)
    if (zone && (!best || zone.decoded.score > best.decoded.score)) best = zone
    if (best && best.decoded.score > SCORE_ENOUGH) break
  }
  return best && readOf(net, best)
}

interface ReadLine {
  strip: Strip
  grid: Grid
  answer: NetAnswer
  /** The strip was cut from a picture of half the size. */
  factor: number
}

interface Zone {
  decoded: Decoded
  lines: readonly ReadLine[]
}

/** What the lines of a group say, also when the document stands on its head. */
export function readGroup(net: Net, grey: Grey, group: LineGroup): Zone | undefined {
  const upright = readLines(net, grey, group)
  if (upright && confidenceOf(upright) > 0.8) return upright
  const turned = readLines(net, grey, turnedOver(group))
  if (!upright || !turned) return upright ?? turned
  return turned.decoded.score > upright.decoded.score ? turned : upright
}

const confidenceOf = ({ decoded: { format, certainties } }: Zone) => confidencesOf(format, certainties).confidence

/** The same lines for a document that stands on its head. */
function turnedOver(group: LineGroup): LineGroup {
  return { ...group, lines: group.lines.map(({ start, end }) => ({ start: end, end: start })).toReversed() }
}

function readLines(net: Net, grey: Grey, { lines, columns }: LineGroup): Zone | undefined {
  const [first] = lines
  if (!first) return undefined
  const factor = pitchOf(first, columns) > HALVED_FROM ? 2 : 1
  const source = shrink(grey, factor)
  const read = lines.map((line) => readLine(net, cutStrip(source, scaled(line, factor), columns), { columns, factor }))
  const cells = read.map(({ answer }) => ({ count: columns + 2 * BEYOND, probabilities: answer.probabilities }))
  const decoded = decode(cells, columns)
  return decoded && { decoded, lines: read }
}

const pitchOf = ({ start, end }: TextLine, columns: number) => Math.hypot(end.x - start.x, end.y - start.y) / columns

function scaled({ start, end }: TextLine, factor: number): TextLine {
  const down = ({ x, y }: Point) => ({ x: x / factor, y: y / factor })
  return { start: down(start), end: down(end) }
}

function readLine(net: Net, strip: Strip, { columns, factor }: { columns: number; factor: number }): ReadLine {
  const first = -BEYOND
  const look = (grid: Grid, step: number) => {
    const cells = Array.from({ length: Math.ceil((columns + 2 * BEYOND) / step) }, (_, index) => first + index * step)
    return net(cutCells(strip, grid, cells), cells.length)
  }
  // Every second character is enough to see how the grid lies.
  let { grid, moved } = refineGrid(fitGrid(strip, columns), (rough) => look(rough, 2), { first, step: 2 })
  if (moved > FAR) ({ grid, moved } = refineGrid(grid, (rough) => look(rough, 2), { first, step: 2 }))
  return { strip, grid, answer: look(grid, 1), factor }
}

function readOf(net: Net, zone: Zone): MrzRead {
  const { decoded, lines } = zone
  const { format } = decoded
  const isWorth = confidenceOf(zone) >= WORTH_A_LOOK
  const { certainties, isSteady } = isWorth ? lookAgain(net, format, seenLines(zone)) : { ...decoded, isSteady: false }
  const columns = decoded.lines[0]?.length ?? 0
  const corner = (line: number, column: number, down: number): Point => {
    const { strip, grid, factor } = lines.at(line) as ReadLine
    const n = (decoded.shifts.at(line) ?? 0) - BEYOND + column
    const { x, y } = inPicture(strip, along(grid.x, n), along(grid.y, n) + down * grid.x[1])
    return { x: x * factor, y: y * factor }
  }
  const corners = [
    corner(0, -0.5, -0.6),
    corner(0, columns - 0.5, -0.6),
    corner(-1, columns - 0.5, 0.6),
    corner(-1, -0.5, 0.6),
  ] as const
  const [a, b] = corners
  return {
    format,
    lines: decoded.lines,
    ...confidencesOf(format, certainties),
    isSteady,
    corners,
    pixelsPerCharacter: Math.hypot(b.x - a.x, b.y - a.y) / columns,
  }
}

const seenLines = ({ decoded: { shifts, lines: texts, certainties }, lines }: Zone) =>
  lines.map(({ strip, grid }, line) => ({
    strip,
    grid,
    first: (shifts[line] ?? 0) - BEYOND,
    text: texts[line] ?? '',
    certainties: certainties[line] ?? [],
  }))
