import { type OperatorServices, withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, type Invocation, number, required, UsageError } from '../command.ts'
import { table } from '../terminal.ts'

export const tenantCommands: readonly Command[] = [
  {
    name: 'tenants create',
    usage: 'ostiary tenants create <name> [--bucket <0-1023>] [--json]',
    options: { bucket: { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async ({ keys }) => {
        const tenant = await keys.createTenant(argument(invocation, 'new tenant'), number(invocation, 'bucket'))
        return answer(invocation, { id: tenant.tenantId, name: tenant.name }, `${tenant.tenantId}  ${tenant.name}`)
      }),
  },
  {
    name: 'tenants list',
    usage: 'ostiary tenants list [--json]',
    run: (invocation) =>
      withServices(invocation.env, async ({ keys }) => {
        const tenants = await keys.listTenants()
        if (invocation.options.json) {
          const rows = tenants.map(({ tenantId, name, status, createdAt }) => ({
            id: tenantId,
            name,
            status,
            createdAt,
          }))
          invocation.terminal.out(JSON.stringify(rows))
        } else {
          const rows = tenants.map((tenant) => [
            tenant.tenantId,
            tenant.name,
            tenant.status,
            tenant.createdAt.toISOString(),
          ])
          invocation.terminal.out(table(['ID', 'NAME', 'STATUS', 'CREATED'], rows))
        }
        return 0
      }),
  },
  statusCommand('suspend', 'suspended'),
  statusCommand('resume', 'active'),
]

function statusCommand(verb: string, status: 'active' | 'suspended'): Command {
  return {
    name: `tenants ${verb}`,
    usage: `ostiary tenants ${verb} <id or name> [--json]`,
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const tenantId = await resolveTenant(services, argument(invocation, 'tenant'))
        await services.keys.setTenantStatus(tenantId, status)
        return answer(
          invocation,
          { id: tenantId, status },
          `${tenantId} is ${status}; effective everywhere within 5 seconds`,
        )
      }),
  }
}

/** The tenant that the option names. */
export const tenantOf = (invocation: Invocation, services: OperatorServices): Promise<string> =>
  resolveTenant(services, required(invocation, 'tenant'))

/** Finds a tenant by its id, or by its name when only one tenant has it. */
export async function resolveTenant({ keys }: OperatorServices, idOrName: string): Promise<string> {
  const tenants = await keys.listTenants()
  const matches = tenants.filter((tenant) => tenant.tenantId === idOrName || tenant.name === idOrName)
  const [match] = matches
  if (!match) throw new UsageError(`There is no tenant "${idOrName}". Make one: ostiary tenants create "${idOrName}"`)
  if (matches.length > 1) throw new UsageError(`${matches.length} tenants are called "${idOrName}": use the id`)
  return match.tenantId
}
