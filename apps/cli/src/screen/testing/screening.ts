import type { ListedMatch, MatchedRecord } from '@ostiary/contract'
import type { Screening } from '../screening.ts'

export const RUN_ID = '01a1de25-8fcc-70e4-8000-37e88ae7fc73'

/** A match whose row has one letter too many. Tests override the fields they are about. */
export function aMatch(change: Partial<ListedMatch> = {}): ListedMatch {
  return {
    entityId: 'demo-03',
    name: 'Tormund Valshaken',
    matchedName: 'Tormund Valshaken',
    score: 0.99,
    birthDate: ['1958-02-11'],
    countries: ['no', 'xb'],
    topics: ['sanction'],
    programs: ['A programme'],
    sourceUrl: 'https://lists.example/demo-03',
    dataset: 'demo',
    listVersion: '392a6256-1',
    explanation: {
      nameScore: 0.96,
      name: [
        { query: 'tormund', listed: 'tormund', kind: 'exact', similarity: 1 },
        { query: 'valshakken', listed: 'valshaken', kind: 'edit', similarity: 0.9 },
      ],
      unmatchedQuery: [],
      unmatchedListed: [],
      notes: [],
      dob: { effect: 0.03, kind: 'same_day', text: 'Born on the same day, 1958-02-11' },
    },
    ...change,
  }
}

export function aRecord(change: Partial<MatchedRecord> = {}): MatchedRecord {
  const matches = change.matches ?? [aMatch()]
  return {
    id: '3',
    firstname: 'Tormund',
    lastname: 'Valshakken',
    dob: '1958-02-11',
    score: matches[0]?.score ?? 0,
    match: 'true',
    dataset: 'demo',
    line: 4,
    ...change,
    matches,
  }
}

export function aScreening(change: Partial<Screening> = {}): Screening {
  return {
    fileName: 'people.csv',
    dataset: 'demo',
    version: '392a6256-1',
    scorerVersion: '1',
    threshold: 0.95,
    runIds: [RUN_ID],
    total: 33,
    matched: [aRecord()],
    truncated: false,
    stale: false,
    silenced: [],
    warnings: new Map(),
    warnedRows: 0,
    results: undefined,
    ...change,
  }
}
