import { hash } from 'node:crypto'
import type { WebhookDelivery, WebhookDeliveryDetails, WebhookDeliveryPage } from '@ostiary/contract'
import type { Client, Host } from '@ostiary/testkit/measuring/sessions-load'
import type { Arrival } from '@ostiary/testkit/receivers'
import { inParallel } from './enrols.ts'

export const ENDINGS = ['COMPLETED', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED'] as const
export type Ending = (typeof ENDINGS)[number]

/** A session that was made, where its webhook must arrive, and how it must have ended. */
export interface Played {
  sessionId: string
  area: 'C' | 'D'
  /** Where the bytes of the webhook can be read again. */
  path: string
  receiver: number
  /** As the body says it: `flowStatus` in area C, `outcome` in area D. */
  ending: Ending
  /** The webhook contains a picture, which the read-back does not have. */
  hasPicture: boolean
}

interface Evidence {
  client: Client
  hosts: readonly Host[]
  played: readonly Played[]
  arrivals: readonly Arrival[]
}

/** What receivers, result and log contain for one session. */
export interface Verdict {
  ended: boolean
  lost: boolean
  badSignature: boolean
  changedId: boolean
  changedBody: boolean
  notInLog: boolean
  repeats: number
  attemptsLogged: number
}

const READERS = 8

/** Compares what arrived with what the API reports, session by session. */
export async function checkAll({ client, hosts, played, arrivals }: Evidence) {
  const arrived = Map.groupBy(arrivals, ({ sessionId }) => sessionId)
  const listed = new Map<string, WebhookDelivery[]>()
  for (const host of hosts) await listDeliveries(client, host, listed)
  const verdicts: Verdict[] = []
  const examples: string[] = []
  await inParallel(played.length, READERS, async (index) => {
    const session = played[index]
    const host = session && hosts[session.receiver % hosts.length]
    if (!session || !host) return
    const bytes = await client.bytes(host, session.path)
    const logs = await Promise.all(
      (listed.get(session.sessionId) ?? []).map(({ id }) =>
        client.read<WebhookDeliveryDetails>(host, `/webhooks/deliveries/${id}`),
      ),
    )
    const verdict = judge(session, bytes, logs, arrived.get(session.sessionId) ?? [])
    verdicts.push(verdict)
    const faults = FAULTS.filter((fault) => verdict[fault])
    if (faults.length > 0 || !verdict.ended) {
      examples.push(
        `session ${session.sessionId} to receiver ${session.receiver}: ${faults.join(', ') || 'not ended'}; ${JSON.stringify(logs)}`,
      )
    }
  })
  const count = (isTrue: (verdict: Verdict) => boolean) => verdicts.filter(isTrue).length
  const sum = (value: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + value(verdict), 0)
  return {
    arrivals: arrivals.length,
    ended: count(({ ended }) => ended),
    ways: new Set(played.map(({ area, ending }) => `${area} ${ending}`)).size,
    lost: count(({ lost }) => lost),
    badSignatures: count(({ badSignature }) => badSignature),
    changedIds: count(({ changedId }) => changedId),
    changedBodies: count(({ changedBody }) => changedBody),
    notInLog: count(({ notInLog }) => notInLog),
    repeats: sum(({ repeats }) => repeats),
    attemptsLogged: sum(({ attemptsLogged }) => attemptsLogged),
    examples: examples.slice(0, 5),
  }
}

const FAULTS = ['lost', 'badSignature', 'changedId', 'changedBody', 'notInLog'] as const

export function judge(
  session: Played,
  result: Buffer,
  logs: readonly WebhookDeliveryDetails[],
  arrivals: readonly Arrival[],
): Verdict {
  const { flowStatus, outcome } = JSON.parse(result.toString()) as { flowStatus?: string; outcome?: string }
  const here = arrivals.filter(({ receiver }) => receiver === session.receiver)
  const taken = here.filter(({ accepted, genuine }) => accepted && genuine)
  const [log] = logs
  const logged = new Set(log?.attemptLog.map(({ attempt }) => attempt))
  const ids = new Set([...logs.map(({ id }) => id), ...arrivals.map(({ deliveryId }) => deliveryId)])
  const isLogged =
    logs.length === 1 &&
    log?.state === 'delivered' &&
    log.attemptLog.some(({ outcome }) => outcome === 'delivered') &&
    here.every(({ attempt }) => logged.has(attempt))
  return {
    ended: (session.area === 'C' ? flowStatus : outcome) === session.ending,
    lost: taken.length === 0,
    badSignature: arrivals.some(({ genuine }) => !genuine),
    changedId: ids.size > 1,
    changedBody: !isSameBody(session, result, arrivals) || arrivals.length !== here.length,
    notInLog: !isLogged,
    repeats: Math.max(0, taken.length - 1),
    attemptsLogged: logs.reduce((total, { attemptLog }) => total + attemptLog.length, 0),
  }
}

/** Checks that every attempt had the same bytes: those of the read-back, unless they contain a picture. */
function isSameBody({ hasPicture }: Played, result: Buffer, arrivals: readonly Arrival[]): boolean {
  const bodies = new Set(arrivals.map(({ bodyHash }) => bodyHash))
  const isResult = bodies.has(hash('sha256', result))
  return bodies.size <= 1 && (bodies.size === 0 || isResult !== hasPicture)
}

/** All deliveries of a tenant, by session. */
async function listDeliveries(client: Client, host: Host, into: Map<string, WebhookDelivery[]>): Promise<void> {
  let cursor: string | null = null
  do {
    const path: string = `/webhooks/deliveries?limit=200${cursor === null ? '' : `&cursor=${cursor}`}`
    const page: WebhookDeliveryPage = await client.read(host, path)
    for (const delivery of page.items) into.set(delivery.sessionId, [...(into.get(delivery.sessionId) ?? []), delivery])
    cursor = page.nextCursor
  } while (cursor !== null)
}
