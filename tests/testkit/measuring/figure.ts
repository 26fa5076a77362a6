/** One measured figure and the floor it must reach. Lost records and the like have a ceiling instead. */
export interface Figure {
  name: string
  value: number
  floor: number
  /** `least`: the value must be at least the floor; `most`: at most. */
  is: 'least' | 'most'
  /** Set for time, memory and ratios, which depend on what else the machine does: the gate shows such a figure and never fails by it. */
  load?: true
}

export interface MeasureOptions {
  full: boolean
  /** Says what is going on; the figures come last. */
  say(text: string): void
}

/** Every file in measures/bench, measures/accuracy and measures/drills exports one of these as `measure`. */
export type Measure = (options: MeasureOptions) => Promise<Figure[]>

export function isOk({ value, floor, is }: Figure): boolean {
  return is === 'least' ? value >= floor : value <= floor
}

/** False for a figure that is less than half as good as its floor. */
export function isHalfAsGood({ value, floor, is }: Figure): boolean {
  return is === 'least' ? value >= floor / 2 : value <= floor * 2
}

export function formatFigure(figure: Figure): string {
  const value = Number.isInteger(figure.value) ? String(figure.value) : figure.value.toFixed(3)
  return `figure ${figure.name} ${value} floor ${figure.floor} ${isOk(figure) ? 'ok' : 'short'}`
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return Number.isInteger(middle)
    ? ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
    : (sorted[Math.floor(middle)] ?? 0)
}
