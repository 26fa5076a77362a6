import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { FLOW_STATUSES, PURGED, SESSION_OUTCOMES } from '@ostiary/contract'
import type { OstiaryClient, WebhookDelivery } from '@ostiary/sdk'
import { answer, argument, type Command, type Invocation, number, oneOf, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE } from '../connection.ts'
import {
  ageRow,
  type FoundSession,
  findSession,
  isOutOfReach,
  SESSION_ID,
  type SessionRow,
  sessionTable,
  verificationRow,
} from '../sessions/rows.ts'
import { AREAS } from '../trigger/stories.ts'
import { deliveryTable } from './deliveries.ts'

const CONNECTION = '[--url <address>] [--key <key>] [--profile <name>] [--json]'
const SHOWN = 20
const POLL_MS = 1_000

export const sessionCommands: readonly Command[] = [
  {
    name: 'sessions list',
    usage: `ostiary sessions list [--area age|verification] [--state <state>] [--since <moment>] [--limit <1-200>]
       [--transaction-id <text>] ${CONNECTION}

Both areas unless --area names one, ${SHOWN} sessions unless --limit says more. --since is such as 2026-11-18T09:00:00Z.
--transaction-id shows the sessions of area D that were created with this transactionID.
With a live key area D needs client credentials too: OSTIARY_CLIENT_ID and OSTIARY_CLIENT_SECRET.
${CONNECTION_USAGE}`,
    options: {
      ...CONNECTION_OPTIONS,
      area: { type: 'string' },
      state: { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string' },
      'transaction-id': { type: 'string' },
    },
    values: { area: AREAS, state: [...new Set([...FLOW_STATUSES, ...SESSION_OUTCOMES, PURGED])] },
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const rows = await listRows(client, invocation)
        return answer(invocation, rows, rows.length === 0 ? 'There is no such session.' : sessionTable(rows))
      }),
  },
  {
    name: 'sessions show',
    usage: `ostiary sessions show <session id, or token of an age session> ${CONNECTION}

The result of an age session needs its token: the id alone shows its state. Webhooks of the session are listed below.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const { row, result } = await found(client, argument(invocation, 'session id or token'))
        const { items } = await client.webhooks.list({ sessionId: row.sessionId })
        return answer(invocation, { ...row, result, deliveries: items }, describe({ row, result }, items))
      }),
  },
  {
    name: 'sessions watch',
    usage: `ostiary sessions watch [<session id, or token of an age session>] ${CONNECTION}

One line for every change, until the session ends. Without an id: of all sessions from now on, until Ctrl-C. With --json
every line is an object. "ostiary listen" shows the events with their bodies.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const [asked] = invocation.args
        return asked === undefined ? watchAll(client, invocation) : watchOne(client, asked, invocation)
      }),
  },
  {
    name: 'sessions cancel',
    usage: `ostiary sessions cancel <session id of area D, or token of an age session> ${CONNECTION}

Ends an open session with the code -38; its webhook is sent.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) => atService(invocation, (connection) => cancel(connection.client, invocation), { writes: true }),
  },
]

async function listRows(client: OstiaryClient, invocation: Invocation): Promise<SessionRow[]> {
  const transactionID = text(invocation, 'transaction-id')
  const named = oneOf(invocation, 'area', AREAS)
  if (transactionID !== undefined && named === 'age') throw new UsageError('Age sessions have no --transaction-id')
  const area = transactionID === undefined ? named : 'verification'
  const limit = number(invocation, 'limit') ?? SHOWN
  const [state, since] = [text(invocation, 'state'), text(invocation, 'since')]
  const query = { limit, ...(since !== undefined && { since }), ...(state !== undefined && { state: state as never }) }
  const calls = {
    age: async () => (await client.age.list(query)).items.map(ageRow),
    verification: async () =>
      (await client.verification.list({ ...query, ...(transactionID !== undefined && { transactionID }) })).items.map(
        verificationRow,
      ),
  }
  const rows: SessionRow[] = []
  for (const one of area ? [area] : AREAS) {
    const part = await calls[one]().catch((error: unknown) => {
      // Without --area, an area that the key may not read, or whose states have other names, has nothing to show.
      const isOtherState = state !== undefined && (error as { status?: number }).status === 400
      if (area === undefined && (isOutOfReach(error) || isOtherState)) return []
      throw error
    })
    rows.push(...part)
  }
  return rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, limit)
}

async function found(client: OstiaryClient, asked: string): Promise<FoundSession> {
  const session = await findSession(client, asked)
  if (!session) throw new Error(`There is no session ${asked} for this key`)
  return session
}

function describe({ row, result }: FoundSession, deliveries: readonly WebhookDelivery[]): string {
  const lines = [sessionTable([row])]
  if (result) lines.push(JSON.stringify(result, null, 2))
  else if (row.area === 'age' && row.endedAt !== null) lines.push('Its result is shown to its token.')
  lines.push(deliveries.length === 0 ? 'No webhook was sent.' : deliveryTable(deliveries))
  return lines.join('\n\n')
}

async function cancel(client: OstiaryClient, invocation: Invocation): Promise<number> {
  const asked = argument(invocation, 'session id or token')
  const isId = SESSION_ID.test(asked)
  const ended = await (isId ? client.verification.cancel(asked) : client.age.cancel(asked)).catch((error: unknown) => {
    if (isId && (error as { status?: number }).status === 404) {
      throw new Error(`There is no session ${asked} of area D. Age sessions are cancelled by their token`)
    }
    throw error
  })
  return answer(invocation, ended, `${ended.sessionId} is cancelled`)
}

async function watchOne(client: OstiaryClient, asked: string, invocation: Invocation): Promise<number> {
  let last = ''
  for (;;) {
    const { row } = await found(client, asked)
    last = say(invocation, row, last)
    if (row.endedAt !== null) return 0
    await sleep(POLL_MS)
  }
}

/** Sessions that exist already are shown when they change. */
async function watchAll(client: OstiaryClient, invocation: Invocation): Promise<number> {
  const stopped = once(process, 'SIGINT').then(() => 'stopped' as const)
  const seen = new Map<string, string>()
  for (const row of await listRows(client, invocation)) seen.set(row.sessionId, row.state)
  invocation.terminal.err('Watching; Ctrl-C ends it')
  for (;;) {
    if ((await Promise.race([stopped, sleep(POLL_MS)])) === 'stopped') return 0
    for (const row of (await listRows(client, invocation)).reverse()) {
      seen.set(row.sessionId, say(invocation, row, seen.get(row.sessionId) ?? ''))
    }
  }
}

function say(invocation: Invocation, row: SessionRow, last: string): string {
  if (row.state === last) return last
  const type = row.type === null ? '' : ` ${row.type}`
  answer(invocation, row, `${row.sessionId}  ${row.area}${type}  ${row.outcome ?? row.state}`)
  return row.state
}
