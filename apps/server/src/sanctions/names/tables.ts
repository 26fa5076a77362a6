import { ASIAN_SPELLINGS } from './tables/spellings-asian.ts'
import { MUSLIM_SPELLINGS } from './tables/spellings-muslim.ts'
import { OTHER_SPELLINGS } from './tables/spellings-other.ts'
import { SLAVIC_SPELLINGS } from './tables/spellings-slavic.ts'

export { COMPANY_FILLER, COMPANY_FORMS, COUNTRY_SHORT, ORDINALS } from './tables/companies.ts'
export { NICKNAMES } from './tables/nicknames.ts'
export { ABDUL_FORMS, DIN_FORMS, PARTICLES, PATRONYMIC_MARKERS, TITLES, ULLAH_FORMS } from './tables/words.ts'

/** Each entry holds the Latin spellings of one name, separated by spaces; no spelling stands in two entries. */
export const SPELLING_GROUPS: readonly string[] = [
  MUSLIM_SPELLINGS,
  SLAVIC_SPELLINGS,
  OTHER_SPELLINGS,
  ASIAN_SPELLINGS,
].flatMap((part) => part.trim().split('\n'))
