import { squareTo } from './geometry.ts'
import type { Box, Measured, Picture, Tensor } from './types.ts'
import { toTensor, warp } from './warp.ts'

export type LivenessSample = Pick<Measured, 'live' | 'sameness' | 'face'>

export interface Liveness {
  /** The score of the passive check over all samples, 0 to 1. */
  live: number
  /** Nothing moved: the camera shows a photograph. */
  still: boolean
  /** The lowest similarity of a sample with the first one; 1 when there is only one. */
  samenessMin: number
}

const SIZE = 128
/** The crop is this much larger than the tight box of the face, so that the edge of a paper or a screen is visible. */
const MARGIN = 1.5

/**
 * Standard deviations over a capture (degrees; shares). One repeated picture gives 0, and a still before a noisy sensor half of
 * these values. A living face sways more, even at rest.
 */
const STILL = { yaw: 0.3, pitch: 0.45, eyes: 0.025, size: 0.0015 }
/** Two samples of one person are at least this similar, even when the head is turned. */
const SAMENESS_MIN = 0.3
/** Samples turned further than this are unreliable: the net was trained on faces that look into the camera. */
const FRONTAL_YAW_MAX = 15

export function passiveInput(picture: Picture, box: Box): Tensor {
  const centre = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const side = MARGIN * Math.max(box.width, box.height)
  return toTensor(warp(picture, squareTo({ centre, side, angle: 0 }, SIZE), SIZE), {
    layout: 'NCHW',
    order: 'BGR',
    mean: [0, 0, 0],
    scale: 1,
  })
}

/** Probability of the first of three classes: live, print, replay. */
export function readPassive(outputs: Readonly<Record<string, Tensor>>): number {
  const [live = 0, ...others] = Object.values(outputs)[0]?.data ?? []
  return 1 / (1 + others.reduce((sum, logit) => sum + Math.exp(logit - live), 0))
}

/** Combines the samples of one capture. A still, or two people, are never live, even if the net says so. */
export function judgeLiveness(samples: readonly LivenessSample[]): Liveness {
  const still = isStill(samples)
  const samenessMin = Math.min(1, ...samples.map(({ sameness }) => sameness ?? 1))
  const frontal = samples.filter(({ face }) => Math.abs(face.pose.yaw) <= FRONTAL_YAW_MAX)
  const passive = medianOf((frontal.length > 0 ? frontal : samples).map(({ live }) => live))
  return { live: still || samenessMin < SAMENESS_MIN ? 0 : passive, still, samenessMin }
}

/** Needs at least three samples; fewer may be equal by coincidence. */
export function isStill(samples: readonly Pick<LivenessSample, 'face'>[]): boolean {
  if (samples.length < 3) return false
  const faces = samples.map(({ face }) => face)
  return (
    deviationOf(faces.map(({ pose }) => pose.yaw)) < STILL.yaw &&
    deviationOf(faces.map(({ pose }) => pose.pitch)) < STILL.pitch &&
    deviationOf(faces.map(({ eyes }) => eyes)) < STILL.eyes &&
    deviationOf(faces.map(({ size }) => size)) < STILL.size
  )
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
