import type { CameraProblem } from './camera-types.ts'

export interface CameraSituation {
  /** Browsers open cameras only for pages from https or from localhost. */
  secure: boolean
  hasApi: boolean
  /** Whether the permissions policy of the embedding pages allows the camera; undefined if the browser does not say. */
  policyAllows: boolean | undefined
}

/** Why the page cannot ask for a camera at all; undefined if it can. */
export function problemBefore({ secure, hasApi, policyAllows }: CameraSituation): CameraProblem | undefined {
  if (!secure) return 'insecure_context'
  if (!hasApi) return 'not_found'
  return policyAllows === false ? 'policy_blocked' : undefined
}

/** Error names of current browsers and of some older ones. */
const BY_NAME: Readonly<Record<string, CameraProblem>> = {
  NotAllowedError: 'permission_denied',
  PermissionDeniedError: 'permission_denied',
  SecurityError: 'permission_denied',
  NotFoundError: 'not_found',
  DevicesNotFoundError: 'not_found',
  NotReadableError: 'in_use',
  TrackStartError: 'in_use',
  AbortError: 'in_use',
  OverconstrainedError: 'constraints',
  ConstraintNotSatisfiedError: 'constraints',
  TypeError: 'constraints',
}

/** Maps a browser's error to a reason. An unknown error counts as `in_use`: another try may help. */
export function problemOf(error: unknown, situation: CameraSituation): CameraProblem {
  const before = problemBefore(situation)
  if (before) return before
  return (error instanceof Error && BY_NAME[error.name]) || 'in_use'
}

/** Whether to ask again without constraints. */
export function isTooPicky(error: unknown): boolean {
  return error instanceof Error && BY_NAME[error.name] === 'constraints'
}
