import type { DocumentText } from '../types.ts'

/**
 * Whether two texts that should be of one document contradict each other: a zone and a barcode, or two sides of a card. Only what
 * both have is compared. Names are compared by their beginnings, because zones cut them.
 */
export function doSidesDisagree(first: DocumentText, second: DocumentText): boolean {
  return (
    differ(plain(first.number), plain(second.number)) ||
    differ(first.birth, second.birth) ||
    differ(first.expiry, second.expiry) ||
    !beginAlike(plain(first.familyName), plain(second.familyName))
  )
}

function differ(first: string | undefined, second: string | undefined): boolean {
  return first !== undefined && second !== undefined && first !== second
}

function beginAlike(first = '', second = ''): boolean {
  const length = Math.min(first.length, second.length)
  return first.slice(0, length) === second.slice(0, length)
}

/** Letters and digits only: zones and barcodes treat hyphens, spaces and apostrophes differently. */
function plain(text: string | undefined): string | undefined {
  return text?.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}
