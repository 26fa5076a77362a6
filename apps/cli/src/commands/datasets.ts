import { statSync } from 'node:fs'
import {
  type BuildProgress,
  type DatasetId,
  datasetNameProblem,
  endOfList,
  type Importer,
  isOpenSanctions,
  LIST_FORMATS,
  LIST_KINDS,
  withDatasets,
} from '@ostiary/server/operate'
import { answer, argument, type Command, fileAt, fileOf, type Invocation, oneOf, text, UsageError } from '../command.ts'
import { paint } from '../terminal.ts'
import { enableCommand } from './datasets-enable.ts'
import { count, describeProgress, overview, summarise } from './datasets-text.ts'

const TENANT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const OPEN_SANCTIONS_NOTE =
  'OpenSanctions’ data is CC BY-NC: commercial use needs a licence from them (opensanctions.org/licensing). Give --licence when you have one.'

const NO_LIST = 'There is no list yet. Public lists are brought with: ostiary datasets enable ofac un'

export const datasetCommands: readonly Command[] = [
  enableCommand,
  {
    name: 'datasets import',
    usage: `ostiary datasets import <name> <file>... [--format ${LIST_FORMATS.join('|')}]
    [--title <text>] [--licence <text>] [--kind ${LIST_KINDS.join('|')}] [--tenant <id>] [--force] [--json]
ostiary datasets import <name> <entities.ftm.json> --deltas <folder> --since <version of that file>

<name> is one of us_ofac_sdn, us_ofac_cons, un_sc_sanctions, eu_fsf, ch_seco_sanctions, or any other of a to z, 0 to 9
and _. "ostiary datasets enable" brings the public ones by name, and the worker keeps them fresh. A tenant’s own list is custom_<name> with --tenant. The version in service goes on serving until
the new one is whole and verified. --force also takes a list that shrank by more than half, OFAC’s without its file of
aliases, or one that did not change or was rolled back.`,
    options: {
      format: { type: 'string' },
      title: { type: 'string' },
      licence: { type: 'string' },
      kind: { type: 'string' },
      tenant: { type: 'string' },
      deltas: { type: 'string' },
      since: { type: 'string' },
      force: { type: 'boolean' },
    },
    values: { format: LIST_FORMATS, kind: LIST_KINDS },
    run: importCommand,
  },
  {
    name: 'datasets list',
    usage: 'ostiary datasets list [--json]',
    run: (invocation) =>
      withDatasets(invocation.env, async (datasets) => {
        const found = await datasets.list()
        return answer(invocation, found, found.length === 0 ? NO_LIST : overview(found))
      }),
  },
  {
    name: 'datasets verify',
    usage: 'ostiary datasets verify <name> [--version <version>] [--tenant <id>] [--json]',
    options: { version: { type: 'string' }, tenant: { type: 'string' } },
    run: (invocation) =>
      withDatasets(invocation.env, async (datasets) => {
        const { name, tenantId } = datasetOf(invocation)
        const facts = await datasets.verify({ name, tenantId }, text(invocation, 'version'))
        return answer(
          invocation,
          facts,
          `${name} ${facts.version} is intact: ${count(facts.entries)} entries; ${facts.canaries.length} sample names found their own entries`,
        )
      }),
  },
  {
    name: 'datasets rollback',
    usage: 'ostiary datasets rollback <name> [--to <version>] [--tenant <id>] [--json]',
    options: { to: { type: 'string' }, tenant: { type: 'string' } },
    run: (invocation) =>
      withDatasets(invocation.env, async (datasets) => {
        const dataset = datasetOf(invocation)
        const { from, to } = await datasets.rollback(dataset, text(invocation, 'to'))
        return answer(invocation, { from, to }, `${dataset.name}: ${to} now serves instead of ${from ?? 'none'}`)
      }),
  },
  {
    name: 'datasets rebuild',
    usage: 'ostiary datasets rebuild (<name> [--tenant <id>] | --all) [--force] [--json]',
    options: { all: { type: 'boolean' }, tenant: { type: 'string' }, force: { type: 'boolean' } },
    run: (invocation) => withDatasets(invocation.env, (datasets) => rebuildCommand(invocation, datasets)),
  },
  {
    name: 'datasets remove',
    usage: 'ostiary datasets remove <name> [--tenant <id>] [--json]',
    options: { tenant: { type: 'string' } },
    run: (invocation) =>
      withDatasets(invocation.env, async (datasets) => {
        const dataset = datasetOf(invocation)
        await datasets.remove(dataset)
        return answer(
          invocation,
          { dataset: dataset.name, removed: true },
          `${dataset.name} is removed with all its versions`,
        )
      }),
  },
]

function importCommand(invocation: Invocation): Promise<number> {
  const dataset = datasetOf(invocation)
  const paths = invocation.args.slice(1).map((path) => fileAt(invocation, path))
  if (paths.length === 0) throw new UsageError('Name the files of the list')
  const folder = paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  if (folder !== undefined) throw new Error(`${folder} is a folder: name the files of the list`)
  const problem = datasetNameProblem(dataset)
  if (problem) throw new UsageError(problem)
  const [dir, since] = [fileOf(invocation, 'deltas'), text(invocation, 'since')]
  if ((dir === undefined) !== (since === undefined)) throw new UsageError('Give --deltas and --since together')
  const request = {
    dataset,
    paths,
    format: oneOf(invocation, 'format', LIST_FORMATS),
    kind: oneOf(invocation, 'kind', LIST_KINDS),
    title: text(invocation, 'title'),
    licence: text(invocation, 'licence'),
    deltas: dir === undefined || since === undefined ? undefined : { dir, since },
    force: invocation.options.force === true,
  }
  return withDatasets(invocation.env, async (datasets) => {
    const { terminal, options } = invocation
    const onProgress = (progress: BuildProgress) => terminal.progress(describeProgress(dataset.name, progress))
    const { facts, ...outcome } = await datasets
      .importList({ ...request, onProgress })
      .finally(() => terminal.progress(''))
    const end = endOfList(dataset.name)
    if (end) terminal.err(paint(terminal, 'yellow', `${end}. Nobody updates what you import under this name.`))
    if (isOpenSanctions(outcome.format) && request.licence === undefined) {
      terminal.err(paint(terminal, 'yellow', OPEN_SANCTIONS_NOTE))
    }
    const { entries, names, skipped } = facts
    if (options.json) terminal.out(JSON.stringify({ dataset: dataset.name, ...outcome, entries, names, skipped }))
    else for (const line of summarise(dataset.name, { facts, ...outcome })) terminal.out(line)
    return 0
  })
}

async function rebuildCommand(invocation: Invocation, datasets: Importer): Promise<number> {
  const { terminal, options } = invocation
  if ((invocation.args.length === 0) === !options.all) throw new UsageError('Name the dataset, or say --all')
  const wanted = options.all ? (await datasets.list()).map(({ dataset }) => dataset) : [datasetOf(invocation)]
  const rebuilt: object[] = []
  for (const dataset of wanted) {
    const onProgress = (progress: BuildProgress) => terminal.progress(describeProgress(dataset.name, progress))
    const facts = await datasets
      .rebuild(dataset, { onProgress, force: options.force === true })
      .finally(() => terminal.progress(''))
    rebuilt.push({ dataset: dataset.name, tenantId: dataset.tenantId, version: facts?.version ?? null })
    if (!options.json) {
      terminal.out(`${dataset.name}: ${facts ? `index rebuilt as ${facts.version}` : 'nothing to do'}`)
    }
  }
  if (options.json) terminal.out(JSON.stringify(rebuilt))
  return 0
}

function datasetOf(invocation: Invocation): DatasetId {
  const tenantId = text(invocation, 'tenant') ?? null
  if (tenantId !== null && !TENANT_ID.test(tenantId)) throw new UsageError('--tenant must be the id of a tenant')
  return { name: argument(invocation, 'dataset'), tenantId }
}
