import type { FlowStatus, WebhookEventName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { LabelledCounter } from '../platform/metrics.ts'
import { type Concluded, createExpiry, newReturnTicket, type Sessions } from '../sessions/index.ts'
import type { WebhookMessage, WebhookService } from '../webhooks/index.ts'
import { type EndRequest, endedResult } from './ended-result.ts'
import { toResultBytes } from './result.ts'
import type { AgeSession } from './session.ts'
import { ageSessionsIn } from './sessions.ts'

interface Deps {
  clock: Clock
  sessions: Sessions
  webhooks: WebhookService
  log: Log
  /** Sessions that ended, by how. */
  metrics: LabelledCounter
}

const EVENTS: Readonly<Record<FlowStatus, WebhookEventName>> = {
  COMPLETED: 'age.session.completed',
  CANCELLED: 'age.session.cancelled',
  EXPIRED: 'age.session.expired',
}

/** The end of an age session: the verdict, the result and its webhook, in one transaction, so that none exists without the others. */
export function createEnding({ clock, sessions, webhooks, log, metrics }: Deps) {
  /** Ends a session that the transaction holds. */
  async function conclude(tx: Queryable, session: AgeSession, end: EndRequest): Promise<Concluded<FlowStatus>> {
    const at = clock.now()
    const ended = prepare(session, end, at)
    const { purgeAt, result, ticket } = ended
    await sessions.end(tx, session, { state: end.flow, at, purgeAt, result, ticket })
    await webhooks.enqueue(tx, [messageOf(ended, end.flow, at)])
    metrics.count(end.flow)
    return { state: end.flow, ticket }
  }

  const expiry = createExpiry(
    { clock, sessions, own: ageSessionsIn(sessions), log },
    {
      conclude: (tx, session) => conclude(tx, session, { flow: 'EXPIRED' }),
      prepare: (session, at) => prepare(session, { flow: 'EXPIRED' }, at),
      follow: (tx, ended, at) =>
        webhooks.enqueue(
          tx,
          ended.map((one) => messageOf(one, 'EXPIRED', at)),
        ),
      count: (expired) => metrics.count('EXPIRED', expired),
    },
  )

  return { conclude, ...expiry }
}
export type Ending = ReturnType<typeof createEnding>

function prepare(session: AgeSession, end: EndRequest, at: Date) {
  const purgeAt = new Date(at.getTime() + session.request.policy.retentionSeconds * 1000)
  const { request, progress } = session
  const ticket = newReturnTicket(progress, request.policy.redirectCode === true && isByBrowser(end))
  const result = toResultBytes(endedResult(session, end, { endedAt: at, ticket }), request.metadataText)
  return { session, purgeAt, result, ticket }
}

/** Whether a call of the user's browser ended the session, and not the host or the time. */
const isByBrowser = (end: EndRequest) =>
  end.flow === 'COMPLETED' || (end.flow === 'CANCELLED' && end.code !== 'HOST_CANCELLED')

/** The message of a session that has ended. Without a callback it is for the event stream only. */
function messageOf(
  { session, purgeAt, result }: ReturnType<typeof prepare>,
  flow: FlowStatus,
  at: Date,
): WebhookMessage {
  const { tenantId, livemode, keyId, sessionId } = session
  const { url = null, headers = {} } = session.request.callback ?? {}
  const shared = {
    tenantId,
    livemode,
    keyId,
    area: 'age' as const,
    event: EVENTS[flow],
    subjectId: sessionId,
    sequence: 1,
  }
  return { ...shared, url, headers, body: result, now: at, purgeAt }
}
