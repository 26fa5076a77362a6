import { BUILT_IN_VERSIONS } from '@ostiary/contract'
import { type OperatorServices, type ReindexProgress, withServices } from '@ostiary/server/operate'
import { answer, type Command, text, UsageError } from '../command.ts'
import { table } from '../terminal.ts'
import { resolveTenant } from './tenants.ts'

export const nodeCommands: readonly Command[] = [
  {
    name: 'node stats',
    usage: 'ostiary node stats [--json]',
    run: (invocation) =>
      withServices(invocation.env, async ({ node }) => {
        const spaces = await node.stats()
        if (invocation.options.json) {
          invocation.terminal.out(JSON.stringify(spaces))
          return 0
        }
        const rows = spaces.map((space) => [
          space.tenantName,
          space.livemode ? 'live' : 'test',
          space.version,
          String(space.persons),
          String(space.vectors),
          space.codedSeq > 0 ? 'codes' : 'exact',
          space.rowBytes === null ? '-' : megabytes(space.rowBytes + (space.indexBytes ?? 0)),
        ])
        const head = ['TENANT', 'MODE', 'MODEL', 'PERSONS', 'VECTORS', 'SEARCH', 'SIZE']
        invocation.terminal.out(rows.length === 0 ? 'Nobody is enrolled yet.' : table(head, rows))
        return 0
      }),
  },
  {
    name: 'node reindex',
    usage: 'ostiary node reindex (--tenant <id or name> | --all) [--model FACE3_1|FACE3_3|<declared model>] [--json]',
    options: { tenant: { type: 'string' }, all: { type: 'boolean' }, model: { type: 'string' } },
    values: { model: BUILT_IN_VERSIONS },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const [tenant, model] = [text(invocation, 'tenant'), text(invocation, 'model')]
        if ((tenant === undefined) === !invocation.options.all) throw new UsageError('Give --tenant or --all')
        const tenantId = tenant === undefined ? undefined : await resolveTenant(services, tenant)
        if (model !== undefined) await checkModel(services, model, tenantId)
        const count = await services.node.reindex(
          (space) => (tenantId ?? space.tenantId) === space.tenantId && (model ?? space.version) === space.version,
          (progress) => invocation.terminal.progress(describe(progress)),
        )
        invocation.terminal.progress('')
        return answer(
          invocation,
          { rebuilt: count },
          `${count} ${count === 1 ? 'space' : 'spaces'} rebuilt. Searches went on meanwhile; enrolments may have waited for moments.`,
        )
      }),
  },
]

/** A name that no model has would rebuild nothing, which looks like success. */
async function checkModel({ keys, nodeModels }: OperatorServices, model: string, tenantId?: string): Promise<void> {
  if ((BUILT_IN_VERSIONS as readonly string[]).includes(model)) return
  const tenantIds = tenantId === undefined ? (await keys.listTenants()).map((one) => one.tenantId) : [tenantId]
  for (const one of tenantIds) if ((await nodeModels.list(one)).some(({ name }) => name === model)) return
  throw new UsageError(`--model must be one of ${BUILT_IN_VERSIONS.join(', ')}, or a declared model of the tenant`)
}

function describe({ space, done, total }: ReindexProgress): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const bar = '█'.repeat(Math.round(share * 24)).padEnd(24, '░')
  const after = share === 1 ? ', making the codes' : ''
  return `${space.tenantId} ${space.livemode ? 'live' : 'test'} ${space.version} ${bar} ${done} of ${total}${after}`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
}
