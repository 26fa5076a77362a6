import { readCompany } from '../names/company.ts'
import { RULES, type Rules } from './name-score.ts'
import { scoreNames } from './pair.ts'

/** Companies differ by one word ("Gas" for "Oil"), and one word may be the whole name. */
const COMPANY_RULES: Rules = {
  ...RULES,
  extraQuery: 0.5,
  extraListed: 0.5,
  conflict: 0.68,
  oneWordMost: 1,
  initialMost: 1,
  reordered: 0.97,
  fatherAndSon: 1,
}

/** Two names of companies, before calibration. Lists of people are screened for people; this is for whoever compares both. */
export function scoreCompanies(query: string, listed: string): number {
  return scoreNames(readCompany(query), readCompany(listed), COMPANY_RULES)
}
