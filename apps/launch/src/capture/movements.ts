import type { Movement } from '@ostiary/contract'
import type { SeenFace } from '@ostiary/faces'

/** The face at rest: what movements are measured against. */
export interface Rest {
  yaw: number
  pitch: number
  eyes: number
  size: number
}

type Face = Pick<SeenFace, 'pose' | 'eyes' | 'size'>

/**
 * From these values on the page counts a movement as seen. Slightly stricter than the server (12 and 8 degrees, 35 % of the open
 * eyes, 1.15 times the size), so that the server accepts every movement that the page confirmed.
 */
const ENOUGH = { turnDegrees: 14, lookUpDegrees: 10, eyesShut: 0.3, closer: 1.18 } as const

/** The median of the faces seen before the first movement was asked for. For the eyes the widest, because people blink. */
export function restOf(faces: readonly Face[]): Rest | undefined {
  if (faces.length === 0) return undefined
  return {
    yaw: medianOf(faces.map(({ pose }) => pose.yaw)),
    pitch: medianOf(faces.map(({ pose }) => pose.pitch)),
    eyes: Math.max(...faces.map(({ eyes }) => eyes)),
    size: medianOf(faces.map(({ size }) => size)),
  }
}

export function shows(movement: Movement, { pose, eyes, size }: Face, rest: Rest): boolean {
  switch (movement) {
    case 'turn_left':
      return pose.yaw - rest.yaw > ENOUGH.turnDegrees
    case 'turn_right':
      return rest.yaw - pose.yaw > ENOUGH.turnDegrees
    case 'look_up':
      return pose.pitch - rest.pitch > ENOUGH.lookUpDegrees
    case 'blink':
      return eyes < rest.eyes * ENOUGH.eyesShut
    case 'closer':
      return size > rest.size * ENOUGH.closer
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
