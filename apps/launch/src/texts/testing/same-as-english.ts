/** Words that some languages share with English: these texts may be the same. `documents/` is the folder of the document step. */
const SHARED: readonly string[] = [
  'viewer.passkey',
  'ledger.address',
  'ledger.page',
  'documents/camera.choose',
  'documents/camera.number',
  'documents/value.age.below',
  'documents/value.format.barcode',
  'documents/value.type',
  'documents/value.type.visa',
  'documents/review.send',
]

/** The keys whose text is the English one, beyond those. */
export function leftInEnglish(
  texts: Readonly<Record<string, unknown>>,
  english: Readonly<Record<string, unknown>>,
  folder = '',
): string[] {
  const isSame = (key: string) => JSON.stringify(texts[key]) === JSON.stringify(english[key])
  return Object.keys(texts).filter((key) => isSame(key) && !SHARED.includes(folder + key))
}
