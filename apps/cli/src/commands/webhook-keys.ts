import type { WebhookKeyRecord } from '@ostiary/contract'
import { type OperatorServices, withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, type Invocation, isLiveMode, number } from '../command.ts'
import { table } from '../terminal.ts'
import { tenantOf } from './tenants.ts'

const OWNER = { tenant: { type: 'string' }, test: { type: 'boolean' }, live: { type: 'boolean' } } as const

export const webhookKeyCommands: readonly Command[] = [
  {
    name: 'webhook-keys create',
    usage: `ostiary webhook-keys create --tenant <id or name> (--test | --live) [--json]

  Webhooks of this mode are signed with the new key pair too (v1a in webhook-signature), beside the API key. Do this when every
  worker runs this release. The private half stays here, sealed; hosts read the public half: docs/webhooks.md`,
    options: OWNER,
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const record = await services.webhookKeys.create(await ownerOf(invocation, services))
        if (invocation.options.json) invocation.terminal.out(JSON.stringify(record))
        else {
          invocation.terminal.err(
            `It signs from now on, in all processes within 5 seconds. Public half: ${pathOf(record)}`,
          )
          invocation.terminal.out(record.kid)
        }
        return 0
      }),
  },
  {
    name: 'webhook-keys list',
    usage: 'ostiary webhook-keys list --tenant <id or name> [--json]',
    options: { tenant: { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const records = await services.webhookKeys.list(await tenantOf(invocation, services))
        return answer(invocation, records, table(['KEY ID', 'MODE', 'STATUS', 'CREATED', 'ENDS'], records.map(rowOf)))
      }),
  },
  {
    name: 'webhook-keys rotate',
    usage: `ostiary webhook-keys rotate --tenant <id or name> (--test | --live) [--overlap-days <0-90>] [--json]

  --overlap-days: how long the old key pair signs beside the new one; 7 days if the option is not given`,
    options: { ...OWNER, 'overlap-days': { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const owner = await ownerOf(invocation, services)
        const { created, endsAt } = await services.webhookKeys.rotate(owner, number(invocation, 'overlap-days'))
        if (invocation.options.json) invocation.terminal.out(JSON.stringify({ created, ends_at: endsAt.toISOString() }))
        else {
          invocation.terminal.err(`Both key pairs sign until ${endsAt.toISOString()}, then this one alone:`)
          invocation.terminal.out(created.kid)
        }
        return 0
      }),
  },
  {
    name: 'webhook-keys retire',
    usage: `ostiary webhook-keys retire <key id> --tenant <id or name> [--json]

  Ends a key pair at once and erases its private half: after a theft, or to turn these signatures off. Hosts that demand
  one refuse all webhooks while no other key pair signs.`,
    options: { tenant: { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const kid = argument(invocation, 'key id')
        const record = await services.webhookKeys.retire(await tenantOf(invocation, services), kid)
        return answer(
          invocation,
          record,
          `${kid} is retired. It signs nothing after 5 seconds; hosts may believe it until they read the keys again, 5 minutes`,
        )
      }),
  },
]

async function ownerOf(invocation: Invocation, services: OperatorServices) {
  const livemode = isLiveMode(invocation)
  return { tenantId: await tenantOf(invocation, services), livemode }
}

function pathOf({ tenant_id: tenantId, livemode }: WebhookKeyRecord): string {
  return `/.well-known/ostiary-webhook-keys/${tenantId}.json${livemode ? '' : '?mode=test'}`
}

function rowOf({ kid, livemode, status, when_created: created, ends_at: ends = '' }: WebhookKeyRecord): string[] {
  return [kid, livemode ? 'live' : 'test', status, created, ends]
}
