import { paint, type Terminal } from '../terminal.ts'

/** One line of a diagnosis. */
export interface Check {
  name: string
  state: 'ok' | 'warning' | 'failed'
  finding: string
  /** What to do about it. */
  remedy?: string
}

const MARKS = { ok: ['green', '✓'], warning: ['yellow', '!'], failed: ['red', '✗'] } as const

export function showChecks(
  checks: readonly Check[],
  terminal: Terminal,
  { good, bad }: { good: string; bad: string },
): void {
  const width = Math.max(...checks.map((check) => check.name.length))
  for (const check of checks) {
    const [colour, mark] = MARKS[check.state]
    terminal.out(`${paint(terminal, colour, mark)} ${check.name.padEnd(width)}  ${check.finding}`)
    if (check.remedy) terminal.out(`  ${' '.repeat(width)}  → ${check.remedy}`)
  }
  const failed = checks.filter((check) => check.state === 'failed').length
  const warned = checks.filter((check) => check.state === 'warning').length
  terminal.out(failed > 0 ? `\n${failed} ${bad}` : `\n${good}${warned > 0 ? `; ${warned} to look at` : ''}`)
}
