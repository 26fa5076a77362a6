/** W3C Trace Context, https://www.w3.org/TR/trace-context/. Of `traceparent` alone: `tracestate` may hold anything. */
export interface TraceContext {
  traceId: string
  spanId: string
  isSampled: boolean
  /** As version 00 writes it. */
  traceparent: string
}

// A later version may have more behind the flags.
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const CHARS_MAX = 128

export function readTraceparent(header: string | readonly string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string' || header.length > CHARS_MAX) return undefined
  const [, traceId, spanId, flags, more] = FORM.exec(header) ?? []
  if (!traceId || !spanId || !flags || (more !== undefined && header.startsWith('00'))) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, traceparent: `00-${traceId}-${spanId}-0${isSampled ? 1 : 0}` }
}
