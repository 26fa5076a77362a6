import { constants } from 'node:fs'
import { access, open, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { SANCTIONS_LIMITS } from '@ostiary/contract'
import type { ScreenProgress } from '@ostiary/sdk'
import { argument, type Command, fileAt, fileOf, type Invocation, text, UsageError } from '../command.ts'
import { CONNECTION_OPTIONS, CONNECTION_USAGE, connect, connectWithKey, inWords } from '../connection.ts'
import { allOf, changesSummary, changesTable } from '../screen/changes.ts'
import { csvFile } from '../screen/csv-file.ts'
import { WARNING_MEANINGS } from '../screen/explain.ts'
import { hitsTable, type Look, progressLine, silencedTable } from '../screen/hits-table.ts'
import { csvReport } from '../screen/report-csv.ts'
import { htmlReport } from '../screen/report-html.ts'
import { toJson } from '../screen/screen-json.ts'
import { count, entriesOf, plural, type Screening } from '../screen/screening.ts'
import { harmless } from '../screen/text-width.ts'
import { paint, type Terminal } from '../terminal.ts'

/** Rows shown at a terminal; a pipe gets all rows. */
const SHOWN_ROWS_MAX = 100
const DEFAULT_WIDTH = 80
const WARNED_IDS_SHOWN = 5

const MATCHED = 3

export const screenCommands: readonly Command[] = [
  {
    name: 'screen',
    usage: `ostiary screen <file.csv> --dataset <name> [--threshold <0-1>] [--version <version>]
       [--since last|<run id>] [--series <name>] [--keep]
       [--csv <report.csv>] [--html <report.html>] [--url <address>] [--key <key>] [--json]

The file has the columns id, firstname, lastname and dob. Large files are sent in parts, as fast as the rate allows.
--threshold is the least score that counts as a match: ${SANCTIONS_LIMITS.scoreThresholdDefault} when absent. --version repeats a check.
--since shows what is new, gone and changed since an earlier run, and keeps this one: "last" is the newest run of the dataset and the
--series, which is your name for files that belong together. --keep keeps the run without comparing. The tenant must keep runs.
The reports hold personal data, and only you may read them; cells of the CSV that a spreadsheet would take for a formula
begin with an apostrophe.
${CONNECTION_USAGE}

Exit code: 0 nothing matched, ${MATCHED} something matched (with --since: something is new or changed), 1 not possible, 2 not understood.`,
    options: {
      ...CONNECTION_OPTIONS,
      dataset: { type: 'string' },
      threshold: { type: 'string' },
      version: { type: 'string' },
      since: { type: 'string' },
      series: { type: 'string' },
      keep: { type: 'boolean' },
      csv: { type: 'string' },
      html: { type: 'string' },
    },
    run: screen,
  },
]

async function screen(invocation: Invocation): Promise<number> {
  const { terminal, options } = invocation
  const path = fileAt(invocation, argument(invocation, 'file'))
  if (invocation.args.length > 1) throw new UsageError('One file at a time')
  const dataset = text(invocation, 'dataset')
  if (dataset === undefined) throw new UsageError('--dataset is required, for example --dataset demo')
  const threshold = thresholdOf(invocation)
  const reports = { csv: fileOf(invocation, 'csv'), html: fileOf(invocation, 'html') }
  await checkReports(path, reports)
  const version = text(invocation, 'version')
  const run = runOf(invocation)
  const file = await csvFile(path)
  const { client, url } = run ? connectWithKey(invocation) : connect(invocation)
  const progress = watchProgress(terminal, basename(path))
  const screening = await client.sanctions
    .screenAll({
      dataset,
      file,
      fileName: basename(path),
      keepResults: options.json === true,
      onProgress: progress.show,
      ...(threshold !== undefined && { scoreThreshold: threshold }),
      ...(version !== undefined && { version }),
      ...run,
    })
    .catch((error) => {
      throw inWords(error, url)
    })
    .finally(progress.end)
  // Print the matches even when a report could not be written: screening took minutes.
  const { written, failures } = await writeReports(screening, reports)
  if (options.json) terminal.out(JSON.stringify(toJson(screening)))
  else show(screening, invocation, written)
  for (const failure of failures) terminal.err(`Failed: ${failure}`)
  if (failures.length > 0) return 1
  return isNewsworthy(screening) ? MATCHED : 0
}

/** With an earlier run, what was known before is no news. */
function isNewsworthy({ matched, changes }: Screening): boolean {
  return changes?.since ? changes.new.length + changes.changed.length > 0 : matched.length > 0
}

/** What the service is to keep; undefined for nothing. */
function runOf(invocation: Invocation): { run: true; since?: string; series?: string } | undefined {
  const [since, series] = [text(invocation, 'since'), text(invocation, 'series')]
  if (since === undefined && invocation.options.keep !== true) {
    if (series !== undefined) throw new UsageError('--series needs --since or --keep')
    return undefined
  }
  return { run: true, ...(since !== undefined && { since }), ...(series !== undefined && { series }) }
}

/** Shows a progress bar at a terminal. Elsewhere it prints one line when the service makes us wait, so that the command does not look stuck. */
function watchProgress(terminal: Terminal, fileName: string) {
  let [isShown, isWaiting] = [false, false]
  return {
    show(progress: ScreenProgress): void {
      const { pause } = progress
      isShown = true
      terminal.progress(progressLine(fileName, progress, process.stderr.columns ?? DEFAULT_WIDTH))
      if (pause && !isWaiting && !terminal.showsProgress) {
        terminal.err(`${harmless(fileName)}: ${pause.reason}; going on in ${pause.seconds} s`)
      }
      isWaiting = pause !== undefined
    },
    end(): void {
      if (isShown) terminal.progress('')
    },
  }
}

interface Reports {
  csv: string | undefined
  html: string | undefined
}

async function writeReports(screening: Screening, { csv, html }: Reports) {
  const [written, failures]: [string[], string[]] = [[], []]
  const wanted = [[csv, csvReport] as const, [html, htmlReport] as const]
  for (const [report, render] of wanted) {
    if (report === undefined) continue
    // Reports hold personal data: other users of the machine must not read them.
    await writeFile(report, render(screening), { mode: 0o600 }).then(
      () => written.push(report),
      (error: Error) => failures.push(`${report} could not be written: ${error.message}`),
    )
  }
  return { written, failures }
}

function thresholdOf(invocation: Invocation): number | undefined {
  const value = text(invocation, 'threshold')
  if (value === undefined) return undefined
  const threshold = Number(value)
  if (!/^\d*\.?\d+$/.test(value) || threshold <= 0 || threshold > 1) {
    throw new UsageError('--threshold must be above 0 and at most 1')
  }
  return threshold
}

/** Runs before the screening, so that an unwritable report is found after seconds, not after minutes. */
async function checkReports(path: string, { csv, html }: Reports) {
  const source = await realpath(path).catch(() => path)
  const targets: string[] = []
  for (const report of [csv, html]) {
    if (report === undefined) continue
    const target = await realpath(report).catch(() => report)
    if (target === source || targets.includes(target)) throw new UsageError(`${report} would be overwritten`)
    targets.push(target)
    if (!(await canWrite(target))) throw new UsageError(`${report} cannot be written`)
  }
}

async function canWrite(target: string): Promise<boolean> {
  try {
    await access(dirname(target), constants.W_OK)
    const found = await stat(target).catch(() => null)
    if (found?.isDirectory()) return false
    if (!found?.isFile()) return true
    // Open the file instead of checking its mode: it may also be in use or locked. Opening changes nothing in it.
    await (await open(target, constants.O_WRONLY)).close()
    return true
  } catch {
    return false
  }
}

function show(screening: Screening, { terminal }: Invocation, reports: readonly string[]): void {
  const { matched, silenced, warnings, changes } = screening
  const look: Look = {
    width: terminal.isInteractive ? (process.stdout.columns ?? DEFAULT_WIDTH) : undefined,
    paint: (style, line) => paint(terminal, style, line),
  }
  const shown = terminal.isInteractive ? matched.slice(0, SHOWN_ROWS_MAX) : matched
  if (shown.length > 0) terminal.out(`${hitsTable(shown, look)}\n`)
  if (shown.length < matched.length) {
    terminal.out(`${plural(matched.length - shown.length, 'more row')} matched: --csv and --html write them all\n`)
  }
  if (changes && allOf(changes).length > 0) terminal.out(`Since the earlier run:\n${changesTable(changes, look)}\n`)
  if (silenced.length > 0) terminal.out(`Silenced by an exception:\n${silencedTable(silenced, look)}\n`)
  for (const [warning, ids] of warnings) {
    const some = ids.slice(0, WARNED_IDS_SHOWN).map((id) => harmless(id) || '(no id)')
    const rest = ids.length > some.length ? ' …' : ''
    terminal.out(
      `${paint(terminal, 'yellow', '!')} ${WARNING_MEANINGS[warning]}: ${plural(ids.length, 'row')} (${some.join(', ')}${rest})`,
    )
  }
  for (const note of changes?.notes ?? []) terminal.out(`${paint(terminal, 'yellow', '!')} ${note}`)
  if (screening.stale) terminal.out(`${paint(terminal, 'yellow', '!')} ${STALE_LIST}`)
  for (const report of reports) terminal.out(`Written: ${report}`)
  terminal.out(paint(terminal, 'bold', summary(screening)))
  if (changes) terminal.out(paint(terminal, 'bold', changesSummary(changes)))
}

const STALE_LIST =
  'The list is stale: its source was not checked with success for days, and newly listed people may be missing. The operator sees more with: ostiary datasets list'

function summary(screening: Screening): string {
  const { matched, silenced, total, dataset, version, threshold, runIds, run } = screening
  const silencedCount = silenced.reduce((sum, row) => sum + row.silenced.length, 0)
  const found =
    matched.length === 0
      ? `None of ${plural(total, 'row')} matched`
      : `${count(matched.length)} of ${plural(total, 'row')} matched ${plural(entriesOf(screening), 'entry', 'entries')}`
  const left = silencedCount > 0 ? `; ${count(silencedCount)} silenced` : ''
  return `${found}${left}. ${dataset} ${version}, threshold ${threshold}, ${run ? `kept as run ${run.id}` : runs(runIds)}`
}

/** Names only the first and the last run; the reports list all ids. */
function runs(runIds: readonly string[]): string {
  if (runIds.length === 1) return `run ${runIds[0]}`
  return `${count(runIds.length)} runs from ${runIds[0]} to ${runIds.at(-1)}`
}
