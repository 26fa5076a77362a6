import { type DeadReason, WEBHOOK_LIMITS } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Sealed } from '../platform/key-vault.ts'
import { OutboundError, type OutboundReason, RESOLVED } from '../platform/outbound/index.ts'
import type { PooledOutbound } from '../platform/outbound/pooled.ts'
import type { Platform } from '../platform/platform.ts'
import { logFailure } from '../platform/reachability.ts'
import { readTraceparent } from '../platform/traceparent.ts'
import { createMessageOpener } from './envelope.ts'
import type { Task } from './lanes.ts'
import { onceContext, sealContext, unpackCall } from './message.ts'
import type { WebhookMetrics } from './metrics.ts'
import { queueStore } from './queue-store.ts'
import { type AttemptResult, attemptResultOf, planNext } from './schedule.ts'
import { signedHeaders } from './signed-headers.ts'
import { createSigning, type Signer, type SigningDeps } from './signer.ts'

export interface AttemptDeps extends SigningDeps, Pick<Platform, 'clock' | 'ids' | 'log' | 'tracing' | 'vault'> {
  metrics: WebhookMetrics
  outbound: PooledOutbound
  version: string
}

/** An attempt that was made. */
type Attempt = { startedAt: Date; durationMs: number; traceId?: string | undefined } & AttemptResult

/** Time to store the attempt, in addition to the time limit of the attempt itself. */
const RECORD_MS = 5_000
/** A delivery that has waited in its lane for longer may have been erased since. It is looked up again before it is sent. */
const STILL_FRESH_MS = 1_000
const MOST_ASKED = 256

/** One attempt: open the message, sign it, post it, plan what follows, hand both to the recorder. */
export function createAttempts({
  clock,
  ids,
  log,
  metrics,
  tracing,
  vault,
  outbound,
  version,
  ...signing
}: AttemptDeps) {
  const signerOf = createSigning(signing)
  const open = createMessageOpener(vault)
  const isQueued = createStatementBatcher(queueStore.areQueued, MOST_ASKED)
  const userAgent = `Ostiary/${version}`

  /** Never throws: a delivery that cannot be returned becomes due when its lease ends. */
  async function returnToQueue(tasks: readonly Task[]): Promise<void> {
    const returned = [...Map.groupBy(tasks, ({ db }) => db)].map(async ([db, some]) => {
      try {
        await queueStore.returnToQueue(db, some, clock.now())
      } catch (err) {
        const facts = { err, count: some.length }
        logFailure(log, 'warn', facts, 'webhooks could not be returned to the queue; their lease will end')
      }
    })
    await Promise.all(returned)
  }

  /** From 0 to 1. */
  function randomFraction(): number {
    const [high = 0, low = 0] = ids.randomBytes(2)
    return (high * 256 + low) / 65_535
  }

  function noteDead({ claim, payload }: Task, reason: DeadReason): void {
    const { tenantId, deliveryId, livemode } = claim
    metrics.deliveries.count(reason)
    log.warn({ tenantId, sessionId: payload.subjectId, deliveryId, livemode, code: reason }, 'a webhook is dead')
  }

  /** No attempt can ever be made. */
  async function markDead(task: Task, reason: DeadReason): Promise<void> {
    await queueStore.markDead(task.db, task.claim, reason, clock.now())
    noteDead(task, reason)
  }

  /** Stores an attempt and plans what follows. */
  function record(task: Task, attempt: Attempt): void {
    const { claim, payload, probe } = task
    const { outcome, status, startedAt, durationMs } = attempt
    const now = clock.now()
    const plan = planNext(attempt, { tries: claim.tries + 1, now, purgeAtMs: payload.purgeAtMs, randomFraction })
    task.recorder.add({
      claim,
      probe,
      attempt: claim.attempts + 1,
      startedAt,
      durationMs,
      outcome,
      status,
      nextAttemptAt: plan.state === 'pending' ? plan.nextAttemptAt : undefined,
      dead: plan.state === 'dead' ? { at: now, reason: plan.reason } : undefined,
    })
    metrics.attempts.observe(outcome, claim.livemode ? 'live' : 'test', durationMs / 1000)
    const { tenantId, deliveryId, livemode } = claim
    const ids = { tenantId, sessionId: payload.subjectId, deliveryId, livemode, traceId: attempt.traceId }
    log.info({ ...ids, code: outcome, status, durationMs }, 'webhook')
    if (plan.state === 'delivered') metrics.deliveries.count('delivered')
    else if (plan.state === 'dead') noteDead(task, plan.reason)
  }

  /** Posts the message, with the one-time body if there is one. */
  async function send({ claim, payload }: Task, signer: Signer, once: Sealed | undefined): Promise<Attempt> {
    const { tenantId, deliveryId, livemode } = claim
    const call = unpackCall(await open(payload, sealContext(tenantId, deliveryId)))
    const body = once ? await open(once, onceContext(tenantId, deliveryId)) : call.body
    // Each attempt has its own time and signature.
    const startedAt = clock.now()
    const startedMs = clock.monotonicMs()
    const facts = { deliveryId, event: payload.event, sequence: payload.sequence, attempt: claim.attempts + 1 }
    const headers = signedHeaders(facts, body, { startedAt, signer })
    const parent = readTraceparent(headerOf(call.headers, 'traceparent'))
    const span = tracing?.start({ name: 'webhook', kind: 'client', parent })
    const own = span ? { ...withoutHeader(call.headers, 'traceparent'), traceparent: span.traceparent } : call.headers
    headers.push('content-type', 'application/json', 'user-agent', userAgent, ...Object.entries(own).flat())
    const result = await outbound
      .post({ owner: tenantId, url: call.url, allowHttp: !livemode, headers, body })
      .then(({ status, retryAfter }) => attemptResultOf(status, retryAfter, clock.now()), failureOf)
    const ids = { 'ostiary.session_id': payload.subjectId, 'ostiary.delivery_id': deliveryId }
    const attributes = { ...ids, 'http.response.status_code': result.status, 'ostiary.outcome': result.outcome }
    span?.end({ attributes, isError: result.outcome !== 'delivered' })
    const traceId = span?.traceparent.split('-')[1] ?? parent?.traceId
    return { startedAt, durationMs: Math.round(clock.monotonicMs() - startedMs), traceId, ...result }
  }

  async function attempt(task: Task): Promise<void> {
    const { db, claim, payload, leaseUntil, takenMs } = task
    // It waited in its lane for too long: the lease could end during the attempt, and another worker would send it too.
    if (leaseUntil.getTime() - clock.now().getTime() < WEBHOOK_LIMITS.timeoutMs + RECORD_MS)
      return returnToQueue([task])
    const isFresh = clock.monotonicMs() - takenMs < STILL_FRESH_MS
    if (!isFresh && !(await isQueued(db, claim))) return
    const once = claim.hasOnce ? await queueStore.onceOf(db, claim) : undefined
    // Another worker has delivered it or marked it dead since: there is nothing left to send.
    if (claim.hasOnce && !once) return
    const now = clock.now()
    if (payload.purgeAtMs <= now.getTime()) return markDead(task, 'retention')
    const unsent = { startedAt: now, durationMs: 0 }
    if (claim.failNext > 0 && !claim.livemode) return record(task, { ...unsent, outcome: 'sandbox' })
    const signer = await signerOf(claim, payload)
    if (signer === 'key_removed') return markDead(task, signer)
    if (signer === 'unsigned') return record(task, { ...unsent, outcome: signer })
    record(task, await send(task, signer, once))
  }

  return {
    /** Never throws: if the failure is ours (a key, the vault), nothing was sent, the lease ends, and a worker tries again. */
    async run(task: Task): Promise<void> {
      try {
        await attempt(task)
      } catch (err) {
        logFailure(log, 'error', { err, tenantId: task.claim.tenantId }, 'a webhook could not be prepared')
      }
    },
    returnToQueue,
  }
}

const headerOf = (headers: Readonly<Record<string, string>>, wanted: string) =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1]

const withoutHeader = (headers: Readonly<Record<string, string>>, unwanted: string) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== unwanted))

/** The address that a name resolves to can change between attempts, so such a refusal is not final. A forbidden URL is. */
function failureOf(error: unknown): AttemptResult {
  if (!(error instanceof OutboundError)) throw error
  return { outcome: OUTCOMES[error.reason], isResolved: error.code === RESOLVED }
}

const OUTCOMES: Readonly<Record<OutboundReason, AttemptResult['outcome']>> = {
  forbidden_target: 'forbidden',
  forbidden_address: 'forbidden',
  dns: 'dns',
  timeout: 'timeout',
  tls: 'tls',
  refused: 'refused',
  // Headers or a body too large to read: treated as no answer.
  too_large: 'refused',
  status: 'refused',
  redirect: 'redirect',
}
