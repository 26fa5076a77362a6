/** One entry of a sanctions list, in the one shape every importer produces. */
export interface ListedEntity {
  /** The list's own id, kept as it is. */
  id: string
  /** FollowTheMoney's word for what it is: `Person`, `LegalEntity` (may be a person), `Organization`, `Company` … */
  schema: string
  /** At least one. The first is the name the entry is known by. */
  names: ListedName[]
  births: BirthDate[]
  /** Lower-case ISO 3166 alpha-2 where the list gives a code; otherwise the list's own word. */
  countries: string[]
  /** OpenSanctions topics such as `sanction`, `role.pep`, `crime`. */
  topics: string[]
  /** Programmes or legal bases as the list names them. */
  programs: string[]
  sourceUrl: string | null
  /** The lists the entry is on, where the file covers several. */
  datasets: string[]
}

export interface ListedName {
  text: string
  /** `weak`: an alias the list itself calls weak or low quality. */
  kind: 'name' | 'alias' | 'weak'
}

/**
 * What a list says about a birth date, as a span of days written `YYYYMMDD`. A full date has `from` = `to`; a year spans
 * January to December; "1958 to 1962" spans five years. `circa` marks an estimate.
 */
export interface BirthDate {
  from: number
  to: number
  circa: boolean
}
