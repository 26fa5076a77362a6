import type { FlowStatus, WebhookEventName } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { LabelledCounter } from '../platform/metrics.ts'
import { type Concluded, createExpiry, newReturnTicket, type Sessions } from '../sessions/index.ts'
import type { WebhookMessage, WebhookService } from '../webhooks/index.ts'
import { type AgeEnd, endedResult, flowStatusAt, toResultBytes } from './result.ts'
import { type AgeSession, ageSessionsIn } from './session.ts'

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
  async function conclude(tx: Queryable, session: AgeSession, end: AgeEnd): Promise<Concluded<FlowStatus>> {
    const at = clock.now()
    const ended = prepare(session, end, at)
    const { state, purgeAt, result, ticket } = ended
    await sessions.end(tx, session, { state, at, purgeAt, result, ticket })
    await webhooks.enqueue(tx, [messageOf(ended, at)])
    metrics.count(state)
    return { state, ticket }
  }

  const expiry = createExpiry(
    { clock, sessions, own: ageSessionsIn(sessions), log },
    {
      conclude: (tx, session) => conclude(tx, session, { how: 'expired' }),
      prepare: (session, at) => prepare(session, { how: 'expired' }, at),
      follow: (tx, ended, at) =>
        webhooks.enqueue(
          tx,
          ended.map((one) => messageOf(one, at)),
        ),
      count: (expired) => metrics.count('EXPIRED', expired),
    },
  )

  return { conclude, ...expiry }
}
export type Ending = ReturnType<typeof createEnding>

function prepare(session: AgeSession, end: AgeEnd, at: Date) {
  const purgeAt = new Date(at.getTime() + session.request.policy.retentionSeconds * 1000)
  const { request, progress } = session
  const ticket = newReturnTicket(progress, request.policy.redirectCode === true && isByBrowser(end))
  const result = toResultBytes(endedResult(session, end, { endedAt: at, ticket }), request.metadataText)
  return { session, state: flowStatusAt(end), purgeAt, result, ticket }
}

/** Whether a call of the user's browser ended the session, and not the host or the time. */
const isByBrowser = (end: AgeEnd) =>
  end.how !== 'expired' && !(end.how === 'cancelled' && end.code === 'HOST_CANCELLED')

/** The message of a session that has ended. Without a callback it is for the event stream only. */
function messageOf({ session, state, purgeAt, result }: ReturnType<typeof prepare>, at: Date): WebhookMessage {
  const { tenantId, livemode, keyId, sessionId } = session
  const { url = null, headers = {} } = session.request.callback ?? {}
  return {
    ...{ tenantId, livemode, keyId, url, headers, purgeAt },
    area: 'age',
    event: EVENTS[state],
    subjectId: sessionId,
    sequence: 1,
    body: result,
    now: at,
  }
}
