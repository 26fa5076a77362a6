import { ALIGNED } from './embed.ts'
import { distanceBetween, fitSimilarity, fivePointsOf } from './geometry.ts'
import type { Box, Picture, Pose, Quality } from './types.ts'
import { toGrey, warp } from './warp.ts'

export interface QualityInput {
  picture: Picture
  mesh: Float32Array
  /** The aligned crop, where it was made before. */
  grey?: Float32Array
  box: Box
  pose: Pose
}

/** The least score for an estimate of age. The server checks that the page keeps to it. */
export const USABLE_SCORE_MIN = 0.35

const SIZE = 112
/** The inner face in the aligned crop: from the brows to the chin, without hair and background. */
const INNER = { left: 26, top: 36, right: 86, bottom: 104 }
/** The reach of all smoothings together; the crop has at least this margin. */
const REACH = 6
/** The step between the pixels of the background that are sampled. */
const BACKGROUND_STEP = 8

/** How good a picture of a face is. `brightness` and `signal` are of the scale from black to white; for the rest 1 is good. */
export function measureQuality({ picture, mesh, box, pose, grey = alignedGrey(picture, mesh) }: QualityInput): Quality {
  const five = fivePointsOf(mesh)
  const { mean, deviation, left, right } = lightOf(grey)
  const brightness = mean / 255
  const signal = signalOf(grey)
  const sharpness = gradeSharpness(detailOf(grey))
  const contrast = gradeContrast(deviation / Math.max(mean, 1), Math.abs(left - right) / Math.max(left + right, 1))
  const backlight = gradeBacklight(backgroundOf(picture, box) / Math.max(mean, 1), signal)
  const frontal = gradeFrontal(pose)
  const size = ramp(distanceBetween(five[0], five[1]), 14, 44)
  const light = gradeSignal(signal) * gradeGlare(brightness) * contrast * backlight
  return {
    score: sharpness * light * frontal * size,
    sharpness,
    brightness,
    signal,
    contrast,
    backlight,
    frontal,
    size,
  }
}

/** The face upright, its eyes, nose and mouth at the same places in every picture. */
export function alignedGrey(picture: Picture, mesh: Float32Array): Float32Array {
  return toGrey(warp(picture, fitSimilarity(fivePointsOf(mesh), ALIGNED), SIZE))
}

/** 0 where an estimate of age is off by years, 1 for most portraits of a studio (docs/accuracy/faces.md). */
export function gradeSharpness(detail: number): number {
  return ramp(detail, 0.975, 1.13)
}

/**
 * Differences within the face, not its mean brightness, which refused dark skin first. This is fairer down to an eighth of the light,
 * but not fair: in less light it still refuses dark skin more often than light skin (docs/accuracy/faces.md).
 */
export function gradeSignal(signal: number): number {
  return ramp(signal, 0.04, 0.16)
}

export function gradeGlare(brightness: number): number {
  return 1 - ramp(brightness, 0.85, 0.97)
}

/** Too flat (fog, a dirty lens), or one half much darker than the other. */
export function gradeContrast(spread: number, difference: number): number {
  return ramp(spread, 0.03, 0.12) * (1 - 0.7 * ramp(difference, 0.25, 0.6))
}

/** A bright background is a fault only where it leaves the face before it without differences. */
export function gradeBacklight(ratio: number, signal: number): number {
  return 1 - ramp(ratio, 1.8, 3.5) * (1 - ramp(signal, 0.14, 0.27))
}

export function gradeFrontal({ yaw, pitch }: Pose): number {
  return (1 - ramp(Math.abs(yaw), 10, 35)) * (1 - ramp(Math.abs(pitch), 14, 40))
}

/** 0 up to `from`, 1 from `to` on, linear between. */
function ramp(value: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)))
}

interface Light {
  mean: number
  deviation: number
  left: number
  right: number
}

function lightOf(grey: Float32Array): Light {
  const { left, top, right, bottom } = INNER
  const middle = (left + right) / 2
  let [sum, squares, sumLeft] = [0, 0, 0]
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const value = grey[y * SIZE + x] ?? 0
      sum += value
      squares += value * value
      if (x < middle) sumLeft += value
    }
  const count = (right - left) * (bottom - top)
  const mean = sum / count
  return {
    mean,
    deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)),
    left: sumLeft / (count / 2),
    right: (sum - sumLeft) / (count / 2),
  }
}

/** From the darkest to the lightest twentieth of the face, smoothed: single pixels may be noise. */
function signalOf(grey: Float32Array): number {
  const quiet = smooth(grey, 1)
  const { left, top, right, bottom } = INNER
  const values = new Float32Array((right - left) * (bottom - top))
  for (let y = top, at = 0; y < bottom; y++, at += right - left)
    values.set(quiet.subarray(y * SIZE + left, y * SIZE + right), at)
  values.sort()
  const at = (share: number) => values[Math.floor(share * (values.length - 1))] ?? 0
  return (at(0.95) - at(0.05)) / 255
}

/**
 * The ratio of fine to coarser detail of the face: a blur removes fine detail first. Each level is what one more smoothing
 * removes. The first level is left out: it is mostly sensor noise, which would count as detail in a blurred picture.
 */
export function detailOf(grey: Float32Array): number {
  const quiet = smooth(grey, 1)
  const coarse = smooth(quiet, 2)
  const coarser = smooth(coarse, 3)
  let [fine, rough] = [0, 0]
  const { left, top, right, bottom } = INNER
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const at = y * SIZE + x
      const middle = coarse[at] ?? 0
      fine += ((quiet[at] ?? 0) - middle) ** 2
      rough += (middle - (coarser[at] ?? 0)) ** 2
    }
  return rough === 0 ? 0 : Math.sqrt(fine / rough)
}

/** Mean over a window of `2 radius + 1` pixels, along and across; only for the inner face and what it needs around. */
function smooth(grey: Float32Array, radius: number): Float32Array {
  return smoothAlong(smoothAlong(grey, radius, 1), radius, SIZE)
}

function smoothAlong(grey: Float32Array, radius: number, step: number): Float32Array {
  const smoothed = new Float32Array(grey.length)
  const reach = radius * step
  for (let y = INNER.top - REACH; y < INNER.bottom + REACH; y++)
    for (let x = INNER.left - REACH; x < INNER.right + REACH; x++) {
      const at = y * SIZE + x
      let sum = 0
      for (let near = at - reach; near <= at + reach; near += step) sum += grey[near] ?? 0
      smoothed[at] = sum / (2 * radius + 1)
    }
  return smoothed
}

/** How bright the picture is beside the face. */
function backgroundOf({ width, height, data }: Picture, box: Box): number {
  // Hair and neck belong to the person: left out.
  const [left, right] = [box.x - box.width * 0.3, box.x + box.width * 1.3]
  const top = box.y - box.height * 0.5
  let [sum, count] = [0, 0]
  for (let y = 0; y < height; y += BACKGROUND_STEP)
    for (let x = 0; x < width; x += BACKGROUND_STEP) {
      if (y > box.y + box.height || (y > top && x > left && x < right)) continue
      const at = (y * width + x) * 4
      sum += 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0)
      count++
    }
  return count === 0 ? 0 : sum / count
}
