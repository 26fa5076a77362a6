/**
 * `npm run spec`: how much of the interface specification is proven. Per area and per kind it counts the rows of spec-rows.md that are
 * proven by default, under a setting and not at all, and lists those that are not proven by default with their setting.
 * Runs the tests that carry an id, or with `--from-reports` reads what the last runs left in .reports.
 * Fails when a row that should be proven is not.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { ROOT } from '@ostiary/testkit/run'
import {
  type Evidence,
  findMistakes,
  idsIn,
  type JudgedRow,
  judgeRow,
  kindsOfFile,
  readRows,
  type Standing,
  SUITES,
  type Suite,
} from './count.ts'
import { settingsTurnedOn } from './settings.ts'

const AREA_NAMES: Readonly<Record<string, string>> = {
  A: 'strings',
  B: 'sanctions',
  C: 'age sessions',
  D: 'verification',
  E: 'biometric node',
  X: 'cross-cutting',
}
/** As tests/testkit/outcome-reporter.ts writes it. */
interface ReportLine {
  suite: Suite
  file: string
  name: string
  outcome: Evidence['outcome']
}
const reportOf = (suite: Suite) => `${ROOT}.reports/${suite}.ndjson`

if (!process.argv.includes('--from-reports')) runTests()
const missing = SUITES.filter((suite) => !existsSync(reportOf(suite)))
if (missing.length > 0) {
  console.error(`No results of ${missing.join(', ')}: that suite did not run`)
  process.exit(1)
}
const rows = readRows(readFileSync(`${ROOT}tests/acceptance/spec-rows.md`, 'utf8'))
const evidence = SUITES.flatMap((suite) => readEvidence(reportOf(suite)))
const judged = rows.map((row) => judgeRow(row, evidence))
const mistakes = findMistakes(rows, evidence)
print(judged)
for (const mistake of mistakes) console.log(mistake)
process.exitCode = mistakes.length > 0 || judged.some(({ gap }) => gap !== undefined) ? 1 : 0

function runTests(): void {
  for (const suite of SUITES) rmSync(reportOf(suite), { force: true })
  const pattern = '\\[[A-EX]-\\d{3}\\]'
  spawnSync(
    process.execPath,
    [`${ROOT}tools/test.ts`, ...SUITES, '--with-ids', '--', `--test-name-pattern=${pattern}`],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
}

function readEvidence(report: string): Evidence[] {
  const lines = readFileSync(report, 'utf8').split('\n').filter(Boolean)
  return lines.flatMap((line) => {
    const { suite, file, name, outcome } = JSON.parse(line) as ReportLine
    const ids = idsIn(name)
    if (ids.length === 0) return []
    const source = readFileSync(`${ROOT}${file}`, 'utf8')
    const kinds = kindsOfFile(suite, source)
    return ids.map((id) => ({ id, outcome, kinds, settings: settingsTurnedOn(source, id, suite) }))
  })
}

function print(judged: readonly JudgedRow[]): void {
  console.log(`${' '.repeat(19)}by default  under a setting  not proven    rows`)
  for (const [area, inArea] of Map.groupBy(judged, ({ id }) => id.charAt(0)))
    printCounts(`${area}  ${AREA_NAMES[area] ?? ''}`, inArea)
  printCounts('   all', judged)
  console.log('\nby kind')
  for (const [kind, ofKind] of Map.groupBy(judged, (row) => row.kind)) printCounts(`   ${kind}`, ofKind)
  const others = judged.filter(({ standing }) => standing !== 'by default')
  console.log('\nid     under which setting  statement')
  for (const { id, setting, gap, standing, statement } of others) {
    const why = gap ?? (standing === 'not proven' ? '-, docs/decisions/0001-spec-gaps.md' : setting)
    console.log(`${id}  ${gap === undefined ? '' : 'GAP: '}${why}: ${statement}`)
  }
}

function printCounts(name: string, rows: readonly JudgedRow[]): void {
  const count = (standing: Standing) => rows.filter((row) => row.standing === standing).length
  const cells = [count('by default'), count('under a setting'), count('not proven'), rows.length]
  const widths = [10, 17, 12, 8]
  console.log(name.padEnd(19) + cells.map((cell, at) => String(cell).padStart(widths[at] ?? 0)).join(''))
}
