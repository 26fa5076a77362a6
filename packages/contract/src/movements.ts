/* The launch page imports these values, so this file must not import the validator. */

export const MOVEMENTS = ['turn_left', 'turn_right', 'look_up', 'blink', 'closer'] as const
export type Movement = (typeof MOVEMENTS)[number]

/** What a person can be unable to do. Both turns are one kind: who cannot turn to one side gets other movements. */
export const MOVEMENT_KINDS = ['turn', 'up', 'blink', 'closer'] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]
export const KIND_OF: Readonly<Record<Movement, MovementKind>> = {
  turn_left: 'turn',
  turn_right: 'turn',
  look_up: 'up',
  blink: 'blink',
  closer: 'closer',
}
/** A challenge needs at least so many kinds. */
export const MOVEMENT_KINDS_MIN = 2
