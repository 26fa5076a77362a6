import type { RowResult } from '@ostiary/contract'
import type { FileScreening } from '@ostiary/sdk'

/** The screening of one file: the replies for all its parts, merged. */
export type Screening = FileScreening
export type { SilencedRow } from '@ostiary/sdk'

/** When the service screened the first part. A run id is a UUID of version 7, which begins with the time. */
export function screenedAt({ runIds }: Pick<Screening, 'runIds'>): Date | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(runIds[0] ?? '')
  return digits ? new Date(Number.parseInt(`${digits[1]}${digits[2]}`, 16)) : undefined
}

export const entriesOf = ({ matched }: Pick<Screening, 'matched'>) =>
  matched.reduce((sum, { matches, moreMatches = 0 }) => sum + matches.length + moreMatches, 0)

/** The name in the row, or "(no name)". */
export function personOf({ firstname, lastname }: Pick<RowResult, 'firstname' | 'lastname'>): string {
  return [firstname.trim(), lastname.trim()].filter(Boolean).join(' ') || '(no name)'
}

export const count = (value: number) => value.toLocaleString('en-US')

export const plural = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`
