import { withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, text } from '../command.ts'
import { table } from '../terminal.ts'
import { resolveTenant, tenantOf } from './tenants.ts'

const TENANT = { tenant: { type: 'string' } } as const

export const hostCommands: readonly Command[] = [
  {
    name: 'tenants hosts add',
    usage: `ostiary tenants hosts add <host name> --tenant <id or name> [--json]

  At this name area E serves the keys of this tenant only, and nothing else is served: no other area, no launch page, no health
  check. Do this when every API process runs this release. Behind a proxy: docs/ops/host-names.md`,
    options: TENANT,
    run: (invocation) => {
      const name = argument(invocation, 'host name')
      return withServices(invocation.env, async (services) => {
        const record = await services.hosts.add(await tenantOf(invocation, services), name)
        return answer(
          invocation,
          record,
          `${record.host} belongs to ${record.tenant_id}; effective everywhere within 5 seconds`,
        )
      })
    },
  },
  {
    name: 'tenants hosts list',
    usage: 'ostiary tenants hosts list [--tenant <id or name>] [--json]',
    options: TENANT,
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const tenant = text(invocation, 'tenant')
        const hosts = await services.hosts.list(
          tenant === undefined ? undefined : await resolveTenant(services, tenant),
        )
        const rows = hosts.map((one) => [one.host, one.tenant_id, one.when_created])
        return answer(invocation, hosts, rows.length === 0 ? 'Every host name serves everybody.' : table(HEAD, rows))
      }),
  },
  {
    name: 'tenants hosts remove',
    usage: `ostiary tenants hosts remove <host name> --tenant <id or name> [--json]

  While the name still leads here, it serves everything to everybody afterwards, as other names do.`,
    options: TENANT,
    run: (invocation) => {
      const name = argument(invocation, 'host name')
      return withServices(invocation.env, async (services) => {
        await services.hosts.remove(await tenantOf(invocation, services), name)
        return answer(invocation, { host: name, removed: true }, `${name} serves everybody within 5 seconds`)
      })
    },
  },
]

const HEAD = ['HOST NAME', 'TENANT', 'CREATED']
