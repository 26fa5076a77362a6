import { createAllowListedLog, framesOf } from '@ostiary/service-kit/log'
import type { DestinationStream, Logger } from 'pino'
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
  'traceId',
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

export const createLog = (level: string, stream: DestinationStream = createLogOutput()): Log =>
  createAllowListedLog({ level, allowed: ALLOWED, describeError, stream })

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
