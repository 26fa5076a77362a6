import { type ApiKeyRecord, SCOPES, type Scope } from '@ostiary/contract'
import { withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, type Invocation, isLiveMode, number, text, texts } from '../command.ts'
import { paint, table } from '../terminal.ts'
import { tenantOf } from './tenants.ts'

/** Nobody gets these without asking for them. */
const RARE_SCOPES: readonly Scope[] = ['admin:*', 'verify:lockouts']
const DEFAULT_SCOPES = SCOPES.filter((scope) => !RARE_SCOPES.includes(scope))

export const keyCommands: readonly Command[] = [
  {
    name: 'keys create',
    usage: `ostiary keys create --tenant <id or name> (--test | --live) [--name <text>] [--scope <scope>]...
       [--plan standard|plus|unmetered] [--allow-ip <address or network>]... [--customer-id <text>]
       [--api-id <text>] [--product-code <text>] [--json]

  --scope <scope>           ${SCOPES.join(', ')};
                            all except ${RARE_SCOPES.join(' and ')} if none is given
  --plan <plan>             multiplies the rate limits: standard (the default) 1, plus 10, unmetered no limits
  --allow-ip <network>      the key works only from these addresses; from all if none is given
  --customer-id, --api-id, --product-code
                            your own references; they are stored with the key and have no effect`,
    options: {
      tenant: { type: 'string' },
      test: { type: 'boolean' },
      live: { type: 'boolean' },
      name: { type: 'string' },
      scope: { type: 'string', multiple: true },
      plan: { type: 'string' },
      'allow-ip': { type: 'string', multiple: true },
      'customer-id': { type: 'string' },
      'api-id': { type: 'string' },
      'product-code': { type: 'string' },
    },
    values: { scope: SCOPES, plan: ['standard', 'plus', 'unmetered'] },
    run: createKey,
  },
  {
    name: 'keys list',
    usage: 'ostiary keys list --tenant <id or name> [--json]',
    options: { tenant: { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const records = await services.keys.listKeys(await tenantOf(invocation, services))
        return answer(invocation, records, table(['ID', 'KEY', 'NAME', 'STATUS', 'ENDS', 'SCOPES'], records.map(rowOf)))
      }),
  },
  {
    name: 'keys rotate',
    usage: `ostiary keys rotate <key id> [--overlap-days <0-90>] [--json]

  --overlap-days: how long the old key keeps working; 7 days if the option is not given`,
    options: { 'overlap-days': { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async ({ keys }) => {
        const { created, ending: oldKey } = await keys.rotateKey(
          argument(invocation, 'key id'),
          number(invocation, 'overlap-days'),
        )
        if (invocation.options.json) invocation.terminal.out(JSON.stringify({ created, ending: oldKey }))
        else {
          showNewKey(invocation, created)
          invocation.terminal.err(`The old key ${oldKey.api_key} works until ${oldKey.ends_at}.`)
        }
        return 0
      }),
  },
  {
    name: 'keys revoke',
    usage: 'ostiary keys revoke <key id> [--json]',
    run: (invocation) =>
      withServices(invocation.env, async ({ keys }) => {
        const record = await keys.revokeKey(argument(invocation, 'key id'))
        return answer(
          invocation,
          record,
          `${record.id} ${record.api_key} is revoked. All processes refuse it within 5 seconds`,
        )
      }),
  },
]

async function createKey(invocation: Invocation): Promise<number> {
  const livemode = isLiveMode(invocation)
  const scopes = texts(invocation, 'scope')
  return withServices(invocation.env, async (services) => {
    const tenantId = await tenantOf(invocation, services)
    const record = await services.keys.createKey(tenantId, {
      livemode,
      name: text(invocation, 'name') ?? (livemode ? 'live key' : 'test key'),
      scopes: scopes.length > 0 ? scopes : DEFAULT_SCOPES,
      allowedIps: texts(invocation, 'allow-ip'),
      usagePlanId: text(invocation, 'plan'),
      customerId: text(invocation, 'customer-id'),
      apiId: text(invocation, 'api-id'),
      productCode: text(invocation, 'product-code'),
    })
    if (invocation.options.json) invocation.terminal.out(JSON.stringify(record))
    else showNewKey(invocation, record)
    return 0
  })
}

/** The output without --json. Only the key goes to standard output, so that it can be piped. The text goes to standard error. */
function showNewKey({ terminal }: Invocation, record: ApiKeyRecord): void {
  terminal.err(
    `Key ${record.id} (${record.name}) for tenant ${record.tenant_id}. Copy it now, it cannot be shown again:`,
  )
  terminal.out(paint(terminal, 'bold', record.api_key))
}

function rowOf(record: ApiKeyRecord): string[] {
  return [record.id, record.api_key, record.name, record.status, record.ends_at ?? '', record.scopes.join(' ')]
}
