/** A field of a person without what does not make another person: capitals, spaces, and how accents are encoded. */
export function plainText(field: string): string {
  return field.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()
}
