import { type CaptureFrame, LAUNCH_LIMITS } from '@ostiary/contract'
import { type Finding, INCONCLUSIVE, injected } from './finding.ts'
import { CAPTURE_RULES } from './rules.ts'

type Frames = readonly CaptureFrame[]

/** Whether the frames were taken when the challenge asked for them, one each. */
export function checkFrameTimes(frames: Frames, sampleAtMs: readonly number[]): Finding[] {
  const ordered = frames.every(({ t }, index) => t > (frames[index - 1]?.t ?? -1))
  // A page of ours sends frames in order and drops late ones: others are of another challenge, or of none.
  if (!ordered || !haveOwnSamples(frames, sampleAtMs)) return [injected('BH_CHALLENGE_MISMATCH')]
  const findings: Finding[] = []
  if (isRegular(frames, sampleAtMs)) findings.push({ flag: 'BH_FPS_SYNTHETIC' })
  const least = Math.max(LAUNCH_LIMITS.framesMin, sampleAtMs.length * (1 - CAPTURE_RULES.missingShareMax))
  if (frames.length < least) findings.push(INCONCLUSIVE)
  return findings
}

/** Whether each frame can be given a sample time of its own. Taking the earliest that is near enough leaves most to the rest. */
function haveOwnSamples(frames: Frames, sampleAtMs: readonly number[]): boolean {
  let next = 0
  for (const { t } of frames) {
    while (t - (sampleAtMs[next] ?? t) > CAPTURE_RULES.frameLateMsMax) next++
    const due = sampleAtMs[next]
    if (due === undefined || !isNear(t - due)) return false
    next++
  }
  return true
}

function isNear(delayMs: number): boolean {
  return delayMs >= -CAPTURE_RULES.frameEarlyMsMax && delayMs <= CAPTURE_RULES.frameLateMsMax
}

/** Cameras deliver when they please: the same delay to the millisecond in every frame is a program's. */
function isRegular(frames: Frames, sampleAtMs: readonly number[]): boolean {
  if (frames.length < LAUNCH_LIMITS.framesMin) return false
  const first = frames[0]?.t ?? 0
  const samples = new Set(sampleAtMs)
  // Which sample the first frame belongs to is not certain, so every delay that it can have is tried on the rest.
  return sampleAtMs
    .map((sample) => first - sample)
    .filter(isNear)
    .some((delay) => frames.every(({ t }) => samples.has(t - delay)))
}

/**
 * One picture twice: by its digest, or by measurements that agree to the last digit. Of a calm face in good light two pictures
 * may agree by chance (two in 1,770 pairs did), so once costs a try; it does not happen twice in one capture.
 */
export function checkRepeats(frames: Frames): Finding[] {
  const pictures = new Set(frames.map(({ digest }) => digest))
  const measured = new Set(
    frames.map(({ yaw, pitch, roll, eyes, size, quality }) => [yaw, pitch, roll, eyes, size, quality].join()),
  )
  if (pictures.size < frames.length) return [injected('BH_FRAMES_REPEAT')]
  const alike = frames.length - measured.size
  // Of a still that is held before the camera the measurements may agree: it is found as a still.
  if (alike === 0 || isStill(frames)) return []
  return [alike > CAPTURE_RULES.alikeFramesMax ? injected('BH_FRAMES_REPEAT') : INCONCLUSIVE]
}

/** A still: nothing moves, neither when a movement is asked for nor between. */
export function checkStillness(frames: Frames): Finding[] {
  return isStill(frames) ? [{ flag: 'BH_FRAMES_STATIC', failure: 'SPOOF' }] : []
}

function isStill(frames: Frames): boolean {
  const { still } = CAPTURE_RULES
  const range = (values: number[]) => Math.max(...values) - Math.min(...values)
  return (
    range(frames.map(({ yaw }) => yaw)) < still.yaw &&
    range(frames.map(({ pitch }) => pitch)) < still.pitch &&
    range(frames.map(({ eyes }) => eyes)) < still.eyes &&
    range(frames.map(({ size }) => size)) < still.size
  )
}
