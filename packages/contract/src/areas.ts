/**
 * The areas of the product by name, with the letters of the interface specification. Code uses the names. The letters appear in
 * the OpenAPI document, in the configuration and in stored rows, where they are part of primary keys.
 */
export const AREA_LETTERS = { strings: 'A', sanctions: 'B', age: 'C', verification: 'D', biometrics: 'E' } as const

export type AreaName = keyof typeof AREA_LETTERS
/** `-` marks routes that belong to no area (health of a process, the reference). */
export type AreaLetter = (typeof AREA_LETTERS)[AreaName] | '-'

/** The areas for people who look at the service for the first time, in the order of the letters. */
export const AREAS: readonly { name: AreaName; does: string; document: string }[] = [
  { name: 'strings', does: 'Stores text records; also the health check.', document: 'docs/api/strings.md' },
  { name: 'sanctions', does: 'Screens people against sanctions lists.', document: 'docs/api/sanctions.md' },
  { name: 'age', does: 'Estimates an age on the end user’s device.', document: 'docs/api/age.md' },
  {
    name: 'verification',
    does: 'Enrols a face and finds its person again, with a passkey if asked for.',
    document: 'docs/api/verification.md',
  },
  {
    name: 'biometrics',
    does: 'Enrols, predicts and deletes face feature vectors.',
    document: 'docs/api/biometrics.md',
  },
]

/** The areas whose calls are sessions: a person opens a page, and a webhook reports the end. */
export type SessionArea = Extract<AreaName, 'age' | 'verification'>
