import { DeviceError } from '@ostiary/device'
import type { SessionProblem } from './states.ts'

/**
 * What to do about a failed call: retry later, open the session again (the page had an outdated state), or show the problem to
 * the user.
 */
export type Remedy = 'later' | 'reopen' | SessionProblem

export function remedyFor(error: unknown): Remedy {
  if (!(error instanceof DeviceError)) return 'fault'
  if (PASSING.includes(error.status)) return 'later'
  if (error.code === 'HANDOFF_REFUSED') return 'code_refused'
  if (error.status === 409) return 'reopen'
  return PROBLEM_OF[error.status] ?? 'fault'
}

/** The problem to show. Temporary errors get a name too, for a page that stops waiting. */
export function problemOf(error: unknown): SessionProblem {
  const remedy = remedyFor(error)
  if (remedy === 'later') return error instanceof DeviceError && error.status === 0 ? 'no_network' : 'busy'
  return remedy === 'reopen' ? 'fault' : remedy
}

/** Temporary: no answer, too many calls, a starting service. The same call may succeed in a moment. */
export function isPassing(error: unknown): error is DeviceError {
  return error instanceof DeviceError && PASSING.includes(error.status)
}

const PASSING = [0, 429, 502, 503, 504]
const PROBLEM_OF: Readonly<Record<number, SessionProblem>> = {
  400: 'unknown_link',
  401: 'other_device',
  403: 'other_device',
  404: 'unknown_link',
  410: 'gone',
}
