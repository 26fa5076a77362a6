import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'

export interface LogOptions {
  level: string
  /** Every field a line may have. All other fields are dropped. */
  allowed: ReadonlySet<string>
  /** An error as fields, without its text: that may quote what someone sent. */
  describeError: (error: unknown) => Record<string, unknown>
  stream: DestinationStream
}

export function createAllowListedLog({ level, allowed, describeError, stream }: LogOptions): Logger {
  function allowListed(fields: Record<string, unknown>): Record<string, unknown> {
    const kept: Record<string, unknown> = {}
    for (const key in fields) {
      const value = fields[key]
      if (value === undefined) continue
      if (allowed.has(key)) kept[key] = value
      else if (key === 'err') Object.assign(kept, describeError(value))
    }
    return kept
  }
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
  return pino(options, stream)
}

/** The code locations of a stack. The error's message comes before them and may look like them, so it is cut off first. */
export function framesOf(stack: unknown, message: unknown): string[] {
  if (typeof stack !== 'string') return []
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) + message.length : 0
  return stack
    .slice(start)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 6)
    .map((line) => line.trim().replace(/(?:file:\/\/)?\/\S*?\/(apps|packages|node_modules)\//, '$1/'))
}
