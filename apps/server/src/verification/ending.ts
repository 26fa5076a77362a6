import { CONDITIONS_CONSENT, type DebugEntry, VERIFICATION_LIMITS, type VerificationWebhook } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { LabelledCounter } from '../platform/metrics.ts'
import {
  type Concluded,
  captureAssuranceOf,
  codeHashOf,
  consentOf,
  createExpiry,
  newReturnTicket,
  type ReturnTicket,
  type Sessions,
} from '../sessions/index.ts'
import type { WebhookMessage, WebhookService } from '../webhooks/index.ts'
import { boundBy } from './bound.ts'
import { withNote } from './debug.ts'
import { tokenReasonsOf, verificationOf } from './progress.ts'
import { verificationStore } from './store.ts'
import { type VerificationEnd, type VerificationSession, verificationSessionsIn } from './types.ts'
import { blocks, type EndState, outcomeOf, riskOf, toWebhook } from './webhook-body.ts'

interface Deps {
  clock: Clock
  sessions: Sessions
  webhooks: WebhookService
  log: Log
  /** Sessions that ended, by how. */
  metrics: LabelledCounter
}

/** What is kept of a session that has ended, sealed. */
export interface StoredResult {
  /** As it was sent, without images. */
  webhook: VerificationWebhook
  debugLog: DebugEntry[]
}

/** The end of a verification session: the result and its webhook, in one transaction, so that neither exists without the other. */
export function createVerificationEnding({ clock, sessions, webhooks, log, metrics }: Deps) {
  /** Ends a session that the transaction holds. Returns the state it has then: the tenant's policy may block a success. */
  async function conclude(
    tx: Queryable,
    session: VerificationSession,
    end: VerificationEnd,
  ): Promise<Concluded<EndState>> {
    const at = clock.now()
    const ended = prepare(session, allowed(session, end), at)
    const { state, purgeAt, result, ticket } = ended
    await sessions.end(tx, session, { state, at, purgeAt, result, ticket })
    await webhooks.enqueue(tx, [messageOf(ended, at)])
    if (state !== 'SUCCESS') await markForDiscard(tx, session, at)
    metrics.count(outcomeOf(state))
    return { state, ticket }
  }

  const expiry = createExpiry(
    { clock, sessions, own: verificationSessionsIn(sessions), log },
    {
      conclude: (tx, session) => conclude(tx, session, { state: 'EXPIRED' }),
      prepare: (session, at) => prepare(session, { state: 'EXPIRED' }, at),
      async follow(tx, ended, at) {
        await webhooks.enqueue(
          tx,
          ended.map((one) => messageOf(one, at)),
        )
        for (const { session } of ended) await markForDiscard(tx, session, at)
      },
      count: (expired) => metrics.count(outcomeOf('EXPIRED'), expired),
    },
  )

  return { conclude, ...expiry }
}

/** The session may be enrolling a person, or has enrolled one, and no result will report them. */
async function markForDiscard(tx: Queryable, session: VerificationSession, at: Date): Promise<void> {
  const personId = session.state === 'FINALIZING' ? session.progress?.own?.newPersonId : undefined
  if (!personId) return
  const { tenantId, livemode } = session
  await verificationStore.markForDiscard(tx, [{ tenantId, livemode, personId }], new Date(at.getTime() + ENROLMENT_MS))
}
/** Longer than an enrolment takes with all its tries. */
const ENROLMENT_MS = 60_000

export type VerificationEnding = ReturnType<typeof createVerificationEnding>

interface Ended {
  session: VerificationSession
  state: EndState
  purgeAt: Date
  body: Buffer
  /** With the selfie, where there is one: sent instead of `body` until it has arrived. */
  onceBody: Buffer | undefined
  result: Buffer
  ticket: ReturnTicket | null
}

/** A success that the tenant's own policy forbids becomes a failure. */
function allowed({ request, progress }: VerificationSession, end: VerificationEnd): VerificationEnd {
  if (end.state !== 'SUCCESS' || !blocks(request, progress)) return end
  return { state: 'FAILED', failures: ['POLICY_BLOCKED'] }
}

function prepare(session: VerificationSession, end: VerificationEnd, at: Date): Ended {
  const { request, progress, sessionId, livemode } = session
  const bound = end.state === 'SUCCESS' ? boundBy(request, progress) : {}
  const ticket = newReturnTicket(progress, isByBrowser(end), bound)
  const consent = consentOf(progress)
  const facts = {
    ...{ sessionId, request, end, livemode },
    desktop: progress?.desktop ?? false,
    indicators: progress?.indicators ?? null,
    risk: riskOf(request, progress, end.state === 'SUCCESS' && end.matchedBy === 'sandbox'),
    endedAt: at,
    reasons: tokenReasonsOf(progress),
    capture: captureAssuranceOf(progress),
    codeHash: codeHashOf(ticket),
    consent,
    // A handoff that a process of the last release handled leaves those of the first device behind.
    conditions:
      consent?.accepted && CONDITIONS_CONSENT.includes(consent.version) ? (progress?.conditions ?? null) : null,
  }
  const webhook = toWebhook({ ...facts, withImages: false })
  const hasImages = request.sendImages && end.state === 'SUCCESS' && end.selfie !== undefined
  const codes = webhook.errors.map(({ code }) => code)
  const note = { at, level: 1, event: 'ended', facts: { state: end.state, codes } } as const
  const debugLog = withNote(verificationOf(progress).debug, request, note)
  const stored: StoredResult = { webhook, debugLog }
  return {
    session,
    state: end.state,
    purgeAt: purgeAtOf(session, at),
    body: toBytes(webhook),
    onceBody: hasImages ? toBytes(toWebhook({ ...facts, withImages: true })) : undefined,
    result: toBytes(stored),
    ticket,
  }
}

/** Whether a call of the user's browser ended the session, and not the host or the time. */
const isByBrowser = (end: VerificationEnd) =>
  end.state !== 'EXPIRED' && !(end.state === 'CANCELLED' && end.code === 'HOST_CANCELLED')

/** Debug notes are deleted after a day, and the rest of such a session with them. */
function purgeAtOf({ request }: VerificationSession, at: Date): Date {
  const { retentionSeconds } = request.policy
  const debugSeconds = VERIFICATION_LIMITS.debugHours * 3_600
  const seconds = request.debugLevel > 0 ? Math.min(retentionSeconds, debugSeconds) : retentionSeconds
  return new Date(at.getTime() + seconds * 1000)
}

function messageOf({ session, state, purgeAt, body, onceBody }: Ended, at: Date): WebhookMessage {
  const { tenantId, livemode, keyId, sessionId, request } = session
  return {
    ...{ tenantId, livemode, keyId, purgeAt, body },
    area: 'verification',
    event: state === 'SUCCESS' ? 'verification.succeeded' : 'verification.failed',
    subjectId: sessionId,
    sequence: 1,
    url: request.callback.url,
    headers: request.callback.headers,
    now: at,
    ...(onceBody && { onceBody }),
  }
}

const toBytes = (value: object): Buffer => Buffer.from(JSON.stringify(value))
