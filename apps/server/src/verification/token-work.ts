import type { Enrolment, Recognition } from '../biometrics/index.ts'
import type { MatcherRoom } from '../matcher/index.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { ComparisonResult, FoundPerson } from './comparison.ts'
import type { VerificationProgress } from './progress.ts'
import type { VerificationSession } from './types.ts'

interface Deps {
  enrolment: Enrolment
  recognition: Recognition
  matcher: Pick<MatcherRoom, 'enrolment' | 'comparison' | 'erasures'>
}

/** Enrolment and comparison of tenants that store tokens instead of vectors. */
export function createTokenWork({ enrolment, recognition, matcher }: Deps) {
  /**
   * The key holder keeps its share first. Then person and token are stored in one transaction, so nobody is enrolled by half. A name that is
   * somebody's already is refused: nothing shows that this face is theirs.
   */
  async function enrol(
    session: VerificationSession,
    { token, newPersonId }: VerificationProgress,
    named: FoundPerson | undefined,
  ): Promise<ComparisonResult> {
    if (!token || newPersonId === null) throw new Error('The session has no token')
    if (named && named.puid !== newPersonId) return { kind: 'known_name', named }
    const { sessionId } = session
    const { tokenId } = token
    const person = { personId: newPersonId, externalId: session.request.customerId ?? undefined }
    return orUnavailable(async () => {
      if (!(await matcher.enrolment.confirm(session, tokenId))) return { kind: 'unusable' }
      const created = await enrolment.enrolWithoutVector(session, person, (tx) =>
        matcher.enrolment.activate(tx, session, { tokenId, personId: newPersonId, sessionId }),
      )
      if (!created) return { kind: 'unusable' }
      return { kind: 'enrolled', person: { puid: newPersonId, guid: created.guid }, isNew: true, isNamed: false }
    })
  }

  async function compare(
    session: VerificationSession,
    { token }: VerificationProgress,
    named: FoundPerson | undefined,
  ): Promise<ComparisonResult> {
    const { sessionId } = session
    if (!token || token.probeHash === null) return { kind: 'unproven' }
    const { probeHash } = token
    return orUnavailable(async () => {
      const { verdict, puid } = await matcher.comparison.compare(session, { sessionId, probeHash })
      const person = puid === null ? undefined : await recognition.find(session, { puid })
      if (!person || verdict === 'gone' || (named && named.puid !== person.puid)) return { kind: 'unknown' }
      if (verdict === 'locked') return { kind: 'exhausted', named: person }
      return verdict === 'accept' ? { kind: 'found', person, by: 'server' } : { kind: 'miss', named: person }
    })
  }

  /** Whether there is a new token whose share the key holder keeps. Without it the session goes on, and nothing is replaced. */
  async function confirmSuccessor(session: VerificationSession, { successor }: VerificationProgress): Promise<boolean> {
    if (successor?.probeHash == null) return false
    return matcher.enrolment.confirm(session, successor.tokenId).catch(falseIfAway)
  }

  async function bindSuccessor(
    tx: Queryable,
    session: VerificationSession,
    puid: string,
    { token, successor }: VerificationProgress,
  ): Promise<void> {
    if (!successor) return
    const { sessionId } = session
    const { tokenId } = successor
    if (!(await matcher.enrolment.activate(tx, session, { tokenId, personId: puid, sessionId })))
      throw new Error('The successor of a token is gone')
    if (token) await matcher.erasures.deleteToken(tx, session, token.tokenId, puid)
    else await recognition.forgetVectors(session, puid, VECTOR_VERSION, tx)
  }

  return { enrol, compare, confirmSuccessor, bindSuccessor }
}

/** The vectors that area D stores. */
const VECTOR_VERSION = 'FACE3_3'

function falseIfAway(error: unknown): false {
  if (error instanceof AppError && error.code === 'KEY_HOLDER_UNAVAILABLE') return false
  throw error
}

/** Without the key holder there is no verdict, and never a pass. */
async function orUnavailable(work: () => Promise<ComparisonResult>): Promise<ComparisonResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'KEY_HOLDER_UNAVAILABLE') return { kind: 'unavailable' }
    throw error
  }
}
