import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { AppError } from './errors.ts'
import { createLogOutput } from './log-output.ts'

export type Log = Logger

/**
 * Every field a log line may have. All other fields are dropped. None of these may hold a body, a header,
 * a name, a date of birth, a picture, a vector, a token or a key.
 */
const ALLOWED = new Set([
  'operation',
  'status',
  'code',
  'detail',
  'durationMs',
  'requestId',
  'correlationId',
  'sessionId',
  'deliveryId',
  'tenantId',
  'keyId',
  'livemode',
  'job',
  'cell',
  'count',
  'phase',
  'signal',
  'port',
  'host',
  'version',
  'migration',
  'statement',
  'errorType',
  'errorCode',
  'errorAt',
])

export function createLog(level: string, stream?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${isoNow()}"`,
    formatters: { level: (label: string) => ({ level: label }), log: allowListed },
    hooks: {
      // pino would use the message of a bare error as the line's text, and messages of library errors may quote user data.
      logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn) {
        const [first, second] = args as readonly unknown[]
        if (first instanceof Error) method.call(this, { err: first }, typeof second === 'string' ? second : 'error')
        else method.apply(this, args)
      },
    },
  }
  const output = stream ?? createLogOutput()
  const log = pino(options, output)
  outputs.set(log, output)
  return log
}

const outputs = new WeakMap<Log, DestinationStream>()

/** The log line of a request. */
export interface RequestLine {
  requestId: string
  operation: string
  status: number
  code: string | undefined
  durationMs: number
  tenantId: string | undefined
  keyId: string | undefined
  correlationId: string | undefined
}

/**
 * Writes the line of a request without pino, which costs ten times as much for the same text. Every text in it
 * is ours or was checked to be plain, so nothing needs escaping.
 */
export function logRequest(log: Log, line: RequestLine): void {
  if (!log.isLevelEnabled('info')) return
  const code = line.code === undefined ? '' : `,"code":"${line.code}"`
  const tenant = line.tenantId === undefined ? '' : `,"tenantId":"${line.tenantId}"`
  const key = line.keyId === undefined ? '' : `,"keyId":"${line.keyId}"`
  const correlation = line.correlationId === undefined ? '' : `,"correlationId":"${line.correlationId}"`
  outputs
    .get(log)
    ?.write(
      `{"level":"info","time":"${isoNow()}","requestId":"${line.requestId}","operation":"${line.operation}",` +
        `"status":${line.status}${code},"durationMs":${line.durationMs}${tenant}${key}${correlation},"msg":"request"}\n`,
    )
}

let lastMs = 0
let lastIso = ''

/** The time as text, formatted once per millisecond: under load several lines share it. */
function isoNow(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastIso = new Date(nowMs).toISOString()
  }
  return lastIso
}

function allowListed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const key in fields) {
    const value = fields[key]
    if (value === undefined) continue
    if (ALLOWED.has(key)) kept[key] = value
    else if (key === 'err') Object.assign(kept, describeError(value))
  }
  return kept
}

/** An error without its text: type, code and the places in our code. A text may quote what someone sent. */
export function describeError(error: unknown): Record<string, unknown> {
  if (typeof error !== 'object' || error === null) return { errorType: typeof error }
  const { name, code, cause: because, stack, message, statement } = error as Record<string, unknown>
  const cause = because === undefined ? undefined : describeError(because)
  const type = error instanceof Error ? error.name : typeof name === 'string' && /^\w+$/.test(name) ? name : 'object'
  return {
    errorType: cause ? `${type} < ${cause.errorType}` : type,
    ...(typeof code === 'string' && { errorCode: cause?.errorCode ? `${code} < ${cause.errorCode}` : code }),
    ...(error instanceof AppError && error.extra.detail !== undefined && { detail: error.extra.detail }),
    ...pickText('statement', statement ?? cause?.statement),
    errorAt: cause && because instanceof Error ? cause.errorAt : framesOf(stack, message),
  }
}

function pickText(name: string, value: unknown): Record<string, unknown> {
  return typeof value === 'string' ? { [name]: value } : {}
}

/** The code locations of a stack. The error's message comes before them and may look like them, so it is cut off first. */
function framesOf(stack: unknown, message: unknown): string[] {
  if (typeof stack !== 'string') return []
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) + message.length : 0
  return stack
    .slice(start)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 6)
    .map((line) => line.trim().replace(/(?:file:\/\/)?\/\S*?\/(apps|packages|node_modules)\//, '$1/'))
}
