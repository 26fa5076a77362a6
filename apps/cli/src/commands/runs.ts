import type { RunComparison, RunRecord } from '@ostiary/sdk'
import { answer, argument, type Command, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE } from '../connection.ts'
import { count } from '../screen/screening.ts'
import { harmless } from '../screen/text-width.ts'
import { table } from '../terminal.ts'

export const runCommands: readonly Command[] = [
  {
    name: 'runs list',
    usage: `ostiary runs list [--dataset <name>] [--series <name>] [--url <address>] [--key <key>] [--json]

The runs of \`ostiary screen\` that the service keeps, newest first.
${CONNECTION_USAGE}`,
    options: { ...CONNECTION_OPTIONS, dataset: { type: 'string' }, series: { type: 'string' } },
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const [dataset, series] = [text(invocation, 'dataset'), text(invocation, 'series')]
        const found: RunRecord[] = []
        const filter = {
          limit: 200,
          ...(dataset !== undefined && { dataset }),
          ...(series !== undefined && { series }),
        }
        for await (const run of client.sanctions.runs.all(filter)) found.push(run)
        return answer(invocation, found, found.length === 0 ? 'There is no run.' : overview(found))
      }),
  },
  {
    name: 'runs show',
    usage: `ostiary runs show <run id> [--url <address>] [--key <key>] [--json]\n\n${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const run = await client.sanctions.runs.get(argument(invocation, 'run id'))
        return answer(invocation, run, details(run))
      }),
  },
  {
    name: 'runs delete',
    usage: `ostiary runs delete <run id> [--url <address>] [--key <key>] [--json]

Deletes the run and its hits at once. Later runs cannot be compared with it.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const id = argument(invocation, 'run id')
        await client.sanctions.runs.delete(id)
        return answer(invocation, { id, deleted: true }, `${id} is deleted`)
      }),
  },
  {
    name: 'runs compare',
    usage: `ostiary runs compare <run id> --with <earlier run id> [--url <address>] [--key <key>] [--json]

What is new, gone and changed since the earlier run. The service keeps no names: it shows keys of rows and entries.
\`ostiary screen --since\` shows the rows themselves, because it has the file.
${CONNECTION_USAGE}`,
    options: { ...CONNECTION_OPTIONS, with: { type: 'string' } },
    run: (invocation) => {
      const earlier = text(invocation, 'with')
      if (earlier === undefined) throw new UsageError('--with is required: the id of an earlier run')
      return atService(invocation, async ({ client }) => {
        const found = await client.sanctions.runs.compare(argument(invocation, 'run id'), { with: earlier })
        return answer(invocation, found, comparison(found))
      })
    },
  },
]

function overview(found: readonly RunRecord[]): string {
  const rows = found.map((run) =>
    [
      ...[run.id, run.state, run.startedAt.slice(0, 16).replace('T', ' '), run.dataset, run.version ?? '-'],
      ...[run.series ?? '-', count(run.rows), count(run.hits)],
    ].map(harmless),
  )
  return table(['ID', 'STATE', 'STARTED (UTC)', 'DATASET', 'VERSION', 'SERIES', 'ROWS', 'HITS'], rows)
}

function details(run: RunRecord): string {
  const facts: [string, string | number | null][] = [
    ['Run', run.id],
    ['State', run.state],
    ['Dataset', run.dataset],
    ['Version', run.version],
    ['Series', run.series],
    ['Threshold', run.scoreThreshold],
    ['Scorer', run.scorerVersion],
    ['Parts', run.parts],
    ['Rows', count(run.rows)],
    ['Hits', count(run.hits)],
    ['Started', run.startedAt],
    ['Completed', run.completedAt],
    ['Deleted at', run.deletedAt],
  ]
  return facts.map(([name, value]) => `${name.padEnd(12)}${harmless(String(value ?? '-'))}`).join('\n')
}

function comparison({ run, with: earlier, new: added, gone, changed, notes }: RunComparison): string {
  const rows = [...added, ...changed, ...gone].map((hit) =>
    [hit.change, hit.rowKey, hit.entityKey, String(hit.earlierScore ?? '-'), String(hit.score ?? '-')].map(harmless),
  )
  const counts = `${count(added.length)} new, ${count(gone.length)} gone, ${count(changed.length)} changed`
  return [
    ...(rows.length > 0 ? [table(['CHANGE', 'ROW KEY', 'ENTRY KEY', 'BEFORE', 'NOW'], rows), ''] : []),
    ...notes.map((note) => `! ${note}`),
    `${counts}: ${run.id} (version ${run.version}) since ${earlier.id} (version ${earlier.version})`,
  ].join('\n')
}
