import type { CaptureView } from '../capture/capture-types.ts'
import type { Tones } from './tone.ts'

/** What a tone tells during the movements: make it now, it was seen, all are done. */
export type Cue = 'now' | 'seen' | 'done'

/** One tone calls, two rising ones confirm, three rising ones end: they differ without an ear for pitch. */
export const CUES: Readonly<Record<Cue, readonly number[]>> = {
  now: [880],
  seen: [660, 990],
  done: [523, 659, 784],
}
const TONE_SECONDS = 0.12
const NEXT_SECONDS = 0.14

export function playCue(cue: Cue, tones: Tones): void {
  CUES[cue].forEach((frequencyHz, index) => {
    tones.play(frequencyHz, TONE_SECONDS, index * NEXT_SECONDS)
  })
}

type Shown = Pick<CaptureView, 'phase' | 'movement' | 'movementsSeen'> | null

/** The tone that belongs to a change of the capture screen. The next movement matters more than that the last one was seen. */
export function cueBetween(before: Shown, now: Shown): Cue | null {
  if (!now) return null
  if (now.phase === 'measure') return before?.phase === 'measure' ? null : 'done'
  if (now.movement !== null && now.movement !== before?.movement) return 'now'
  return now.movementsSeen > (before?.movementsSeen ?? 0) ? 'seen' : null
}
