import type { CaptureConditions } from '@ostiary/contract'
import { CONDITION_LIMITS } from '@ostiary/contract/limits'
import type { Sample } from '../capture/capture-types.ts'
import type { Sensed } from './browser-apis.ts'

/** What is known about a capture beside the face. */
export interface CaptureFacts {
  /** Mean of the face over all frames, from 0 to 1. */
  brightness: number
  sensed: Sensed
  camera: { width: number; height: number; frameRate: number | null }
}

/** Mean brightness of the face over all samples; null without one. */
export function brightnessOf(samples: readonly Sample[]): number | null {
  const sum = samples.reduce((total, { measured }) => total + measured.face.quality.brightness, 0)
  return samples.length === 0 ? null : sum / samples.length
}

/** The numbers that are sent: within the limits of the contract, and in its coarse steps, so that they recognise no device. */
export function conditionsOf({ brightness, sensed, camera }: CaptureFacts): CaptureConditions {
  const { width, height, frameRate } = camera
  return {
    light: {
      brightness: inSteps(255 * brightness, CONDITION_LIMITS.brightness),
      lux: inStepsOrNull(sensed.lux, CONDITION_LIMITS.lux),
    },
    motion: inStepsOrNull(sensed.motion, CONDITION_LIMITS.motion),
    camera: {
      width: pixels(width),
      height: pixels(height),
      frameRate: inStepsOrNull(frameRate, CONDITION_LIMITS.frameRate),
    },
  }
}

interface Limit {
  max: number
  step: number
}

function inSteps(value: number, { max, step }: Limit): number {
  return Math.min(max, Math.max(0, Math.round(value / step) * step))
}

function inStepsOrNull(value: number | null, limit: Limit): number | null {
  return value === null || !Number.isFinite(value) ? null : inSteps(value, limit)
}

const pixels = (value: number) => Math.min(CONDITION_LIMITS.pixelsMax, Math.max(1, Math.round(value)))
