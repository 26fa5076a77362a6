import type { LockoutSubject } from './progress.ts'

/** What a comparison can find, by its kind. */
interface ComparisonFacts {
  /** ENROLL. `isNamed`: the host's name for the person was theirs before. */
  enrolled: { person: FoundPerson; isNew: boolean; isNamed: boolean }
  found: { person: FoundPerson; by: 'local' | 'server' }
  /** VERIFY: `named` is who it should have been. */
  miss: { named?: FoundPerson }
  /** The capture has the enrolled vector itself: somebody sent it again. Two captures differ by more (docs/accuracy/faces.md). */
  replay: { named?: FoundPerson }
  /** The device claims a hit with a key that is not on record, and there is no vector to compare instead. */
  unproven: object
  /** VERIFY: there is no such person. */
  unknown: object
  /** ENROLL: the vector does not distinguish this face from others. */
  unusable: object
  /** ENROLL: the host's name for the person belongs to another face, that of `named`. */
  other_face: { named: FoundPerson }
  /** ENROLL with a token: the host's name for the person is that of `named`, and nothing shows whose face this is. */
  known_name: { named: FoundPerson }
  /** A token's budget of comparisons is used up, or the token is frozen. */
  exhausted: { named: FoundPerson }
  /** The key holder is away: there is no verdict. */
  unavailable: object
}
export type ComparisonKind = keyof ComparisonFacts

/** The result of comparing or enrolling a face. */
export type ComparisonResult<Kind extends ComparisonKind = ComparisonKind> = {
  [K in Kind]: { kind: K } & ComparisonFacts[K]
}[Kind]

export interface FoundPerson {
  puid: string
  guid: string
}

interface Learned {
  /** What a failure counts against, as far as the comparison shows. */
  subjects: LockoutSubject[]
  /** Of the local key, where it is the found person's own. */
  thumbprint: string | null
  /** The key holder keeps its share of the device's new token. */
  keepsSuccessor: boolean
}

export type Comparison<Kind extends ComparisonKind = ComparisonKind> = {
  [K in Kind]: { kind: K } & ComparisonFacts[K] & Learned
}[Kind]
