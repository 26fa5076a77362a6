/**
 * The areas of the product by name, with the letters of the interface specification. Code uses the names. The letters appear in
 * the OpenAPI document, in the configuration and in stored rows, where they are part of primary keys.
 */
export const AREA_LETTERS = { strings: 'A', sanctions: 'B', age: 'C', verification: 'D', biometrics: 'E' } as const

export type AreaName = keyof typeof AREA_LETTERS
/** `-` marks routes that belong to no area (health of a process, the reference). */
export type AreaLetter = (typeof AREA_LETTERS)[AreaName] | '-'

/** The areas whose calls are sessions: a person opens a page, and a webhook reports the end. */
export type SessionArea = Extract<AreaName, 'age' | 'verification'>
