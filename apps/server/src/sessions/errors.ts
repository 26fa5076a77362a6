import { AppError } from '../platform/errors.ts'

/** A call came too late: the session has its result already. */
export const sessionEnded = (message = 'The session has ended') => new AppError('conflict', 'SESSION_NOT_OPEN', message)

/** A call that the session's state does not allow. */
export const notAtThisStep = () => sessionEnded('The session is not at this step')

/** The retention has passed, or the host has erased the session. */
export const sessionGone = () => new AppError('gone', 'GONE', 'The session is over and deleted')

export const sessionOpen = (message = 'The session is still open') => new AppError('conflict', 'SESSION_OPEN', message)

/** `by` is what the caller named the session with. */
export const sessionUnknown = (by: 'id' | 'token' = 'id') =>
  new AppError('not_found', 'NOT_FOUND', `There is no session with this ${by}`)
