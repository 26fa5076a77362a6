import { type DeadReason, WEBHOOK_LIMITS } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Db } from '../platform/db.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Task } from './lanes.ts'
import type { WebhookMetrics } from './metrics.ts'
import { createPost, type PostDeps, type Posted } from './post.ts'
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

  /** Rejects if nothing was sent and the failure is ours: the lease ends, and a worker tries again. */
  async function runAttempt(task: Task): Promise<void> {
    const { claim, payload, leaseUntil, takenMs } = task
    // It waited in its lane for too long: the lease could end during the attempt, and another worker would send it too.
    if (leaseUntil.getTime() - clock.now().getTime() < WEBHOOK_LIMITS.timeoutMs + RECORD_MS)
      return returnToQueue([task])
    const isFresh = clock.monotonicMs() - takenMs < STILL_FRESH_MS
    if (!isFresh && !(await isQueued(db, claim))) return
    const once = claim.hasOnce ? await queueStore.onceOf(db, claim) : undefined
    // Another worker has delivered it or marked it dead since: there is nothing left to send.
    if (claim.hasOnce && !once) return
    const posted = await post(claim, payload, once)
    if ('outcome' in posted) return record(task, posted)
    await queueStore.markDead(db, claim, posted.impossible, clock.now())
    noteDead(task, posted.impossible)
  }

  return { runAttempt, returnToQueue, backlog: recorder.backlog, drain: recorder.drain, giveUp: recorder.giveUp }
}
export type Attempts = ReturnType<typeof createAttempts>
