import { type CaptureAssurance, MOVEMENT_KINDS, MOVEMENT_KINDS_MIN, type MovementKind } from '@ostiary/contract'
import type { SimulatedPerson } from '@ostiary/device/simulated'
import { type Invocation, oneOf, text, UsageError } from '../command.ts'

const CANNOT_MAX = MOVEMENT_KINDS.length - MOVEMENT_KINDS_MIN

/** `--cannot turn,up` and `--pace slow`. Undefined: the person needs what everybody gets. */
export function readNeeds(invocation: Invocation): SimulatedPerson['needs'] {
  const cannot = [...new Set(text(invocation, 'cannot')?.split(',').map(readKind))]
  if (cannot.length > CANNOT_MAX) {
    throw new UsageError(`--cannot takes at most ${CANNOT_MAX}: ${MOVEMENT_KINDS_MIN} kinds of movement must be left`)
  }
  const pace = oneOf(invocation, 'pace', ['slow'])
  if (cannot.length === 0 && pace === undefined) return undefined
  return { ...(cannot.length > 0 && { cannot }), ...(pace && { pace }) }
}

function readKind(name: string): MovementKind {
  const kind = MOVEMENT_KINDS.find((known) => known === name.trim())
  if (!kind) throw new UsageError(`--cannot must name kinds of ${MOVEMENT_KINDS.join(', ')}, with commas between`)
  return kind
}

/** The lines about movements that differed from what everybody gets. */
export function describeMovements({ movements, pace }: CaptureAssurance = {}): string[] {
  return [
    ...(movements ? [`  movements  only ${movements.join(', ')}`] : []),
    ...(pace ? [`  pace       ${pace}`] : []),
  ]
}
