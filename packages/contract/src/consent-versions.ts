/**
 * Versions of the consent text that a page may have shown: one that is still open, or cached, may show an older one. A process
 * refuses a version that it does not know, and during an upgrade a new page also calls processes of the last release (CONSENT_VERSION_BEFORE).
 */
export const CONSENT_VERSIONS = { age: ['1', '2'], verification: ['1', '2', '3', '4', '5'] } as const
/** What the page of this release shows. Area D names light, movement and camera from 2 on; 3 and 5 are its texts where tokens are sent. */
export const CONSENT_VERSION = { age: '2', verification: '4', token: '5' } as const
/**
 * What processes of the last release know. This release changes words and not what is agreed to, so its page may fall back to them when it meets
 * nothing else (apps/launch/src/flow/send-consent.ts). A version that asks for more must not: it is added one release before it is shown.
 */
export const CONSENT_VERSION_BEFORE = { age: '1', verification: '2', token: '3' } as const
export const CONDITIONS_CONSENT: readonly string[] = ['2', '3', '4', '5']
