import { DeviceError } from '@ostiary/device'
import type { SessionProblem } from './states.ts'

/**
 * What to do about a call that failed: try again later, ask the server where the session stands (it is not where the page
 * thought), or tell the user what is wrong.
 */
export type Remedy = 'later' | 'reopen' | SessionProblem

export function remedyFor(error: unknown): Remedy {
  if (!(error instanceof DeviceError)) return 'fault'
  if (PASSING.includes(error.status)) return 'later'
  if (error.code === 'HANDOFF_REFUSED') return 'code_refused'
  if (error.status === 409) return 'reopen'
  return PROBLEM_OF[error.status] ?? 'fault'
}

/** For a page that waits no longer: what is passing gets a name too. */
export function problemOf(error: unknown): SessionProblem {
  const remedy = remedyFor(error)
  if (remedy === 'later') return error instanceof DeviceError && error.status === 0 ? 'no_network' : 'busy'
  return remedy === 'reopen' ? 'fault' : remedy
}

/** No answer, too many calls, a service that is just starting: the same call may go well in a moment. */
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
