/** What is odd about a row. None of them stops it from being screened. */
export const ROW_WARNINGS = [
  'INVALID_DOB',
  'PARTIAL_DOB',
  'EMPTY_NAME',
  'MISSING_FIELDS',
  'NAME_NOT_COMPARABLE',
  'STALE_EXCEPTION',
] as const
export type RowWarning = (typeof ROW_WARNINGS)[number]

export const NAME_MATCH_KINDS = [
  'exact',
  'spelling',
  'edit',
  'sound',
  'initial',
  'nickname',
  'joined',
  'script',
] as const
export type NameMatchKind = (typeof NAME_MATCH_KINDS)[number]
