/**
 * How the gate treats figures. The gate names a file in OSTIARY_FIGURES; measures and tests append each figure to it, one
 * JSON line per try, and do not fail by a figure that depends on the load of the machine. At the end the gate prints one table.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Figure, isHalfAsGood, isOk } from './figure.ts'

export type Judgement = 'ok' | 'short' | 'broken' | 'failed'

interface Row {
  name: string
  value: number
  floor: string
  judgement: Judgement
}

/** A figure that is less than half as good as its floor gets a second try before it counts as broken. */
export function needsSecondTry(figures: readonly Figure[]): boolean {
  return figures.some((figure) => figure.load && !isHalfAsGood(figure))
}

/** Whether a measure passes the gate: by its strict figures alone. Without any figure it has measured nothing. */
export function passesGate(figures: readonly Figure[]): boolean {
  return figures.length > 0 && figures.every((figure) => figure.load || isOk(figure))
}

/** Judges all tries of one figure. A strict figure fails by one bad try; a figure of load is judged by its best one. */
export function judge(tries: readonly Figure[]): Judgement {
  if (tries.some((figure) => !figure.load && !isOk(figure))) return 'failed'
  if (tries.some(isOk)) return 'ok'
  return tries.length > 1 && !tries.some(isHalfAsGood) ? 'broken' : 'short'
}

export function appendFigures(file: string, figures: readonly Figure[]): void {
  appendFileSync(file, figures.map((figure) => `${JSON.stringify(figure)}\n`).join(''))
}

/** All figures in the file. JSON has no NaN: a figure without a value was written as null. */
export function readFigures(file: string): Figure[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const figure = JSON.parse(line) as Figure & { value: number | null }
    return { ...figure, value: figure.value ?? Number.NaN }
  })
}

/** The table: every figure of load, and each strict figure that failed. Then one line that names the broken ones, if any. */
export function figureTable(figures: readonly Figure[]): string[] {
  const tries = new Map<string, Figure[]>()
  for (const figure of figures) tries.set(figure.name, [...(tries.get(figure.name) ?? []), figure])
  const rows = [...tries.values()].flatMap((each) => toRow(each))
  const shown = rows.map(({ name, value, floor, judgement }) => [name, format(value), floor, judgement])
  const broken = rows
    .filter(({ judgement }) => judgement === 'broken')
    .map(({ name, value, floor }) => `${name} ${format(value)} (${floor})`)
  return [
    ...align([['figure', 'value', 'floor', ''], ...shown]),
    ...(broken.length > 0 ? ['', `broken: ${broken.join(', ')}`] : []),
  ]
}

function toRow(tries: readonly Figure[]): Row[] {
  const judgement = judge(tries)
  const [first] = tries
  if (!first || (!first.load && judgement !== 'failed')) return []
  const isStrict = judgement === 'failed'
  const [shown = first] = tries.toSorted((a, b) => (isBetter(a, b) !== isStrict ? -1 : 1))
  const bound = first.is === 'least' ? 'at least' : 'at most'
  return [{ name: first.name, value: shown.value, floor: `${bound} ${first.floor}`, judgement }]
}

const isBetter = (a: Figure, b: Figure) =>
  Number.isNaN(b.value) || (a.is === 'least' ? a.value > b.value : a.value < b.value)

const format = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(3))

function align(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
