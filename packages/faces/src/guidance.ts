import { AGEABLE, isAgeable } from './ageable.ts'
import { type Oval, ovalFor } from './oval.ts'
import { gradeSignal } from './quality.ts'
import type { Guidance, Quality, SeenFace, Sighting } from './types.ts'

export interface GuidanceContext {
  oval: Oval
  /** The guidance for the previous picture. Limits move a little in its favour, so that the text does not flicker. */
  was?: Guidance | undefined
  /** How far the face moved since the last picture, by its own width. */
  moved?: number | undefined
}

export interface Guide {
  next(sighting: Sighting, atMs: number): Guidance
}

/** New guidance must hold for this long before it is shown. */
const STEADY_MS = 250
/** Eyes must be shut for longer than a blink. */
const SHUT_STEADY_MS = 600
/** How far beyond the limit a well placed face may go before it gets new guidance. */
const LEAVE = 1.25
/** How far within the limit a face must be before its guidance ends. */
const RETURN = 0.9

/** Chosen so that nearly everybody passes at an eighth of the light. In less, the passive check takes living faces for pictures (docs/accuracy/faces.md). */
export const SIGNAL_MIN = 0.118

/**
 * Follows the pictures of a camera and gives one instruction at a time. Directions are the person's own. It reads the size of
 * every picture: when a phone is rotated, its pictures rotate too.
 */
export function createGuide(camera: { readonly width: number; readonly height: number }): Guide {
  let said: Guidance = 'no_face'
  let pending: { code: Guidance; sinceMs: number } | undefined
  let last: { face: SeenFace; atMs: number } | undefined
  return {
    next(sighting, atMs) {
      const moved = last && sighting.face ? movement(last, { face: sighting.face, atMs }) : undefined
      last = sighting.face ? { face: sighting.face, atMs } : undefined
      const oval = ovalFor(camera.width, camera.height)
      const code = guidanceFor(sighting, { oval, was: said, moved })
      if (code === said) pending = undefined
      else if (pending?.code !== code) pending = { code, sinceMs: atMs }
      if (pending && (said === 'no_face' || atMs - pending.sinceMs >= steadyMs(code))) {
        said = code
        pending = undefined
      }
      return said
    },
  }
}

/** The guidance for one picture: the first problem, in the order in which problems are best corrected. */
export function guidanceFor({ faces, face }: Sighting, context: GuidanceContext): Guidance {
  if (!face || faces === 0) return 'no_face'
  if (faces > 1) return 'one_face_only'
  for (const { code, excess } of wrongs(face, context)) if (excess > allowance(code, context.was)) return code
  return isAgeable(face) && isSurelyGood(face.quality, context.was) ? 'in_oval' : weakest(face.quality)
}

/** A face that is not yet well placed must be a little better than the least, so that the text does not flicker. */
function isSurelyGood({ score }: Quality, was: Guidance | undefined): boolean {
  return was === 'in_oval' || score * RETURN >= AGEABLE.scoreMin
}

/** No single fault, but too many small ones for an age: the gravest of them. */
function weakest({ sharpness, signal, contrast, backlight, frontal, size }: Quality): Guidance {
  const parts: readonly (readonly [Guidance, number])[] = [
    ['blurry', sharpness],
    ['too_dark', gradeSignal(signal)],
    ['backlit', Math.min(contrast, backlight)],
    ['look_straight', frontal],
    ['too_far', size],
  ]
  return parts.reduce((least, part) => (part[1] < least[1] ? part : least))[0]
}

interface Wrong {
  code: Guidance
  /** The deviation as a multiple of its limit: above 1 it is a problem. */
  excess: number
}

function wrongs(face: SeenFace, { oval, moved }: GuidanceContext): Wrong[] {
  const { quality, pose, box, covered } = face
  const width = box.width / (2 * oval.rx)
  const right = (box.x + box.width / 2 - oval.x) / oval.rx
  const down = (box.y + box.height / 2 - oval.y) / oval.ry
  return [
    { code: 'too_dark', excess: SIGNAL_MIN / Math.max(quality.signal, 0.001) },
    { code: 'backlit', excess: (1 - quality.backlight) / 0.6 },
    { code: 'too_bright', excess: quality.brightness / 0.9 },
    { code: 'too_far', excess: 0.55 / Math.max(width, 0.01) },
    { code: 'too_close', excess: width / 1.1 },
    { code: 'eyes_hidden', excess: covered === 'eyes' ? 2 : 0 },
    { code: 'remove_mask', excess: covered === 'mouth' ? 2 : 0 },
    // The picture is not mirrored: its right is the person's left, so they go back to their right.
    { code: 'move_right', excess: right / 0.35 },
    { code: 'move_left', excess: -right / 0.35 },
    { code: 'move_up', excess: down / 0.35 },
    { code: 'move_down', excess: -down / 0.35 },
    { code: 'tilt_right', excess: pose.roll / 15 },
    { code: 'tilt_left', excess: -pose.roll / 15 },
    {
      code: 'look_straight',
      excess: Math.max((Math.abs(pose.yaw) * LEAVE) / AGEABLE.yawMax, Math.abs(pose.pitch) / 22),
    },
    { code: 'eyes_closed', excess: face.eyes < AGEABLE.eyesMin ? 2 : 0 },
    { code: 'blurry', excess: (1 - quality.sharpness) / 0.65 },
    { code: 'hold_still', excess: (moved ?? 0) / 0.5 },
  ]
}

function allowance(code: Guidance, was: Guidance | undefined): number {
  if (was === code) return RETURN
  return was === 'in_oval' ? LEAVE : 1
}

/** Widths of the face per second. */
function movement(before: { face: SeenFace; atMs: number }, now: { face: SeenFace; atMs: number }): number {
  const seconds = Math.max(0.03, (now.atMs - before.atMs) / 1000)
  const [one, other] = [before.face.box, now.face.box]
  const way = Math.hypot(
    one.x + one.width / 2 - other.x - other.width / 2,
    one.y - other.y + (one.height - other.height) / 2,
  )
  return way / other.width / seconds
}

function steadyMs(code: Guidance): number {
  return code === 'eyes_closed' ? SHUT_STEADY_MS : STEADY_MS
}
