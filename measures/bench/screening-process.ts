/**
 * Screens a file once in this process, as a thread of the API does: with the source in service, with that of an earlier release (its folder), or
 * with the source in service and the search of release 0.1 (`first`). Prints the processor time and one hash for each row's answer. The
 * parent measures fresh processes in turns: see screening-turns.ts.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { constants, inflateRawSync } from 'node:zlib'
import { answerRows, createFirstSearcher, openList, openSnapshot, type RowsAnswer } from '@ostiary/server/measure'
import { parseCsv } from '@ostiary/testkit/samples/labelled'
import type { Pass } from './screening-turns.ts'

const ROWS_PER_CHUNK = 250
const FULLY_SHOWN_ROWS = 5_000

const [source = '', snapshot = '', csv = '', threshold = ''] = process.argv.slice(2)
const rows = parseCsv(readFileSync(csv, 'utf8')).map(({ id = '', firstname = '', lastname = '', dob = '' }, at) => {
  return { line: at + 2, id, firstname, lastname, dob, warnings: [] }
})
const engine = source.startsWith('/') ? await engineOf(source) : { answerRows, openList, openSnapshot }
const { index, expansions, path, recordsAt, recordsLength } = await engine.openSnapshot(snapshot)
const records = { path, at: recordsAt, length: recordsLength }
const list = engine.openList({ dataset: 'bench', version: 'bench', index, expansions, records })
const lists = [source === 'first' ? { ...list, searcher: createFirstSearcher(index) } : list]

/** The door of the last release (`@ostiary/server/measure`) does not have these, so its files are named. */
async function engineOf(root: string): Promise<Engine> {
  const [rows, lists, snapshots] = await Promise.all(
    ['rows', 'open-list', 'snapshot'].map((name) => import(`${root}/apps/server/src/sanctions/engine/${name}.ts`)),
  )
  return { ...rows, ...lists, ...snapshots }
}
interface Engine {
  answerRows: typeof answerRows
  openList: typeof openList
  openSnapshot: typeof openSnapshot
}

const started = process.cpuUsage()
const answers: RowsAnswer[] = []
let matched = 0
for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
  const task = {
    dataset: 'bench',
    threshold: Number(threshold),
    rows: rows.slice(at, at + ROWS_PER_CHUNK),
    fullyShownRows: Math.max(0, FULLY_SHOWN_ROWS - matched),
  }
  const answer = engine.answerRows(lists, task, () => false)
  matched += answer.matched
  answers.push(answer)
}
const { user, system } = process.cpuUsage(started)

const unpack = (packed: Uint8Array) =>
  JSON.parse(`[${inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH })}]`) as { id: string }[]
const details = new Map(answers.flatMap((answer) => unpack(answer.records)).map((record) => [record.id, record]))
const hashes = answers
  .flatMap((answer) => unpack(answer.results))
  .map((row) =>
    createHash('sha256')
      .update(JSON.stringify([row, details.get(row.id)]))
      .digest('base64url')
      .slice(0, 16),
  )
// The last release does not count.
const NO_COUNTS = { prepared: 0, cached: 0, computed: 0, evicted: 0 }
const pass: Pass = { cpuSeconds: (user + system) / 1e6, matched, hashes, expansions: list.searcher.counts ?? NO_COUNTS }
process.stdout.write(JSON.stringify(pass))
