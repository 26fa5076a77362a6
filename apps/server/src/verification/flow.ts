import {
  type CapturePayload,
  CONDITIONS_CONSENT,
  type DeviceKey,
  DOCUMENT_FACE_MATCH,
  LAUNCH_LIMITS,
  LOCKOUT,
  type SessionCodeName,
  SIMULATED_MODEL,
} from '@ostiary/contract'
import { ProofError, verifyLocalProof } from '@ostiary/crypto'
import type { Passkeys } from '../passkeys/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import { networksOf } from '../platform/networks.ts'
import { checkSignature } from '../platform/node-crypto.ts'
import {
  type AcceptedCapture,
  type DocumentAsk,
  type FinalState,
  type Flow,
  type FlowRules,
  flowOfArea,
  isFinal,
  type NotedCall,
  nextState,
  type Sessions,
  type WorkResult,
  withDocument,
} from '../sessions/index.ts'
import { DEFAULT_DOCUMENT_POLICY } from '../settings/index.ts'
import { applyComparison } from './apply-comparison.ts'
import { boundBy } from './bound.ts'
import type { Budget } from './budget.ts'
import { conclude } from './conclude.ts'
import { countFailure, failureAtOnce, withoutRepeats } from './counting.ts'
import { noteDebug } from './debug.ts'
import type { VerificationEnding } from './ending.ts'
import type { LocalKeys } from './local-keys.ts'
import type { Lockouts } from './lockouts.ts'
import { eventAfterCapture, eventAfterDocument, factsOf, payloadFault, usesTokens, wantsAge } from './matching.ts'
import {
  type LockoutSubject,
  newVerificationProgress,
  type OwnProgress,
  type VerificationProgress,
  verificationOf,
  withVerification,
} from './progress.ts'
import { namedBy, type VerificationRequest } from './request.ts'
import { failed, graceForWork, locked } from './steps.ts'
import {
  type RunningVerification,
  type VerificationSession,
  type VerificationStep,
  verificationSessionsIn,
} from './types.ts'
import { blocks, redirectTargetOf } from './webhook-body.ts'
import type { Work } from './work.ts'

interface Deps {
  clock: Clock
  ids: Ids
  sessions: Sessions
  ending: VerificationEnding
  work: Work
  passkeys: Passkeys
  localKeys: LocalKeys
  lockouts: Lockouts
  budget: Budget
}

/**
 * What is different in an ENROLL, SIGN-IN or VERIFY session. A good capture becomes work for the service: the vector is kept in the
 * sealed progress, the session's lock is released, and the result of the work is applied only if the session still waits for it. If the
 * process ends in between, nothing is lost: the page's next call does the work again.
 */
export function createVerificationFlow(deps: Deps): Flow {
  const { ids, sessions, work, lockouts, budget } = deps

  async function consented(tx: Queryable, session: RunningVerification, address: string): Promise<VerificationStep> {
    const state = nextState(session, 'consent_given')
    const { progress } = session
    // What an earlier device has shown does not count for this one.
    const { passkeyTries, debug, counted, subjects: earlier } = verificationOf(progress)
    const subjects = withoutRepeats([...earlier, ...(await subjectsOf(tx, session, address))])
    const begun = { ...progress, own: { ...newVerificationProgress(), passkeyTries, debug, counted, subjects } }
    const seconds = Math.max(
      await lockouts.waitOf(tx, session, subjects),
      subjects.length > 0 ? budget.waitOf(session) : 0,
    )
    return seconds > 0 ? locked(session, begun, seconds) : { state, progress: begun }
  }

  /**
   * The subjects that a failure of this session will count against, as far as it is known before the face. Whom the host names by a
   * customerId counts as the person who has it, as if by puid: otherwise one person would have two counts, and an attacker twice the tries.
   */
  async function subjectsOf(tx: Queryable, session: VerificationSession, address: string): Promise<LockoutSubject[]> {
    const { tenantId, livemode, request } = session
    const named = namedBy(request)
    const person = named && ('puid' in named ? named : await work.findNamed(session, tx))
    if (request.type === 'ENROLL' && !person) return []
    const hash = await sessions.hasherFor(tx, tenantId)
    const subjects: LockoutSubject[] = networksOf(address).map(({ name, factor }) => ({
      kind: 'network',
      hash: hash('network', livemode, name),
      ...(factor > 1 && { failures: Math.floor(LOCKOUT.failures * factor) }),
    }))
    if (person) return [...subjects, { kind: 'person', hash: hash('person', livemode, person.puid) }]
    if (!named || 'puid' in named) return subjects
    return [...subjects, { kind: 'person', hash: hash('customer', livemode, named.customerId) }]
  }

  async function captured(session: RunningVerification, capture: AcceptedCapture): Promise<VerificationStep> {
    const { request, progress } = session
    const { payload, challenge, selfie, estimateYears, now } = capture
    const { face, local } = payload
    const hasKey = local !== undefined && 'key' in local && (await provesKey(local.key, payload))
    const own: VerificationProgress = {
      ...verificationOf(progress),
      workId: payload.nonce,
      vector: face?.vector ?? null,
      // What was begun counts only with a capture that names it.
      token: payload.token ? verificationOf(progress).token : null,
      successor: payload.successor ? verificationOf(progress).successor : null,
      isSimulated: payload.model.id === SIMULATED_MODEL.id,
      estimateYears: wantsAge(request) ? estimateYears : null,
      selfie,
      newPersonId: request.type === 'ENROLL' ? ids.next(bucketOf(session.tenantId)) : null,
      localKey: hasKey ? local.key : null,
      claim: local && 'hit' in local ? local : null,
      claimedFor: face || payload.token ? null : challenge,
    }
    const numbers = { attempt: progress.attempt, live: payload.live, flags: progress.flags.map(({ code }) => code) }
    const note = { at: now, level: 3, event: 'judged', facts: numbers } as const
    const known = noteDebug({ ...progress, own }, request, note)
    if (blocks(request, known)) return failed(session, known, 'POLICY_BLOCKED')
    const state = nextState(session, eventAfterCapture(request, own))
    // A document that was compared with another capture does not count for this one.
    const next = state === 'DOC_ACTIVE' ? withDocument(known, { read: null }) : known
    return { state, progress: next, dueAt: graceForWork(session, now) }
  }

  function documentRead(session: RunningVerification, now: Date): VerificationStep {
    const { request, progress } = session
    const matching = { ...session, state: nextState(session, 'document_read') }
    const state = nextState(matching, eventAfterDocument(request, verificationOf(progress)))
    return { state, progress, dueAt: graceForWork(session, now) }
  }

  async function runWork(
    session: RunningVerification,
    waiting: VerificationProgress,
  ): Promise<WorkResult<RunningVerification>> {
    const comparison = await work.run(session, waiting)
    return {
      async apply(tx, current) {
        const { workId, vector, token } = verificationOf(current.progress)
        // One challenge may be answered twice: by a claim alone, and then by the vector.
        const isSameProbe = token?.probeHash === waiting.token?.probeHash
        const isAnswer = workId === waiting.workId && vector === waiting.vector && isSameProbe
        const isSame = isAnswer && current.state === session.state
        return isSame ? applyComparison(deps, tx, current, comparison) : undefined
      },
      async after(state) {
        if (isFinal(state) && state !== 'SUCCESS') await work.discard(session, comparison)
      },
    }
  }

  return flowOfArea(verificationSessionsIn(sessions), {
    rules: verificationRules,
    consented: (session, address) => ({ inTransaction: (tx) => consented(tx, session, address) }),
    captured,
    documentRead,
    countFor(session, errors) {
      const failure = failureAtOnce(errors)
      return failure && (async (tx) => (await countFailure(lockouts, tx, session, failure)).progress)
    },
    noted: withCallNotes,
    conclude: (tx, session, end) => conclude(deps, tx, session, end),
    work(session) {
      const { own } = session.progress
      return own && own.workId !== null ? runWork(session, own) : undefined
    },
  })
}

export function verificationRules(session: VerificationSession): FlowRules {
  const { request, sessionId, progress } = session
  return {
    describe: () => ({
      type: request.type,
      requirements: [...request.requirements],
      verification: factsOf(request, session),
    }),
    wantsAge: wantsAge(request),
    takesConditions: CONDITIONS_CONSENT.includes(progress?.consent?.version ?? ''),
    hasOtherWay: false,
    document: request.requirements.includes('identity_document') ? documentAskOf(request) : null,
    simulatedDelayMs: request.sandbox ? 0 : null,
    payloadFault: (payload: CapturePayload, hasSelfie: boolean) => {
      const { token: begun, successor } = verificationOf(progress)
      return payloadFault(request, payload, { hasSelfie, begun, successor })
    },
    // A page of a token tenant says so when its device holds no key, or the key holder is away.
    alsoReportable: usesTokens(request) ? ['USER_NOT_ENROLLED', 'INTERNAL'] : [],
    failuresOf: (name: SessionCodeName) => [name],
    endReply(state: FinalState) {
      if (state === 'COMPLETED') throw new Error('COMPLETED is no end of such a session')
      return {
        redirectUrl: redirectTargetOf(request, { sessionId, status: state }),
        ...(state === 'SUCCESS' && boundBy(request, progress)),
      }
    },
  }
}

/** No age is asked for. The face comes first, and the person is enrolled by the capture that the portrait was compared with. */
function documentAskOf({ policy }: VerificationRequest): DocumentAsk {
  const { types, expiryGraceDays, reuseCheck } = policy.documents ?? DEFAULT_DOCUMENT_POLICY
  return {
    when: 'always',
    acceptedTypes: types,
    expiryGraceDays,
    age: null,
    matchThreshold: DOCUMENT_FACE_MATCH.threshold,
    reuseCheck,
    comparesFace: true,
    mayLook: false,
  }
}

/** The call is noted where the host asked for debug notes. */
function withCallNotes({ request, state: from, progress }: RunningVerification, call: NotedCall): OwnProgress {
  if (request.debugLevel === 0) return progress
  const { state: to, errors = [], refuse, call: event, now: at } = call
  const facts = { codes: [...errors], ...(refuse && { refused: refuse.code }) }
  const known = noteDebug(withVerification(progress, {}), request, { at, level: 2, event, facts })
  if (to === from) return known
  return noteDebug(known, request, { at, level: 1, event: 'state', facts: { from, to } })
}

/**
 * Whether the browser has shown that it has the private half of the key that it wants to enrol. A page of the last release shows nothing:
 * its person is enrolled without a local key.
 */
async function provesKey(key: DeviceKey, { sessionId, nonce, metadata }: CapturePayload): Promise<boolean> {
  const proof = metadata?.localProof
  if (typeof proof !== 'string' || proof.length > LAUNCH_LIMITS.proofChars) return false
  try {
    await verifyLocalProof(key, proof, { sessionId, nonce, hit: false }, checkSignature)
    return true
  } catch (error) {
    if (error instanceof ProofError) return false
    throw error
  }
}
