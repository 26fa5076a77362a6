import type { CaptureFrame } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { judgeLiveness, type SeenFace } from '@ostiary/faces'
import type { LoadedModels } from '../engine/engine.ts'
import { CaptureFailure, type FaceCapture, type Sample } from './capture-types.ts'

/** Frames below it give no age (docs/internal/launch.md). In thousandths. */
const AGED_QUALITY_MIN = 350
/** The net gives no age outside this range for a face. In tenths of a year. */
const AGE = { min: 10, max: 1_100 } as const
/**
 * Landmarks of a face that is half outside the picture can be anything. The server rejects an impossible pose as fabricated, so
 * such a frame is left out, like one without a face.
 */
const HEAD = { yawMax: 70, pitchMax: 55, rollMax: 55, sizeMin: 0.09, sizeMax: 0.97 } as const

/** The server wants as many frames with an age (LAUNCH_LIMITS.framesMin). */
const AGED_FRAMES_MIN = 5
/** Of the widest eyes of the capture. */
const SHUT_SHARE = 0.35

/** Limits for pictures that the camera repeats in one capture. */
const STUTTERS_MAX = 2

export interface CaptureFacts {
  models: LoadedModels
  /** If false, no age leaves the device. */
  ages: boolean
}

/** The capture that is sealed for the server: samples in the units of the contract, and the estimate computed as the server does. */
export function assembleCapture(samples: readonly Sample[], { models: { id, hash }, ages }: CaptureFacts): FaceCapture {
  const usable = samples.filter(({ measured }) => isHead(measured.face))
  if (usable.length === 0) throw new CaptureFailure(codes.NO_FACE)
  const frames = withoutBlinks(withoutTwins(withoutStutter(usable.map((sample) => frameOf(sample, ages)))))
  const estimate = estimateOf(frames)
  const isGood = ages ? estimate.frames > 0 : frames.some(({ quality }) => quality >= AGED_QUALITY_MIN)
  if (!isGood) throw new CaptureFailure(codes.QUALITY_LOW)
  const { live } = judgeLiveness(usable.map(({ measured }) => measured))
  return { model: { id, hash }, estimate, live: thousandths(live), frames }
}

export function frameOf({ tMs, measured }: Sample, ages = true): CaptureFrame {
  const { face, ageYears, digest } = measured
  const quality = thousandths(face.quality.score)
  const age = ageYears === undefined ? undefined : Math.round(10 * ageYears)
  const hasAge = ages && age !== undefined && quality >= AGED_QUALITY_MIN && age >= AGE.min && age <= AGE.max
  return {
    t: Math.round(tMs),
    yaw: tenths(face.pose.yaw),
    pitch: tenths(face.pose.pitch),
    roll: tenths(face.pose.roll),
    eyes: thousandths(face.eyes),
    size: thousandths(face.size),
    quality,
    ...(hasAge && { age }),
    digest,
  }
}

/**
 * Cameras and their drivers repeat a picture when the next one is late. A few consecutive repetitions are left out; more are
 * sent, so that the server can recognise a still image or a loop.
 */
function withoutStutter(frames: readonly CaptureFrame[]): readonly CaptureFrame[] {
  const fresh = frames.filter(({ digest }, index) => index === 0 || digest !== frames[index - 1]?.digest)
  return frames.length - fresh.length <= STUTTERS_MAX ? fresh : frames
}

/**
 * Two pictures of a person who does not move may agree in every rounded number and look like one picture sent twice. The second
 * adds nothing, so it is dropped. A picture that the camera really repeated stays, so that the server sees it.
 */
function withoutTwins(frames: readonly CaptureFrame[]): CaptureFrame[] {
  const numbersOf = ({ yaw, pitch, roll, eyes, size, quality }: CaptureFrame) =>
    [yaw, pitch, roll, eyes, size, quality].join()
  return frames.filter(
    (frame, index) =>
      !frames
        .slice(0, index)
        .some((earlier) => numbersOf(earlier) === numbersOf(frame) && earlier.digest !== frame.digest),
  )
}

/**
 * Shut eyes raise an estimate by two years, so frames of a blink lose their age where enough others have one. What a blink is depends
 * on the person: a narrow eye at rest is no blink.
 */
function withoutBlinks(frames: readonly CaptureFrame[]): CaptureFrame[] {
  const widest = Math.max(...frames.map(({ eyes }) => eyes))
  const isOpen = ({ eyes }: CaptureFrame) => eyes >= SHUT_SHARE * widest
  const isEnough = frames.filter((frame) => frame.age !== undefined && isOpen(frame)).length >= AGED_FRAMES_MIN
  return frames.map((frame) => {
    if (!isEnough || isOpen(frame)) return frame
    const { age: _, ...rest } = frame
    return rest
  })
}

/** Mean and deviation of the frames' ages, computed from the rounded numbers because the server has only those. */
export function estimateOf(frames: readonly CaptureFrame[]): FaceCapture['estimate'] {
  const ages = frames.flatMap(({ age }) => (age === undefined ? [] : [age]))
  if (ages.length === 0) return { age: 0, spread: 0, frames: 0 }
  const mean = meanOf(ages)
  const spread = Math.sqrt(meanOf(ages.map((age) => (age - mean) ** 2)))
  return { age: Math.round(mean), spread: Math.round(spread), frames: ages.length }
}

function isHead({ pose, size }: SeenFace): boolean {
  return (
    Math.abs(pose.yaw) <= HEAD.yawMax &&
    Math.abs(pose.pitch) <= HEAD.pitchMax &&
    Math.abs(pose.roll) <= HEAD.rollMax &&
    size >= HEAD.sizeMin &&
    size <= HEAD.sizeMax
  )
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Turns -0 into 0, because JSON has no -0. */
function tenths(value: number): number {
  return Math.round(10 * value) + 0
}

function thousandths(share: number): number {
  return Math.round(1000 * Math.max(0, Math.min(1, share))) + 0
}
