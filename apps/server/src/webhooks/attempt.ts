import { type DeadReason, WEBHOOK_LIMITS } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Db } from '../platform/db.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Task } from './lanes.ts'
import type { WebhookMetrics } from './metrics.ts'
import { createPost, type PostDeps, type Posted, type Prepared, type Ready } from './post.ts'
import { queueStore } from './queue-store.ts'
import { createRecorder } from './recorder.ts'
import { planNext } from './schedule.ts'

export interface AttemptDeps extends PostDeps {
  db: Db
  ids: Ids
  log: Log
  metrics: WebhookMetrics
}

/** Time to store the attempt, in addition to the time limit of the attempt itself. */
const RECORD_MS = 5_000
/** A delivery that has waited in its lane for longer may have been erased since. It is looked up again before it is sent. */
const STILL_FRESH_MS = 1_000
const MOST_ASKED = 256

/** With the error if nothing was sent and the failure is ours. */
type Done = (error?: unknown) => void

/** Runs attempts for the deliveries of one cell: post the message, plan what follows, hand both to the recorder. */
export function createAttempts(deps: AttemptDeps) {
  const { db, clock, ids, log, metrics } = deps
  const post = createPost(deps)
  const recorder = createRecorder(deps)
  const isQueued = createStatementBatcher(queueStore.areQueued, MOST_ASKED)

  async function returnToQueue(tasks: readonly Task[]): Promise<void> {
    try {
      await queueStore.returnToQueue(db, tasks, clock.now())
    } catch (err) {
      logFailure(
        log,
        'warn',
        { err, count: tasks.length },
        'webhooks could not be returned to the queue; their lease will end',
      )
    }
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

  /** Stores an attempt and plans what follows. */
  function record(task: Task, posted: Posted): void {
    const { claim, payload, probe } = task
    const { outcome, status, startedAt, durationMs } = posted
    const now = clock.now()
    const plan = planNext(posted, { tries: claim.tries + 1, now, purgeAtMs: payload.purgeAtMs, randomFraction })
    recorder.add({
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
    if (plan.state === 'delivered') metrics.deliveries.count('delivered')
    else if (plan.state === 'dead') noteDead(task, plan.reason)
  }

  function send(task: Task, ready: Ready, done: Done): void {
    post.send(task.claim, task.payload, ready, (posted) => {
      let failure: unknown
      try {
        record(task, posted)
      } catch (error) {
        failure = error
      }
      done(failure)
    })
  }

  /** Whatever needs more than sending: a look into the database first, a key to be opened, an end without an attempt. */
  async function runSlowly(task: Task, isFresh: boolean, prepared?: Prepared | Promise<Prepared>): Promise<void> {
    const { claim, payload } = task
    if (!isFresh && !(await isQueued(db, claim))) return
    const once = claim.hasOnce ? await queueStore.onceOf(db, claim) : undefined
    // Another worker has delivered it or marked it dead since: there is nothing left to send.
    if (claim.hasOnce && !once) return
    const found = await (prepared ?? post.prepare(claim, payload, clock.now()))
    if ('impossible' in found) {
      await queueStore.markDead(db, claim, found.impossible, clock.now())
      return noteDead(task, found.impossible)
    }
    if ('outcome' in found) return record(task, found)
    const ready = once ? await post.withOnce(found, claim, once) : found
    await new Promise<void>((resolve, reject) => send(task, ready, (error) => (error ? reject(error) : resolve())))
  }

  /** Sends at once if nothing else is to be done first; otherwise returns what is to be awaited. */
  function begin(task: Task, done: Done): Promise<void> | undefined {
    const { claim, payload, leaseUntil, takenMs } = task
    const now = clock.now()
    // It waited in its lane for too long: the lease could end during the attempt, and another worker would send it too.
    if (leaseUntil.getTime() - now.getTime() < WEBHOOK_LIMITS.timeoutMs + RECORD_MS) return returnToQueue([task])
    const isFresh = clock.monotonicMs() - takenMs < STILL_FRESH_MS
    if (!isFresh || claim.hasOnce) return runSlowly(task, isFresh)
    const prepared = post.prepare(claim, payload, now)
    if (!('call' in prepared)) return runSlowly(task, isFresh, prepared)
    send(task, prepared, done)
    return undefined
  }

  /** Calls `done` once, later. Most attempts need no promise, which would cost more than the rest of their bookkeeping. */
  function runAttempt(task: Task, done: Done): void {
    let work: Promise<void> | undefined
    try {
      work = begin(task, done)
    } catch (error) {
      work = Promise.reject(error)
    }
    work?.then(() => done(), done)
  }

  return { runAttempt, returnToQueue, backlog: recorder.backlog, drain: recorder.drain, giveUp: recorder.giveUp }
}
export type Attempts = ReturnType<typeof createAttempts>
