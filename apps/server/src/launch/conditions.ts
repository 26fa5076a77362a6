import { CaptureConditions, type CapturePayload, CONDITION_LIMITS } from '@ostiary/contract'
import { Compile } from 'typebox/compile'

const conditions = Compile(CaptureConditions)
const { step } = CONDITION_LIMITS.motion
const toStep = (value: number) => Math.round(value / step) * step

/**
 * Light, movement and camera of a capture; null when the device sent none. Claims of the device, for the record only: nothing is decided by
 * them. Undefined when they are not what the contract says.
 */
export function readConditions({ metadata }: Pick<CapturePayload, 'metadata'>): CaptureConditions | null | undefined {
  const sent = metadata?.captureConditions
  if (sent === undefined) return null
  if (!conditions.Check(sent)) return undefined
  // The check of steps has a tolerance, in which a device could hide a number.
  return sent.motion === null ? sent : { ...sent, motion: toStep(sent.motion) }
}
