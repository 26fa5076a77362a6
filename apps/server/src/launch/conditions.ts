import { CaptureConditions, type CapturePayload } from '@ostiary/contract'
import { Compile } from 'typebox/compile'

const conditions = Compile(CaptureConditions)

/**
 * Light, movement and camera of a capture; null when the device sent none. Claims of the device, for the record only: nothing is decided by
 * them. Undefined when they are not what the contract says.
 */
export function readConditions({ metadata }: Pick<CapturePayload, 'metadata'>): CaptureConditions | null | undefined {
  const sent = metadata?.captureConditions
  if (sent === undefined) return null
  return conditions.Check(sent) ? sent : undefined
}
