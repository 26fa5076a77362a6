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
    timestamp: pino.stdTimeFunctions.isoTime,
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
  return pino(options, stream ?? createLogOutput())
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
