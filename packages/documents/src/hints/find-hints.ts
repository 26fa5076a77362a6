import type { DocumentText, Picture } from '../types.ts'
import { COLOUR_SPREAD_MIN, colourSpread } from './copy.ts'
import { BORDER_SHARPNESS_MIN, borderSharpness, type PortraitFace } from './pasted.ts'
import { SCREEN_PEAK_MIN, screenPeak } from './screen.ts'
import { doSidesDisagree } from './sides.ts'

/** What makes a picture of a document doubtful. Named as in the contract. A hint is a flag and never refuses a document. */
export type DocumentHint = 'screen' | 'copy' | 'pasted_portrait' | 'sides_disagree' | 'no_portrait'

export interface SeenDocument {
  /** The document alone, cut from a camera's picture, not made smaller: that would remove what the hints look for. */
  picture: Picture
  /** Where the face of its portrait is in the picture; undefined when no face was found on it. */
  portrait: PortraitFace | undefined
  /** Texts that were read from the document: one, or one for each side. */
  texts: readonly DocumentText[]
}

/** The picture is of the side with the portrait. */
export function findHints({ picture, portrait, texts }: SeenDocument): DocumentHint[] {
  const [first, second] = texts
  const hints: readonly (readonly [DocumentHint, boolean])[] = [
    ['screen', (screenPeak(picture) ?? 0) >= SCREEN_PEAK_MIN],
    ['copy', (colourSpread(picture) ?? 1) < COLOUR_SPREAD_MIN],
    ['pasted_portrait', portrait !== undefined && (borderSharpness(picture, portrait) ?? 0) >= BORDER_SHARPNESS_MIN],
    ['sides_disagree', first !== undefined && second !== undefined && doSidesDisagree(first, second)],
    ['no_portrait', portrait === undefined],
  ]
  return hints.flatMap(([hint, isRaised]) => (isRaised ? [hint] : []))
}
