import type { DocumentFacts, DocumentType } from '@ostiary/contract'
import { DOCUMENT_CHOICES, type DocumentChoice } from './document-types.ts'

/** What a choice can turn out to be. An ID card of a US state has the barcode of a licence. */
const TYPES: Readonly<Record<DocumentChoice, readonly DocumentType[]>> = {
  passport: ['passport'],
  card: ['national_id', 'residence_permit', 'other'],
  licence: ['drivers_license', 'national_id'],
}

/** The choices that can count in this session. */
export function choicesOf({ acceptedTypes }: Pick<DocumentFacts, 'acceptedTypes'>): DocumentChoice[] {
  return DOCUMENT_CHOICES.filter((choice) => TYPES[choice].some((type) => acceptedTypes.includes(type)))
}

/** What a choice loads, as the page says before: a test compares it with the built files. */
export const LOADED_BYTES: Readonly<Record<DocumentChoice, number>> = {
  passport: 100_000,
  card: 100_000,
  licence: 1_100_000,
}

/** Megabytes, formatted for the language. */
export function megabytes(bytes: number, locale: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: 'megabyte',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(bytes / 1_000_000)
}
