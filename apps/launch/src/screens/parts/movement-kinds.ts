import { MOVEMENT_KINDS, MOVEMENT_KINDS_MIN, type MovementKind } from '@ostiary/contract'

/** Whether enough kinds of movement stay if this one is left out too. */
export function mayLeaveOut(cannot: readonly MovementKind[], kind: MovementKind): boolean {
  return MOVEMENT_KINDS.length - new Set([...cannot, kind]).size >= MOVEMENT_KINDS_MIN
}
