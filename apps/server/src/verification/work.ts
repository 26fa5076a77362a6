import { decodeVector } from '@ostiary/crypto'
import { BUILT_IN_MODELS, type Enrolment, normalise, type Recognition } from '../biometrics/index.ts'
import type { MatcherRoom } from '../matcher/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError, outageBehind } from '../platform/errors.ts'
import type { Sessions } from '../sessions/index.ts'
import type { Comparison, ComparisonResult, FoundPerson } from './comparison.ts'
import type { LocalKeys, ShownKey } from './local-keys.ts'
import { matchingOf, usesTokens } from './matching.ts'
import type { LockoutSubject, VerificationProgress } from './progress.ts'
import { discardPerson } from './provisional-persons.ts'
import { namedBy } from './request.ts'
import { createTokenWork } from './token-work.ts'
import type { VerificationSession } from './types.ts'

interface Deps {
  cells: Cells
  sessions: Sessions
  enrolment: Enrolment
  recognition: Recognition
  localKeys: LocalKeys
  matcher: Pick<MatcherRoom, 'enrolment' | 'comparison' | 'erasures'>
}

const MODEL = BUILT_IN_MODELS.FACE3_3

/** Enrolment and comparison: transactions of their own and seconds of work, so never while the session is locked. */
export function createWork({ cells, sessions, enrolment, recognition, localKeys, matcher }: Deps) {
  const tokens = createTokenWork({ enrolment, recognition, matcher })

  async function enrol(session: VerificationSession, progress: VerificationProgress): Promise<ComparisonResult> {
    const { tenantId, livemode, request } = session
    const externalId = request.customerId ?? undefined
    const vectors = [unitOf(progress.vector)]
    const personId = progress.newPersonId ?? undefined
    try {
      const enrolled = await enrolment.enrol(
        { tenantId, livemode },
        { model: MODEL, vectors, externalId, personId, names: 'new_only' },
      )
      const { personId: puid, guid } = enrolled
      const isNew = enrolled.isNew && puid === progress.newPersonId
      const named = isNew ? undefined : await findNamed(session)
      // The face is one person's and the name another's: the reply names neither.
      if (named && named.puid !== puid) return { kind: 'other_face', named }
      return { kind: 'enrolled', person: { puid, guid }, isNew, isNamed: named !== undefined }
    } catch (error) {
      if (!(error instanceof AppError) || error.fault !== 'invalid_request') throw outageBehind(error)
      const named = await findNamed(session)
      return named ? { kind: 'other_face', named } : { kind: 'unusable' }
    }
  }

  async function compare(
    session: VerificationSession,
    progress: VerificationProgress,
    shown: ShownKey | undefined,
  ): Promise<ComparisonResult> {
    const { tenantId, livemode, keyId, request } = session
    // A SIGN-IN names somebody only where tokens are compared, one person at a time.
    const named = request.person ? await findNamed(session) : undefined
    if (request.person && !named) return { kind: 'unknown' }
    // A new token is bound only after a comparison by the service.
    const isReplacing = progress.successor !== null
    const mayBeLocal = progress.claim?.hit && matchingOf(request) === 'local_first' && !isReplacing
    const isOther = shown && named && named.puid !== shown.puid
    if (shown && mayBeLocal && !isOther) {
      const person = await recognition.find(session, { puid: shown.puid })
      if (person) return { kind: 'found', person, by: 'local' }
    }
    if (usesTokens(request) && !isMigration(progress)) return tokens.compare(session, progress, named)
    const miss: ComparisonResult = { kind: 'miss', ...(named && { named }) }
    if (progress.vector === null) return isOther ? miss : { kind: 'unproven' }
    const { candidates } = await recognition
      .recognise(
        { tenantId, livemode, keyId, rateFactor: 1 },
        { model: MODEL, vectors: [unitOf(progress.vector)], candidates: 1, userIdentifier: named?.puid },
      )
      .catch((error) => {
        throw outageBehind(error)
      })
    const [best] = candidates
    // One person's id may be the host's own name for another: only the one who was named counts.
    if (!best || (named && best.puid !== named.puid)) return miss
    // A test session with the simulated device is exempt: its people have no camera, and send the same numbers every time. The last
    // release did not say which device a capture was of.
    if (best.isReplay && (livemode || progress.isSimulated === false)) return { ...miss, kind: 'replay' }
    return { kind: 'found', person: { puid: best.puid, guid: best.guid }, by: 'server' }
  }

  /** The person that the host has named, if they are enrolled. */
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

  /** The subjects that the result concerns, as hashes under the tenant's key. */
  async function subjectsOf(session: VerificationSession, compared: ComparisonResult, shown: ShownKey | undefined) {
    const { tenantId, livemode } = session
    const hash = await sessions.hasherFor(cells.forId(tenantId), tenantId)
    const person = personOf(compared)?.puid
    const subjects: LockoutSubject[] = []
    if (person !== undefined) subjects.push({ kind: 'person', hash: hash('person', livemode, person) })
    // A success after failed tries is free for the network. It counts against the person, who would otherwise be a way to try faces.
    if (compared.kind === 'found' && session.request.type === 'SIGN-IN')
      subjects.push({ kind: 'retries', hash: hash('retries', livemode, compared.person.puid) })
    if (shown) subjects.push({ kind: 'device', hash: hash('device', livemode, shown.thumbprint) })
    return subjects
  }

  return {
    async run(session: VerificationSession, progress: VerificationProgress): Promise<Comparison> {
      if (session.request.type === 'ENROLL') {
        const compared = usesTokens(session.request)
          ? await tokens.enrol(session, progress, await findNamed(session))
          : await enrol(session, progress)
        return {
          ...compared,
          subjects: await subjectsOf(session, compared, undefined),
          thumbprint: null,
          keepsSuccessor: false,
        }
      }
      const shown = await checkClaim(session, progress)
      const compared = await compare(session, progress, shown)
      const keepsSuccessor = compared.kind === 'found' && (await tokens.confirmSuccessor(session, progress))
      const subjects = await subjectsOf(session, compared, shown)
      const isOwn = compared.kind === 'found' && shown?.puid === compared.person.puid
      return { ...compared, subjects, thumbprint: isOwn ? shown.thumbprint : null, keepsSuccessor }
    },

    findNamed,

    /** The device's new token becomes the person's, instead of the old one or of the stored vector. In the transaction of the end. */
    bindSuccessor: tokens.bindSuccessor,

    /** Whether the person is still enrolled. If so, nobody deletes them before the transaction ends. */
    lockIfEnrolled: (session: VerificationSession, puid: string, tx: Queryable): Promise<boolean> =>
      recognition.hold(session, puid, tx),

    /** The session ended otherwise while it enrolled this person, so no result reports them. */
    async discard(session: VerificationSession, comparison: Comparison): Promise<void> {
      if (comparison.kind !== 'enrolled' || !comparison.isNew) return
      await discardPerson(cells.forId(session.tenantId), recognition, {
        ...ownerOf(session),
        personId: comparison.person.puid,
      })
    },
  }
}
export type Work = ReturnType<typeof createWork>

/** A vector came with the token that is to replace the stored one. */
const isMigration = ({ token, successor, vector }: VerificationProgress) =>
  successor !== null && token === null && vector !== null

const ownerOf = ({ tenantId, livemode }: VerificationSession) => ({ tenantId, livemode })

/** The person that the face was compared with, if that is one person. */
function personOf(compared: ComparisonResult): FoundPerson | undefined {
  if (compared.kind === 'found') return compared.person
  if (compared.kind === 'enrolled') return compared.isNamed ? compared.person : undefined
  const isRefused = compared.kind === 'miss' || compared.kind === 'replay' || compared.kind === 'other_face'
  if (compared.kind === 'exhausted') return compared.named
  return isRefused ? compared.named : undefined
}

function unitOf(vector: string | null): Float64Array {
  const unit = vector === null ? undefined : normalise(decodeVector(vector))
  if (!unit) throw new Error('The session has no vector')
  return unit
}
