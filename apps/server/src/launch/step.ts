import { DEVICE_REPORTABLE, LAUNCH_LIMITS, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import type { EndingWish } from '../age/index.ts'
import type { AppError } from '../platform/errors.ts'
import { invalid } from '../platform/errors.ts'
import { canHappen, nextState, type Progress, type SessionState } from '../sessions/index.ts'
import type { AgeSession, Role } from './call.ts'

/** What a call leads to: the next state, what is known then, and perhaps the end or a refusal. */
export interface Step {
  state: SessionState
  progress: Progress
  dueAt?: Date
  /** Codes for the page: what to tell the user. */
  errors?: readonly number[]
  end?: EndingWish
  /** What the caller is from now on, when the call changed that. */
  role?: Role
  /** The call is refused, and what it taught is kept all the same. */
  refuse?: AppError
}

/** Each code once, with its last reason: however often a device reports, nothing that is known is pushed out. */
export function noted(progress: Progress, name: SessionCodeName, reason?: string): Progress {
  const entry = reason === undefined ? { name } : { name, reason }
  return { ...progress, failures: [...progress.failures.filter((known) => known.name !== name), entry] }
}

/** A try of the face step that failed: another one, or the end when none is left or the code is final. */
export function failTry(session: AgeSession, progress: Progress, name: SessionCodeName): Step {
  const { code, kind } = SESSION_CODES[name]
  const errors = [code]
  const left = { ...progress, challenge: null }
  if (kind === 'F')
    return { state: session.state, progress: left, errors, end: { flow: 'COMPLETED', failures: [name] } }
  if (progress.attempt >= LAUNCH_LIMITS.attempts) {
    return {
      state: session.state,
      progress: left,
      errors,
      end: { flow: 'COMPLETED', failures: [name, 'ATTEMPTS_EXCEEDED'] },
    }
  }
  const state = canHappen(session.state, 'retry') ? nextState(session.state, 'retry') : session.state
  return { state, progress: left, errors }
}

/** What a device says went wrong. It may only make things worse for itself: no code of these gives a verdict. */
export function reportedFailure(
  session: AgeSession,
  progress: Progress,
  code: number,
  reason: string | undefined,
): Step {
  const name = DEVICE_REPORTABLE.find((candidate) => SESSION_CODES[candidate].code === code)
  if (!name) throw invalid('/body/code', 'is not a code that a device reports')
  const known = noted(progress, name, reason)
  if (SESSION_CODES[name].kind === 'D') return { state: session.state, progress: known, errors: [code] }
  if (session.state === 'FACE_ACTIVE') return failTry(session, known, name)
  // Before a challenge: the camera did not even start. That is a try too, or a page could ask for ever.
  nextState(session.state, 'give_up')
  return failTry(session, { ...known, attempt: known.attempt + 1 }, name)
}
