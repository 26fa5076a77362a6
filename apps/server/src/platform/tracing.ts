import type { TraceContext } from './traceparent.ts'

/** A piece of work that is timed. */
export interface Span {
  /** For what the work sends. */
  traceparent: string
  end(outcome: {
    name?: string
    attributes: Readonly<Record<string, string | number | boolean | undefined>>
    isError: boolean
  }): void
}

export interface Tracing {
  start(what: { name: string; kind: 'server' | 'client' | 'internal'; parent?: TraceContext | undefined }): Span
  stop(): Promise<void>
}

export interface TracingConfig {
  url: string
  ratio: number
}

interface Telemetry {
  startTracing(options: TracingConfig & { serviceName: string; version: string }): Tracing
}

/**
 * Not a dependency of the server, which is why its name is no literal in an import: OpenTelemetry's packages are 20 MB, and most
 * installations have none.
 */
const PACKAGE = '@ostiary/telemetry'

/** Loads OpenTelemetry where it is switched on. */
export async function loadTracing(
  config: TracingConfig | null,
  about: { serviceName: string; version: string },
  packageName = PACKAGE,
): Promise<Tracing | undefined> {
  if (!config) return undefined
  const telemetry = (await import(packageName).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(
      `TELEMETRY_URL is set and OpenTelemetry is not installed. Install it (npm ci --omit=dev --workspace=packages/telemetry beside the others), or remove the setting`,
    )
  })) as Telemetry
  return telemetry.startTracing({ ...config, ...about })
}
