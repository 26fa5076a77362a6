/** Rows that no test proves as written, each with the reason. `npm run spec` prints them; a row that is on no list must be proven. */

/** The capability is not there. No test may carry the id of such a row. */
export const WAITING: Readonly<Record<string, string>> = {}

/** The decision is tested, the capability behind it is missing or narrower than the sentence. A passing test of any kind is needed. */
export const RULE_ONLY: Readonly<Record<string, string>> = {}
