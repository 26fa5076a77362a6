import { readCompany } from '../names/company.ts'
import { RULES, type Rules } from './name-score.ts'
import { scoreNames } from './pair.ts'

/** Companies differ by one word ("Gas" for "Oil"), and one word may be the whole name. */
const COMPANY_RULES: Rules = {
  ...RULES,
  extraQuery: 0.5,
  extraListed: 0.5,
  conflict: 0.68,
  oneWordMax: 1,
  initialMax: 1,
  reordered: 0.97,
  swappedFatherAndSon: 1,
}

/** Scores two company names, before calibration. Screening compares people only; the accuracy measure also compares companies. */
export function scoreCompanies(query: string, listed: string): number {
  return scoreNames(readCompany(query), readCompany(listed), COMPANY_RULES)
}
