import type { ListedMatch, MatchedRecord } from '@ostiary/contract'
import type { ScreenProgress } from '@ostiary/sdk'
import { explainShort, score } from './explain.ts'
import { count, personOf, type SilencedRow } from './screening.ts'
import { displayWidth, harmless, padCell, steadyLine, truncate, wrap } from './text-width.ts'

export interface Look {
  /** Cells of the terminal; undefined in a pipe, where every hit is one line. */
  width: number | undefined
  paint(style: 'bold' | 'dim', text: string): string
}

export interface Line {
  cells: readonly string[]
  /** Shown in the last column, or below where the terminal is too narrow for one. */
  why: string
}

interface Shape {
  widths: number[]
  /** Width of the last column; undefined when its text is printed below the line. */
  why: number | undefined
}

const GAP = '  '
const CELL_LINES_MAX = 4
const WHY_MIN = 32
const NARROWEST = 8
/** In a narrower terminal each hit is printed as a block instead of a table row. */
const TABLE_MIN = 64

/** Widest cells by column where space is short: row, score, name, listed name, list. */
const HIT_HEADER = ['ROW', 'SCORE', 'NAME', 'LISTED NAME', 'LIST, ENTRY']
const HIT_CAPS = [20, 6, 24, 26, 20]

/** One line per listed entry, rows in the order given. */
export function hitsTable(records: readonly MatchedRecord[], look: Look): string {
  const lines = records.flatMap((record) => record.matches.map((match, index) => hitLine(record, match, index)))
  return layOut([...HIT_HEADER, 'WHY'], lines, HIT_CAPS, look)
}

function hitLine(record: MatchedRecord, match: ListedMatch, index: number): Line {
  const isLast = index === record.matches.length - 1
  const rest = isLast && record.moreMatches ? `; and ${count(record.moreMatches)} more entries for this row` : ''
  return {
    cells: [record.id, score(match.score), personOf(record), match.name, `${match.dataset} ${match.entityId}`],
    why: `${explainShort(match)}${rest}`,
  }
}

const SILENCED_HEADER = ['ROW', 'SCORE', 'NAME', 'ENTRY', 'UNTIL']
const SILENCED_CAPS = [20, 6, 24, 20, 10]

export function silencedTable(rows: readonly SilencedRow[], look: Look): string {
  const lines = rows.flatMap((row) =>
    row.silenced.map((match) => ({
      cells: [row.id, score(match.score), personOf(row), match.entityId, match.expiresAt.slice(0, 10)],
      why: match.reason,
    })),
  )
  return layOut([...SILENCED_HEADER, 'REASON'], lines, SILENCED_CAPS, look)
}

export function layOut(header: readonly string[], dirty: readonly Line[], caps: readonly number[], look: Look): string {
  const lines = dirty.map(({ cells, why }) => ({ cells: cells.map(harmless), why: harmless(why) }))
  if (look.width !== undefined && look.width < TABLE_MIN) return layOutBlocks(lines, look.width, look)
  const titles = header.slice(0, -1)
  const natural = titles.map((title, column) =>
    lines.reduce((widest, { cells }) => Math.max(widest, displayWidth(cells[column] ?? '')), title.length),
  )
  const shape = shapeFor(natural, caps, look.width)
  const head = shape.why === undefined ? titles : header
  return [
    look.paint('dim', joinCells(head, shape.widths, false)),
    ...lines.flatMap((line) => drawLine(line, shape, look)),
  ].join('\n')
}

/** For the narrowest terminals: each hit as a block of lines, without columns. */
function layOutBlocks(lines: readonly Line[], width: number, { paint }: Look): string {
  const draw = (text: string, indent: string) =>
    wrap(text, width - indent.length).map((line) => steadyLine(`${indent}${line}`, true))
  return lines
    .map(({ cells: [row = '', score = '', name = '', ...rest], why }) =>
      [
        ...draw(`${row}  ${score}  ${name}`, ''),
        ...rest.flatMap((cell) => draw(cell, GAP)),
        ...draw(why, GAP).map((line) => paint('dim', line)),
      ].join('\n'),
    )
    .join('\n\n')
}

function shapeFor(natural: readonly number[], caps: readonly number[], width: number | undefined): Shape {
  if (width === undefined) return { widths: [...natural], why: Number.POSITIVE_INFINITY }
  const gaps = GAP.length * natural.length
  const widths = natural.map((size, column) => Math.min(size, caps[column] ?? size))
  const rest = width - gaps - sum(widths)
  if (rest >= WHY_MIN) return { widths, why: rest }
  // Every cell except the score may wrap to several lines.
  while (sum(widths) + gaps - GAP.length > width) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= NARROWEST) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return { widths, why: undefined }
}

function drawLine({ cells, why }: Line, { widths, why: whyWidth }: Shape, look: Look): string[] {
  const isolate = look.width !== undefined
  const blocks = cells.map((cell, column) => wrap(cell, widths[column] ?? 1, isolate ? CELL_LINES_MAX : undefined))
  const below = whyWidth === undefined
  const indent = Math.min(widths[0] ?? 0, NARROWEST) + GAP.length
  const reasons = wrap(why, below ? Math.max(NARROWEST, (look.width ?? 0) - indent) : whyWidth)
  const height = Math.max(...blocks.map(({ length }) => length), below ? 0 : reasons.length)
  const drawn = Array.from({ length: height }, (_, at) => {
    const left = joinCells(
      blocks.map((block) => block[at] ?? ''),
      widths,
      isolate,
    )
    const reason = below ? '' : (reasons[at] ?? '')
    const line = reason === '' ? left : `${padCell(left, sum(widths) + GAP.length * (widths.length - 1), false)}${GAP}`
    return steadyLine(`${line}${reason}`, isolate)
  })
  if (!below) return drawn
  return [
    ...drawn,
    ...reasons.map((reason) => look.paint('dim', steadyLine(`${' '.repeat(indent)}${reason}`, isolate))),
  ]
}

function joinCells(cells: readonly string[], widths: readonly number[], isolate: boolean): string {
  return cells
    .map((cell, column) => padCell(cell, widths[column] ?? 0, isolate))
    .join(GAP)
    .trimEnd()
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** The progress line; never wider than the terminal, because only one line can be written over. */
export function progressLine(fileName: string, progress: ScreenProgress, width: number): string {
  const { rows, totalRows = 0, part, parts = 0, pause } = progress
  const share = totalRows === 0 ? 0 : rows / totalRows
  const bar = '█'.repeat(Math.round(share * 24)).padEnd(24, '░')
  const of = parts > 1 ? `, part ${part} of ${parts}` : ''
  const waits = pause ? `: ${pause.reason}, going on in ${pause.seconds} s` : ''
  return truncate(`${bar} ${count(rows)} of ${count(totalRows)} rows${of}${waits}  ${harmless(fileName)}`, width - 1)
}
