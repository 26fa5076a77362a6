import { SESSION_LIMITS, type TenantSettings } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { isFinal, type RunningSession, type Session, type Step } from '../sessions/index.ts'

type Allowed = Pick<TenantSettings, 'userMayExtend' | 'sessionSecondsMax'>

/**
 * The new end of a session whose user asks for more time, once; undefined when the session can get no more. No session lives longer than the tenant
 * allows a host to ask for.
 */
export function extendedEnd(
  { state, createdAt, expiresAt, progress }: Pick<Session, 'state' | 'createdAt' | 'expiresAt' | 'progress'>,
  { userMayExtend, sessionSecondsMax }: Allowed,
): Date | undefined {
  if (!userMayExtend || isFinal(state) || progress?.extended) return undefined
  const longest = createdAt.getTime() + 1000 * Math.min(sessionSecondsMax, SESSION_LIMITS.lifetimeSecondsMax)
  const end = Math.min(expiresAt.getTime() + SESSION_LIMITS.extensionSeconds * 1000, longest)
  return end > expiresAt.getTime() ? new Date(end) : undefined
}

/** A step under way keeps the time that it has beyond the old end. */
export function extend(session: RunningSession, allowed: Allowed): Step {
  const { state, progress, dueAt } = session
  // The reply was lost, and the device asks again: it has its time already.
  if (progress.extended) return { state, progress }
  const expiresAt = extendedEnd(session, allowed)
  if (!expiresAt) throw new AppError('conflict', 'SESSION_NOT_OPEN', 'The time of this session cannot be extended')
  return {
    state,
    progress: { ...progress, extended: true },
    expiresAt,
    dueAt: new Date(Math.max(dueAt.getTime(), expiresAt.getTime())),
  }
}
