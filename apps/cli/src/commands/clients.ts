import { readFileSync } from 'node:fs'
import type { ApiClientRecord } from '@ostiary/contract'
import { withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, fileAt, type Invocation, required, texts, UsageError } from '../command.ts'
import { paint, table } from '../terminal.ts'
import { resolveTenant, tenantOf } from './tenants.ts'

export const clientCommands: readonly Command[] = [
  {
    name: 'clients create',
    usage: `ostiary clients create --tenant <id or name> --name <text> [--test | --live]
       [--public-key <file.jwk>]... [--json]

  Area D: who calls, beside the API key. For test keys unless --live is said. With --public-key (a JWK or a set of
  them, P-256, Ed25519 or RSA) the client signs and has no secret: docs/api/oauth.md`,
    options: {
      tenant: { type: 'string' },
      name: { type: 'string' },
      test: { type: 'boolean' },
      live: { type: 'boolean' },
      'public-key': { type: 'string', multiple: true },
    },
    run: createClient,
  },
  {
    name: 'clients list',
    usage: 'ostiary clients list --tenant <id or name> [--json]',
    options: { tenant: { type: 'string' } },
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const records = await services.clients.list(await tenantOf(invocation, services))
        return answer(invocation, records, table(['CLIENT ID', 'NAME', 'STATUS', 'SHOWS'], records.map(rowOf)))
      }),
  },
  {
    name: 'clients revoke',
    usage: 'ostiary clients revoke <client id> [--json]',
    run: (invocation) =>
      withServices(invocation.env, async ({ clients }) => {
        const record = await clients.revoke(argument(invocation, 'client id'))
        return answer(invocation, record, `${record.client_id} is revoked. All processes refuse it within 5 seconds`)
      }),
  },
]

async function createClient(invocation: Invocation): Promise<number> {
  const { test, live } = invocation.options
  if (test && live) throw new UsageError('Give --test or --live, not both')
  const [tenant, name] = [required(invocation, 'tenant'), required(invocation, 'name')]
  const publicKeys = texts(invocation, 'public-key').flatMap((path) => readKeys(fileAt(invocation, path)))
  return withServices(invocation.env, async (services) => {
    const tenantId = await resolveTenant(services, tenant)
    const record = await services.clients.create(tenantId, { livemode: Boolean(live), name, publicKeys })
    if (invocation.options.json) invocation.terminal.out(JSON.stringify(record))
    else showNewClient(invocation, record)
    return 0
  })
}

/** Only id and secret go to standard output, one per line, so that they can be piped. The text goes to standard error. */
function showNewClient({ terminal }: Invocation, record: ApiClientRecord): void {
  const { client_id: id, client_secret: secret, name, tenant_id: tenantId } = record
  const what =
    secret === undefined
      ? 'It signs with its own key and has no secret'
      : 'Copy the secret now, it cannot be shown again'
  terminal.err(`${record.livemode ? 'Live' : 'Test'} client ${name} for tenant ${tenantId}. ${what}:`)
  terminal.out(id)
  if (secret !== undefined) terminal.out(paint(terminal, 'bold', secret))
}

/** A file holds one JWK or a set of them (RFC 7517). Messages never quote its content: it may be the wrong file. */
function readKeys(path: string): unknown[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const isJson = error instanceof SyntaxError
    throw new UsageError(`${path} ${isJson ? 'is not a JWK: its text is not JSON' : 'cannot be read'}`)
  }
  const keys: unknown = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : [parsed]
  if (!Array.isArray(keys) || keys.length === 0) throw new UsageError(`${path} holds no key`)
  return keys
}

function rowOf({ client_id: id, name, status, keys }: ApiClientRecord): string[] {
  return [id, name, status, keys.length === 0 ? 'secret' : `signature by ${keys.join(' ')}`]
}
