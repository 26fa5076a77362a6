/**
 * The identity-document step, as plain values. The launch page imports this file by itself (`@ostiary/contract/documents`), so it must
 * not import the validator.
 */

/** `identityInformation.documentType`, and the types that a tenant may accept. */
export const DOCUMENT_TYPES = ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other'] as const
export type DocumentType = (typeof DOCUMENT_TYPES)[number]

/** What a device may find. A visa is read in order to be refused: it is no proof of identity. */
export const READ_DOCUMENT_TYPES = [...DOCUMENT_TYPES, 'visa'] as const

/** Where the facts were read: six layouts of a machine-readable zone, or the barcode of a North American card. */
export const DOCUMENT_FORMATS = ['TD1', 'TD2', 'TD3', 'MRV_A', 'MRV_B', 'FR_2X36', 'AAMVA'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

/** `grace`: expired, but not longer ago than the tenant allows. `none`: the document has no date of expiry. */
export const DOCUMENT_EXPIRIES = ['valid', 'grace', 'expired', 'none'] as const

/** Check digits of a machine-readable zone. */
export const DOCUMENT_CHECKS = ['number', 'birth', 'expiry', 'optional', 'composite'] as const
export type DocumentCheck = (typeof DOCUMENT_CHECKS)[number]

/** Which check digits a format must have. A barcode has none. */
export const REQUIRED_CHECKS: Readonly<Record<DocumentFormat, readonly DocumentCheck[]>> = {
  TD1: ['number', 'birth', 'expiry', 'composite'],
  TD2: ['number', 'birth', 'expiry', 'composite'],
  TD3: ['number', 'birth', 'expiry', 'composite'],
  MRV_A: ['number', 'birth', 'expiry'],
  MRV_B: ['number', 'birth', 'expiry'],
  FR_2X36: ['number', 'birth', 'composite'],
  AAMVA: [],
}

/** What makes a picture doubtful. Each raises a flag; by default none refuses a document. */
export const DOCUMENT_HINTS = ['screen', 'copy', 'pasted_portrait', 'sides_disagree', 'no_portrait'] as const
export type DocumentHint = (typeof DOCUMENT_HINTS)[number]

/** Version of the texts that a user agrees to in the document step: what is read, and what is sent. */
export const DOCUMENT_CONSENT_VERSION = '1'
export const DOCUMENT_CONSENT_VERSIONS = ['1'] as const

/**
 * The readers that a launch page of ours ships, by the digest of their weights. Facts of any other reader count for nothing. A reader is added here one
 * release before a page ships it.
 */
export const RELEASED_READERS: readonly { id: string; hash: string }[] = [
  { id: 'mrz-1', hash: 'q6tvo1pSc7sGa0viBmthMLdzib-KjmlSZ58ZRQoUrOc' },
]

/** What `ostiary simulate` and tests name as their reader. The server takes it from sessions of test keys only. */
export const SIMULATED_READER = {
  id: 'simulated-reader-1',
  hash: 'AyzSMIsiZbDlq9TDuA805-g-0L-D61SSd1eE58NRFJA',
} as const
