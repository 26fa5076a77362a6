import { MOVEMENT_KINDS, MOVEMENT_KINDS_MIN, type MovementKind } from '@ostiary/contract'
import type { ChallengeNeeds } from '@ostiary/device'
import type { View } from './view.ts'

/** Kinds that the user cannot make, with more of them. One that would leave too few to draw from is not added. */
export function withKinds(known: readonly MovementKind[], more: readonly MovementKind[]): readonly MovementKind[] {
  const added = new Set(more.filter((kind) => !known.includes(kind)))
  const room = MOVEMENT_KINDS.length - MOVEMENT_KINDS_MIN - known.length
  return added.size === 0 || room <= 0 ? known : [...known, ...[...added].slice(0, room)]
}

/** What the next challenge has to respect. */
export function needsOf({ cannot, moreTime }: Pick<View, 'cannot' | 'moreTime'>): ChallengeNeeds {
  return { ...(cannot.length > 0 && { cannot }), ...(moreTime && { pace: 'slow' as const }) }
}
