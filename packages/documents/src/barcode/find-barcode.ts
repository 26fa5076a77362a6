import type { Picture } from '../types.ts'
import { isAamva } from './aamva.ts'
import { BARCODE_TURNS, turnPicture } from './turns.ts'

/** Decodes one PDF417 barcode. Undefined when it sees none. */
export type BarcodeDecoder = (picture: Picture) => Promise<string | undefined>

export interface FoundBarcode {
  text: string
  /** By how many degrees the picture was turned. A caller with more frames tries this turn first. */
  turnDegrees: number
}

/**
 * Turns the picture until the decoder reads the barcode of a card in it. At a wrong turn the decoder may read nonsense and call it
 * valid (3 of 1,160 drawn pictures; none began like a card), so another text is passed over. A caller should still
 * want the same text from two pictures.
 */
export async function findBarcode(
  picture: Picture,
  decode: BarcodeDecoder,
  turns: readonly number[] = BARCODE_TURNS,
): Promise<FoundBarcode | undefined> {
  for (const turnDegrees of turns) {
    const text = await decode(turnDegrees === 0 ? picture : turnPicture(picture, turnDegrees))
    if (text !== undefined && isAamva(text)) return { text, turnDegrees }
  }
  return undefined
}
