import { type CaptureFrame, LAUNCH_LIMITS } from '@ostiary/contract'
import { type Finding, INCONCLUSIVE, injected } from './finding.ts'
import { CAPTURE_RULES } from './rules.ts'

type Frames = readonly CaptureFrame[]

/** Whether the frames were taken when the challenge asked for them, one each. */
export function checkFrameTimes(frames: Frames, sampleAtMs: readonly number[]): Finding[] {
  const ordered = frames.every(({ t }, index) => t > (frames[index - 1]?.t ?? -1))
  // Our page sends frames in order and drops late ones. Other frames answer another challenge, or no challenge.
  if (!ordered || !haveOwnSamples(frames, sampleAtMs)) return [injected('BH_CHALLENGE_MISMATCH')]
  const findings: Finding[] = []
  if (isRegular(frames, sampleAtMs)) findings.push({ flag: 'BH_FPS_SYNTHETIC' })
  const least = Math.max(LAUNCH_LIMITS.framesMin, sampleAtMs.length * (1 - CAPTURE_RULES.missingShareMax))
  if (frames.length < least) findings.push(INCONCLUSIVE)
  return findings
}

/**
 * Whether each frame can be given a sample time of its own. Each frame takes the earliest sample that is near enough, which leaves
 * the most samples for the other frames.
 */
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

/** The delays of a camera vary. When every frame has the same delay to the millisecond, a program made them. */
function isRegular(frames: Frames, sampleAtMs: readonly number[]): boolean {
  if (frames.length < LAUNCH_LIMITS.framesMin) return false
  const first = frames[0]?.t ?? 0
  const samples = new Set(sampleAtMs)
  // It is not certain which sample the first frame belongs to, so each of its possible delays is tried on the other frames.
  return sampleAtMs
    .map((sample) => first - sample)
    .filter(isNear)
    .some((delay) => frames.every(({ t }) => samples.has(t - delay)))
}

/**
 * The same picture twice: the same digest, or measurements that agree to the last digit. Two pictures of a calm face in good light
 * can agree by coincidence (two in 1,770 pairs did), so one such pair only costs a try. It does not happen twice in one capture.
 */
export function checkRepeats(frames: Frames): Finding[] {
  const pictures = new Set(frames.map(({ digest }) => digest))
  const measured = new Set(
    frames.map(({ yaw, pitch, roll, eyes, size, quality }) => [yaw, pitch, roll, eyes, size, quality].join()),
  )
  if (pictures.size < frames.length) return [injected('BH_FRAMES_REPEAT')]
  const alike = frames.length - measured.size
  // The measurements of a photograph held before the camera may agree too: `checkStillness` reports it.
  if (alike === 0 || isStill(frames)) return []
  return [alike > CAPTURE_RULES.alikeFramesMax ? injected('BH_FRAMES_REPEAT') : INCONCLUSIVE]
}

/** A still picture: nothing moves, neither when the challenge asks for a movement nor between. */
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
