import type { CameraProblem } from './camera-types.ts'

export interface CameraSituation {
  /** Cameras are for pages that came over https, or from this very machine. */
  secure: boolean
  hasApi: boolean
  /** What the policy of the pages around this one says; undefined where the browser does not tell. */
  policyAllows: boolean | undefined
}

/** Why the browser cannot even be asked; undefined when it can. */
export function problemBefore({ secure, hasApi, policyAllows }: CameraSituation): CameraProblem | undefined {
  if (!secure) return 'insecure_context'
  if (!hasApi) return 'not_found'
  return policyAllows === false ? 'policy_blocked' : undefined
}

/** Names that browsers give, today's and those of some years ago. */
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

/** What the browser's refusal means. One that nobody has heard of is taken for a camera that does not come: trying again may help. */
export function problemOf(error: unknown, situation: CameraSituation): CameraProblem {
  const before = problemBefore(situation)
  if (before) return before
  return (error instanceof Error && BY_NAME[error.name]) || 'in_use'
}

/** Whether it is worth asking again, for any camera whatever it can do. */
export function isTooPicky(error: unknown): boolean {
  return error instanceof Error && BY_NAME[error.name] === 'constraints'
}
