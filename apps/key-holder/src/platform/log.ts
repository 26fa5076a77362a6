import { createAllowListedLog, framesOf } from '@ostiary/service-kit/log'
import type { DestinationStream, Logger } from 'pino'

export type Log = Logger

/**
 * Every field a log line may have. All others are dropped. None of these may hold a body, a realm, an account, a token id, a nonce,
 * a score or a key: an operator finds frozen tokens in the database, not in the log.
 */
const ALLOWED = new Set([
  'operation',
  'status',
  'durationMs',
  'requestId',
  'check',
  'attack',
  'job',
  'count',
  'phase',
  'signal',
  'host',
  'port',
  'version',
  'fingerprint',
  'migration',
])

export const createLog = (level: string, stream: DestinationStream = standardOutput()): Log =>
  createAllowListedLog({ level, allowed: ALLOWED, describeError, stream })

/** Lines that may wait for a slow reader. */
const WAITING_MAX_BYTES = 4 * 1024 * 1024

/** When the reader of the log is gone or does not keep up, lines are lost and the service goes on. pino's own output would wait for it. */
function standardOutput(): DestinationStream {
  process.stdout.on('error', () => {})
  return {
    write(line) {
      if (process.stdout.writableLength < WAITING_MAX_BYTES) process.stdout.write(line)
    },
  }
}

/** An error without its text: type, code and the places in our code. A text may quote what someone sent. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { errorType: typeof error }
  const { code } = error as NodeJS.ErrnoException
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined
  return {
    errorType: error.name,
    ...(typeof code === 'string' && { errorCode: code }),
    ...(cause && { errorCause: cause.errorCode ?? cause.errorType }),
    errorAt: framesOf(error.stack, error.message),
  }
}
