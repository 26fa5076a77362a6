import { decodeVector } from '@ostiary/crypto'
import type { Enrolment, Recognition } from '../biometrics/index.ts'
import { normalise } from '../biometrics/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { LockoutSubject, Sessions, VerificationProgress } from '../sessions/index.ts'
import type { LocalKeys, ShownKey } from './local-keys.ts'
import { matchingOf } from './matching.ts'
import { namedBy } from './request.ts'
import { discardPerson } from './provisional-persons.ts'
import type { VerificationSession } from './types.ts'

interface Deps {
  cells: Cells
  sessions: Sessions
  enrolment: Enrolment
  recognition: Recognition
  localKeys: LocalKeys
}

/** What the slow part of a session came to. */
export type Finding =
  /** `isNamed`: the host's name for the person was theirs before. */
  | { kind: 'enrolled'; person: FoundPerson; isNew: boolean; isNamed: boolean }
  | { kind: 'found'; person: FoundPerson; by: 'local' | 'server' }
  /** VERIFY: `named` is who it should have been. */
  | { kind: 'miss'; named?: FoundPerson }
  /** The device says that it was a hit, and nobody knows its key; there is no vector to compare instead. */
  | { kind: 'unproven' }
  /** VERIFY: there is no such person. */
  | { kind: 'unknown' }
  /** ENROLL: the vector is of no face that can be told from others. */
  | { kind: 'unusable' }
  /** ENROLL: the host's name for the person belongs to another face, that of `named`. */
  | { kind: 'other_face'; named: FoundPerson }

export interface FoundPerson {
  puid: string
  guid: string
}

export type Outcome = Finding & {
  /** Whom a failure counts against, as far as the work has learnt it. */
  subjects: LockoutSubject[]
  /** Of the local key, where it is the found person's own. */
  thumbprint: string | null
}

const VERSION = 'FACE3_3'

/** Enrolment and comparison: transactions of their own and seconds of work, so never while the session is locked. */
export function createWork({ cells, sessions, enrolment, recognition, localKeys }: Deps) {
  async function enrol(session: VerificationSession, progress: VerificationProgress): Promise<Finding> {
    const { tenantId, livemode, request } = session
    const externalId = request.customerId ?? undefined
    const vectors = [unitOf(progress.vector)]
    const personId = progress.newPersonId ?? undefined
    try {
      const enrolled = await enrolment.enrol(
        { tenantId, livemode },
        { version: VERSION, vectors, externalId, personId, names: 'new_only' },
      )
      const { personId: puid, guid } = enrolled
      const isNew = enrolled.isNew && puid === progress.newPersonId
      const named = isNew ? undefined : await findNamed(session)
      // The face is one person's and the name another's: neither is told.
      if (named && named.puid !== puid) return { kind: 'other_face', named }
      return { kind: 'enrolled', person: { puid, guid }, isNew, isNamed: named !== undefined }
    } catch (error) {
      if (!(error instanceof AppError) || error.fault !== 'invalid_request') throw error
      const named = await findNamed(session)
      return named ? { kind: 'other_face', named } : { kind: 'unusable' }
    }
  }

  async function compare(
    session: VerificationSession,
    progress: VerificationProgress,
    shown: ShownKey | undefined,
  ): Promise<Finding> {
    const { tenantId, livemode, keyId, request } = session
    const named = request.type === 'VERIFY' ? await findNamed(session) : undefined
    if (request.type === 'VERIFY' && !named) return { kind: 'unknown' }
    const mayBeLocal = progress.claim?.hit && matchingOf(request) === 'local_first'
    const isOther = shown && named && named.puid !== shown.puid
    if (shown && mayBeLocal && !isOther) {
      const person = await recognition.find(session, { puid: shown.puid })
      if (person) return { kind: 'found', person, by: 'local' }
    }
    const miss: Finding = { kind: 'miss', ...(named && { named }) }
    if (progress.vector === null) return isOther ? miss : { kind: 'unproven' }
    const [best] = await recognition.predict(
      { tenantId, livemode, keyId, rateFactor: 1 },
      { version: VERSION, vectors: [unitOf(progress.vector)], candidates: 1, userIdentifier: named?.puid },
    )
    // One person's id may be the host's own name for another: only the one who was named counts.
    if (!best || (named && best.puid !== named.puid)) return miss
    return { kind: 'found', person: { puid: best.puid, guid: best.guid }, by: 'server' }
  }

  /** Whom the host has named, if they are enrolled. */
  async function findNamed(session: VerificationSession, tx?: Queryable): Promise<FoundPerson | undefined> {
    const named = namedBy(session.request)
    if (!named) return undefined
    return recognition.find(session, 'puid' in named ? named : { externalId: named.customerId }, tx)
  }

  async function checkClaim(
    session: VerificationSession,
    { claim, workId }: VerificationProgress,
  ): Promise<ShownKey | undefined> {
    if (!claim || workId === null) return undefined
    const expected = { sessionId: session.sessionId, nonce: workId, hit: claim.hit }
    return localKeys.check(cells.forId(session.tenantId), session, claim.proof, expected)
  }

  /** Named under the tenant's key, here and not later: that may need a connection. */
  async function subjectsOf(session: VerificationSession, finding: Finding, shown: ShownKey | undefined) {
    const { tenantId, livemode } = session
    const person = personOf(finding)?.puid
    const subjects: LockoutSubject[] = []
    if (person !== undefined)
      subjects.push({ kind: 'person', hash: await sessions.tagOf(tenantId, ['person', livemode, person]) })
    // Whoever signs in with their own face after two others' gets a network no wait, but themselves one in the end.
    if (finding.kind === 'found' && session.request.type === 'SIGN-IN')
      subjects.push({
        kind: 'retries',
        hash: await sessions.tagOf(tenantId, ['retries', livemode, finding.person.puid]),
      })
    if (shown)
      subjects.push({ kind: 'device', hash: await sessions.tagOf(tenantId, ['device', livemode, shown.thumbprint]) })
    return subjects
  }

  return {
    async run(session: VerificationSession, progress: VerificationProgress): Promise<Outcome> {
      if (session.request.type === 'ENROLL') {
        const finding = await enrol(session, progress)
        return { ...finding, subjects: await subjectsOf(session, finding, undefined), thumbprint: null }
      }
      const shown = await checkClaim(session, progress)
      const finding = await compare(session, progress, shown)
      const subjects = await subjectsOf(session, finding, shown)
      const isOwn = finding.kind === 'found' && shown?.puid === finding.person.puid
      return { ...finding, subjects, thumbprint: isOwn ? shown.thumbprint : null }
    },

    findNamed,

    /** Whether the person is still enrolled. If so, nobody deletes them before the transaction ends. */
    hold: (session: VerificationSession, puid: string, tx: Queryable): Promise<boolean> =>
      recognition.hold(session, puid, tx),

    /** Nobody will hear of this person: the session ended otherwise while they were enrolled. */
    async takeBack(session: VerificationSession, outcome: Outcome): Promise<void> {
      if (outcome.kind !== 'enrolled' || !outcome.isNew) return
      await discardPerson(cells.forId(session.tenantId), recognition, {
        ...ownerOf(session),
        personId: outcome.person.puid,
      })
    },
  }
}
export type Work = ReturnType<typeof createWork>

const ownerOf = ({ tenantId, livemode }: VerificationSession) => ({ tenantId, livemode })

/** Whose face was compared with, where that is one person. */
function personOf(finding: Finding): FoundPerson | undefined {
  if (finding.kind === 'found') return finding.person
  if (finding.kind === 'enrolled') return finding.isNamed ? finding.person : undefined
  return finding.kind === 'miss' || finding.kind === 'other_face' ? finding.named : undefined
}

function unitOf(vector: string | null): Float64Array {
  const unit = vector === null ? undefined : normalise(decodeVector(vector))
  if (!unit) throw new Error('The session has no vector')
  return unit
}
