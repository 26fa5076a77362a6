import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import { createRequestSlot } from './request-slot.ts'
import { readTraceparent } from './traceparent.ts'
import type { Span, Tracing } from './tracing.ts'

/** What becomes known of a request while it is handled, for its log line and for what it sends. */
export interface RequestFacts {
  sessionId?: string
  /** As the caller sent it, if it is well-formed; with OpenTelemetry, that of the request's own span. */
  traceparent?: string | undefined
  traceId?: string | undefined
  span?: Span | undefined
}

const running = new AsyncLocalStorage<RequestFacts>()
const slot = createRequestSlot<RequestFacts>('facts')

export const factsOf = slot.get

/** At the beginning of a request. */
export function startFacts(request: FastifyRequest, tracing: Tracing | undefined): void {
  const parent = readTraceparent(request.headers.traceparent)
  const span = tracing?.start({ name: 'request', kind: 'server', parent })
  const traceparent = span?.traceparent ?? parent?.traceparent
  slot.set(request, { span, traceparent, traceId: traceparent?.split('-')[1] })
}

/** Runs the handler of a request. The work that it waits for adds to the request's facts. */
export const withFacts = <T>(request: FastifyRequest, handle: () => T): T =>
  running.run(slot.get(request) ?? {}, handle)

/** Says which session the request is about. Its id, never its token: who has the token may read the result. */
export function noteSession(sessionId: string): void {
  const facts = running.getStore()
  if (facts) facts.sessionId = sessionId
}

export const traceparentOfRequest = (): string | undefined => running.getStore()?.traceparent
