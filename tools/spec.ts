/**
 * `npm run spec`: which statements of the interface specification have a passing test. A test that proves a row of
 * tests/acceptance/spec-rows.md carries its id in its name: `[A-003] …`. Runs the tests that carry an id, or with
 * `--from-reports` reads what the last runs left in .reports. Fails when an area that is declared finished has a gap.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { ROOT } from '@ostiary/testkit/run'

const SUITES = ['pure', 'api', 'acceptance', 'launch']
/** Areas whose rows must all be covered. */
const FINISHED = ['A', 'B', 'C', 'D', 'E', 'X']
const TOKEN = 'needs the homomorphic token, which is not built yet'
/** Rows of finished areas that wait for something that is not built yet. Each is named in the output. */
const WAITING: Readonly<Record<string, string>> = {
  'C-002': 'needs the document step',
  'C-018': 'needs the document step',
  'D-037': 'needs the document step',
  'D-043': TOKEN,
  'D-044': TOKEN,
  'D-045': TOKEN,
  'D-046': TOKEN,
  'D-047': TOKEN,
  'D-048': TOKEN,
}
const AREA_NAMES: Record<string, string> = {
  A: 'strings',
  B: 'sanctions',
  C: 'age sessions',
  D: 'verification',
  E: 'biometric node',
  X: 'cross-cutting',
}

const rows = [
  ...readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8').matchAll(/^\| ([A-EX]-\d{3}) \| (.+) \| \w+ \|$/gm),
].map((match) => ({ id: match[1] ?? '', statement: match[2] ?? '' }))

if (!process.argv.includes('--from-reports')) {
  for (const name of SUITES) rmSync(`${ROOT}.reports/${name}.ndjson`, { force: true })
  const pattern = '\\[[A-EX]-\\d{3}\\]'
  spawnSync(process.execPath, [`${ROOT}tools/test.ts`, ...SUITES, '--', `--test-name-pattern=${pattern}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

const outcomes = new Map<string, Set<string>>()
const missing = SUITES.filter((name) => !existsSync(`${ROOT}.reports/${name}.ndjson`))
if (missing.length > 0) {
  console.error(`No results of ${missing.join(', ')}: that suite did not run`)
  process.exit(1)
}
for (const suite of SUITES) {
  for (const line of readFileSync(`${ROOT}.reports/${suite}.ndjson`, 'utf8').split('\n').filter(Boolean)) {
    const { name, outcome } = JSON.parse(line) as { name: string; outcome: string }
    for (const [, id = ''] of name.matchAll(/\[([A-EX]-\d{3})\]/g))
      outcomes.set(id, new Set([...(outcomes.get(id) ?? []), outcome]))
  }
}
const isCovered = (id: string) => outcomes.get(id)?.has('pass') === true && !outcomes.get(id)?.has('fail')

const known = new Set(rows.map(({ id }) => id))
const strays = [...outcomes.keys()].filter((id) => !known.has(id))
let gaps = 0
for (const [area, inArea] of Map.groupBy(rows, ({ id }) => id.charAt(0))) {
  const open = inArea.filter(({ id }) => !isCovered(id))
  const finished = FINISHED.includes(area)
  const missed = open.filter(({ id }) => !(id in WAITING) || outcomes.get(id)?.has('fail'))
  const waits = open.length - missed.length
  const done = waits === 0 ? 'complete' : `complete but for ${waits} that wait`
  const state = open.length === 0 || (finished && missed.length === 0) ? done : finished ? 'GAPS' : 'not finished'
  console.log(
    `${area}  ${(AREA_NAMES[area] ?? '').padEnd(15)} ${String(inArea.length - open.length).padStart(3)} of ${String(inArea.length).padStart(3)} rows have a passing test   ${state}`,
  )
  const shown = finished ? open : open.length === inArea.length ? [] : open
  for (const { id, statement } of shown)
    console.log(`     ${id}  ${outcomes.get(id)?.has('fail') ? 'FAILS' : (WAITING[id] ?? 'none ')}  ${statement}`)
  if (finished) gaps += missed.length
}
// A row that has its test by now must not be excused any longer.
const overdue = Object.keys(WAITING).filter(isCovered)
for (const id of overdue) console.log(`${id} has a passing test: take it off the list of those that wait`)
for (const id of strays) console.log(`A test names ${id}, which is no row of tests/acceptance/spec-rows.md`)
process.exitCode = gaps + strays.length + overdue.length > 0 ? 1 : 0
