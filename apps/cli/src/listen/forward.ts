import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '@ostiary/contract/version'
import { systemClock } from '@ostiary/device'
import type { StreamEvent } from '@ostiary/sdk'

/** What the receiver said, or why it said nothing. */
export type Answer = { status: number; durationMs: number } | { failure: string; durationMs: number }

/** How forwarding ended: with 2xx, with a stop before that, or because the signatures have become old. */
export type Forwarded = { end: 'accepted' | 'refused'; answer: Answer } | { end: 'stopped' | 'old' }

export interface ForwardOptions {
  target: string
  headers: Readonly<Record<string, string>>
  /** False: an event that is refused is passed over. */
  retries: boolean
  signal: AbortSignal
  /** Called before each further try. */
  onRetry(event: StreamEvent, answer: Answer, inMs: number): void
}

const ANSWER_MS = 10_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 5_000
/** Receivers refuse timestamps of more than five minutes. Before that the event is read again, with new signatures. */
const FRESH_MS = 120_000

export function createForward(options: ForwardOptions) {
  const ageOf = createAges()
  return async (event: StreamEvent): Promise<Forwarded> => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      if (options.signal.aborted) return { end: 'stopped' }
      if (ageOf(event) > FRESH_MS) return { end: 'old' }
      const answer = await post(event, options)
      if ('status' in answer && answer.status >= 200 && answer.status < 300) return { end: 'accepted', answer }
      if (!options.retries) return { end: 'refused', answer }
      options.onRetry(event, answer, waitMs)
      await sleep(waitMs, undefined, { signal: options.signal }).catch(() => {})
    }
  }
}

/** A stop does not interrupt it: an answer that is lost would send the event twice. */
async function post(event: StreamEvent, { target, headers }: ForwardOptions): Promise<Answer> {
  const startedMs = systemClock.monotonicMs()
  const since = () => Math.round(systemClock.monotonicMs() - startedMs)
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'user-agent': `Ostiary/${VERSION}`, ...headers, ...event.headers, 'content-type': 'application/json' },
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    await response.body?.cancel()
    return { status: response.status, durationMs: since() }
  } catch (error) {
    return { failure: failureOf(error), durationMs: since() }
  }
}

/** The operating system's reason stands in the causes. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'TimeoutError') return `no answer in ${ANSWER_MS / 1000} s`
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  if (error instanceof AggregateError && error.errors.length > 0) return failureOf(error.errors[0])
  return error.cause === undefined ? 'no answer' : failureOf(error.cause)
}

/** The clocks of service and machine differ by some constant: the event that looks youngest shows it. */
function createAges(): (event: StreamEvent) => number {
  let leastMs = Number.POSITIVE_INFINITY
  return ({ headers }) => {
    const differenceMs = systemClock.nowMs() - Number(headers['x-service-timestamp']) * 1000
    leastMs = Math.min(leastMs, differenceMs)
    return differenceMs - leastMs
  }
}
