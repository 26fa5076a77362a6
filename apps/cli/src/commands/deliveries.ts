import { DELIVERY_STATES } from '@ostiary/contract'
import type { WebhookDelivery, WebhookDeliveryDetails } from '@ostiary/sdk'
import { answer, argument, type Command, type Invocation, number, oneOf, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE, type Connection } from '../connection.ts'
import { table } from '../terminal.ts'

const CONNECTION = '[--url <address>] [--key <key>] [--profile <name>] [--json]'
const SHOWN = 20
const REPLAYED_STATES = ['dead', 'delivered', 'all'] as const

export const deliveryCommands: readonly Command[] = [
  {
    name: 'deliveries list',
    usage: `ostiary deliveries list [--state ${DELIVERY_STATES.join('|')}] [--session <session id>] [--since <moment>] [--limit <1-200>]
       ${CONNECTION}

Newest first, ${SHOWN} unless --limit says more. "dead": no attempt follows unless it is replayed.
${CONNECTION_USAGE}`,
    options: {
      ...CONNECTION_OPTIONS,
      state: { type: 'string' },
      session: { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string' },
    },
    values: { state: DELIVERY_STATES },
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const [state, sessionId, since] = [
          oneOf(invocation, 'state', DELIVERY_STATES),
          text(invocation, 'session'),
          text(invocation, 'since'),
        ]
        const { items } = await client.webhooks.list({
          limit: number(invocation, 'limit') ?? SHOWN,
          ...(state && { state }),
          ...(sessionId !== undefined && { sessionId }),
          ...(since !== undefined && { since }),
        })
        return answer(invocation, items, items.length === 0 ? 'There is no such delivery.' : deliveryTable(items))
      }),
  },
  {
    name: 'deliveries show',
    usage: `ostiary deliveries show <delivery id> ${CONNECTION}

The id is X-Service-Delivery of the webhook. Bodies are not shown: they are what the result says.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const delivery = await client.webhooks.get(argument(invocation, 'delivery id'))
        return answer(invocation, delivery, describe(delivery))
      }),
  },
  {
    name: 'deliveries replay',
    usage: `ostiary deliveries replay (<delivery id> | --since <moment> [--state dead|delivered|all])
       ${CONNECTION}

Sends a webhook again, in any state; with --since all dead ones since then, or those that --state names.
${CONNECTION_USAGE}`,
    options: { ...CONNECTION_OPTIONS, since: { type: 'string' }, state: { type: 'string' } },
    values: { state: REPLAYED_STATES },
    run: (invocation) => atService(invocation, (connection) => replay(connection, invocation), { writes: true }),
  },
]

async function replay({ client }: Connection, invocation: Invocation): Promise<number> {
  const [id] = invocation.args
  const since = text(invocation, 'since')
  if ((id === undefined) === (since === undefined)) throw new UsageError('Name a delivery, or say --since')
  if (id !== undefined) {
    const delivery = await client.webhooks.replay(id)
    return answer(invocation, delivery, `${id} is sent again: ${delivery.event} to ${delivery.origin}`)
  }
  const state = oneOf(invocation, 'state', REPLAYED_STATES)
  const { count } = await client.webhooks.replaySince(since ?? '', state)
  return answer(invocation, { count }, `${count} are sent again`)
}

export function deliveryTable(items: readonly WebhookDelivery[]): string {
  return table(
    ['DELIVERY', 'EVENT', 'STATE', 'TRIES', 'TO', 'CREATED', 'MODE'],
    items.map((one) => [
      one.id,
      one.event,
      one.deadReason === undefined ? one.state : `${one.state} (${one.deadReason})`,
      String(one.attempts),
      one.origin,
      one.createdAt.slice(0, 19).replace('T', ' '),
      one.livemode ? 'live' : 'test',
    ]),
  )
}

function describe(delivery: WebhookDeliveryDetails): string {
  const attempts = delivery.attemptLog.map(({ attempt, startedAt, durationMs, outcome, status, nextAttemptAt }) => [
    String(attempt),
    startedAt,
    `${durationMs} ms`,
    outcome,
    status === undefined ? '-' : String(status),
    nextAttemptAt ?? '-',
  ])
  const log = attempts.length === 0 ? 'No attempt yet.' : table(ATTEMPT_HEAD, attempts)
  return `${deliveryTable([delivery])}\nsession ${delivery.sessionId}, deleted at ${delivery.deletedAt}\n\n${log}`
}

const ATTEMPT_HEAD = ['TRY', 'STARTED', 'TOOK', 'OUTCOME', 'STATUS', 'NEXT']
