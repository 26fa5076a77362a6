/**
 * The one way to measure: `npm run bench|accuracy|drill -- NAME [--full]`. Starts and stops what it needs. Without
 * --full it takes under 45 seconds. Ends with one line per figure and fails when one misses its floor. A measurement that
 * cannot run here, or a part of it, says `skipped: why`; that is no failure.
 *
 * In the gate (OSTIARY_FIGURES names a file) the figures are appended to that file, and only the strict ones decide the exit
 * code. It is 3 where something was skipped and nothing failed: the gate's table says so. `node tools/measure.ts figures` prints the table of the file.
 */
import { readdirSync } from 'node:fs'
import { type Figure, formatFigure, isOk, type Measure } from '@ostiary/testkit/measuring/figure'
import {
  appendFigures,
  figureTable,
  needsSecondTry,
  passesGate,
  readFigures,
} from '@ostiary/testkit/measuring/gate-figures'
import { ROOT } from '@ostiary/testkit/run'

/** Where the files of a command are. */
const FOLDERS: Readonly<Record<string, string>> = {
  bench: 'measures/bench',
  accuracy: 'measures/accuracy',
  drill: 'measures/drills',
}

const gateFile = process.env.OSTIARY_FIGURES
const [kind = '', ...rest] = process.argv.slice(2)
if (kind === 'figures') {
  for (const line of figureTable(readFigures(gateFile ?? `${ROOT}.reports/figures.ndjson`))) console.log(line)
  process.exit(0)
}
const full = rest.includes('--full')
const name = rest.find((arg) => !arg.startsWith('--'))
const folder = FOLDERS[kind] ?? `measures/${kind}`
const names = readdirSync(`${ROOT}${folder}`)
  .filter((file) => file.endsWith('.measure.ts'))
  .map((file) => file.slice(0, -'.measure.ts'.length))

if (name === undefined || !names.includes(name)) {
  console.error(
    names.length > 0
      ? `Usage: npm run ${kind} -- NAME [--full]. Names: ${names.join(', ')}`
      : `There is nothing to measure yet under "${kind}"`,
  )
  process.exit(2)
}

const SKIPPED = 'skipped: '
/** `.ci/steps` knows it. */
const EXIT_SKIPPED = 3
let skipped: string | undefined
const started = performance.now()
const { measure } = (await import(`${ROOT}${folder}/${name}.measure.ts`)) as { measure: Measure }
const figures = await run()
// The machine may have stalled. A second attempt distinguishes that from code that became slow.
const again = gateFile !== undefined && needsSecondTry(figures) ? await run('second try') : []
console.log('')
if (skipped !== undefined) console.log(`skipped ${name}: ${skipped}`)
for (const figure of [...figures, ...again]) console.log(formatFigure(figure))
if (gateFile !== undefined) appendFigures(gateFile, [...figures, ...again])
const isPassed = gateFile === undefined ? figures.length > 0 && figures.every(isOk) : passesGate([...figures, ...again])
if (!isPassed && (skipped === undefined || figures.length > 0)) process.exit(1)
process.exit(skipped !== undefined && gateFile !== undefined ? EXIT_SKIPPED : 0)

function run(title?: string): Promise<Figure[]> {
  const say = (text: string) => {
    if (text.startsWith(SKIPPED)) skipped = text.slice(SKIPPED.length)
    else console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  }
  if (title) say(title)
  return measure({ full, say })
}
