/** Spans, sent to an OpenTelemetry collector by the official SDK. The server loads this package by its name (platform/tracing.ts). */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

export interface TracingOptions {
  /** The collector, as in `http://collector:4318`. */
  url: string
  serviceName: string
  version: string
  /** The share of traces that begin here and are sent, from 0 to 1. What a caller has decided holds for its trace. */
  ratio: number
}

export interface SpanStart {
  name: string
  kind: 'server' | 'client' | 'internal'
  /** The span that this one belongs to. */
  parent?: { traceId: string; spanId: string; isSampled: boolean } | undefined
}

export interface SpanEnd {
  /** Where it is known only at the end. */
  name?: string
  attributes: Readonly<Record<string, string | number | boolean | undefined>>
  isError: boolean
}

/** A collector that hangs must not hold up the end of a process. */
const PATIENCE_MS = 2_000

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

export function startTracing({ url, serviceName, version, ratio }: TracingOptions) {
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, timeoutMillis: PATIENCE_MS })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: PATIENCE_MS })],
  })
  const tracer = provider.getTracer('ostiary')
  return {
    start({ name, kind, parent }: SpanStart) {
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, {
            traceId: parent.traceId,
            spanId: parent.spanId,
            traceFlags: parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
            isRemote: true,
          })
        : ROOT_CONTEXT
      const span = tracer.startSpan(name, { kind: KINDS[kind] }, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        /** For what the work sends. */
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
        end({ name: last, attributes, isError }: SpanEnd) {
          if (last) span.updateName(last)
          span.setAttributes(attributes)
          if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    /** Sends what waits. A collector that is away does not hold up the end of the process. */
    stop: () => provider.shutdown().catch(() => undefined),
  }
}
