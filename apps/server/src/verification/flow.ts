import { type CapturePayload, SERVICE_STATES, type SessionCodeName } from '@ostiary/contract'
import type { Passkeys } from '../passkeys/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import {
  type FinalState,
  type Flow,
  type FlowEnd,
  graceFor,
  isFinal,
  type LockoutSubject,
  newVerificationProgress,
  nextState,
  type Progress,
  type Seen,
  type Sessions,
  type Step,
  type VerificationProgress,
  type WorkResult,
} from '../sessions/index.ts'
import { clearedBy, countOnce, countTry, isCounted, waitAfter, withoutRepeats } from './counting.ts'
import { noteDebug } from './debug.ts'
import type { VerificationEnding } from './ending.ts'
import type { LocalKeys } from './local-keys.ts'
import type { Lockouts } from './lockouts.ts'
import { eventAfterCapture, factsOf, faultOf, wantsAge } from './matching.ts'
import { blocks, redirectTargetOf } from './outcome.ts'
import { passkeyFailed, passkeyOptions, verifyPasskey } from './passkey-step.ts'
import { namedBy } from './request.ts'
import { sandboxEnd } from './sandbox-end.ts'
import { failed, locked, missed, reached, vectorNeeded, verificationOf, withVerification } from './steps.ts'
import type { VerificationEnd, VerificationSession } from './types.ts'
import { confirmPerson } from './provisional-persons.ts'
import type { Outcome, Work } from './work.ts'

interface Deps {
  clock: Clock
  ids: Ids
  sessions: Sessions
  ending: VerificationEnding
  work: Work
  passkeys: Passkeys
  localKeys: LocalKeys
  lockouts: Lockouts
}

/** How long the service itself may take, where the session would end meanwhile. */
const WORK_MS = 30_000

/**
 * What is area D's own in a flow. A good capture becomes work for the service: the vector is kept in the sealed progress, the
 * session is let go, and what comes of the work is applied only if the session still waits for it. Should the process end in
 * between, nothing is lost: the page's next call does the work again.
 */
export function createVerificationFlow(deps: Deps): Flow {
  const { clock, ids, sessions, work, passkeys, lockouts } = deps

  async function consented(
    session: VerificationSession,
    progress: Progress,
    { tx, network }: { tx: Queryable; network: string | undefined },
  ): Promise<Step> {
    const state = nextState(session, 'consent_given')
    // Whatever an earlier device has shown does not count for this one.
    const { passkeyTries, debug, counted, subjects: earlier } = verificationOf(progress)
    const subjects = withoutRepeats([...earlier, ...(await subjectsOf(session, { tx, network }))])
    const verification = { ...newVerificationProgress(), passkeyTries, debug, counted, subjects }
    const begun = { ...progress, verification }
    const seconds = await lockouts.waitOf(tx, session, subjects)
    return seconds > 0 ? locked(session, begun, seconds) : { state, progress: begun }
  }

  /** Whom a failure of this session will count against, as far as it is known before the face. */
  async function subjectsOf(
    session: VerificationSession,
    { tx, network }: { tx: Queryable; network: string | undefined },
  ): Promise<LockoutSubject[]> {
    const { tenantId, livemode, request } = session
    if (request.type === 'ENROLL' && !(await work.findNamed(session, tx))) return []
    const subjects: LockoutSubject[] = network === undefined ? [] : [{ kind: 'network', hash: network }]
    const named = namedBy(request)
    if (!named) return subjects
    const name = 'puid' in named ? ['person', livemode, named.puid] : ['customer', livemode, named.customerId]
    // The key is at hand: the network was named with it a moment ago.
    return [...subjects, { kind: 'person', hash: await sessions.tagOf(tenantId, name) }]
  }

  function captured(session: VerificationSession, progress: Progress, seen: Seen): Step {
    const { request } = session
    const { payload, challenge, selfie, estimateYears, now } = seen
    const { face, local } = payload
    const before = verificationOf(progress)
    const verification: VerificationProgress = {
      ...before,
      workId: payload.nonce,
      vector: face?.vector ?? null,
      estimateYears: wantsAge(request) ? estimateYears : null,
      selfie,
      newPersonId: request.type === 'ENROLL' ? ids.next(bucketOf(session.tenantId)) : null,
      localKey: local && 'key' in local ? local.key : null,
      claim: local && 'hit' in local ? local : null,
      claimedFor: face ? null : challenge,
    }
    const numbers = { attempt: progress.attempt, live: payload.live, flags: progress.flags.map(({ code }) => code) }
    const note = { at: now, level: 3, event: 'judged', facts: numbers } as const
    const known = noteDebug({ ...progress, verification }, request, note)
    if (blocks(request, known)) return failed(session, known, 'POLICY_BLOCKED')
    const state = nextState(session, eventAfterCapture(request, verification))
    return { state, progress: known, dueAt: graceFor(session, now.getTime() + WORK_MS) }
  }

  return {
    conclude: (tx: Queryable, session: VerificationSession, progress: Progress | null, end: FlowEnd) =>
      conclude(deps, tx, { session, progress, end }),
    describe: (session: VerificationSession) => ({
      type: session.request.type,
      requirements: [...session.request.requirements],
      verification: factsOf(session.request, session),
    }),
    redirectUrl({ request, sessionId }: VerificationSession, state: FinalState) {
      if (state === 'COMPLETED') throw new Error('COMPLETED is no end of such a session')
      return redirectTargetOf(request, { sessionId, status: state })
    },
    endFacts({ request }: VerificationSession, state: FinalState, progress: Progress) {
      const { localKey } = verificationOf(progress)
      if (request.type !== 'ENROLL' || state !== 'SUCCESS' || !localKey) return {}
      return { localKeyBound: bindsKeys(verificationOf(progress)) }
    },
    wishDelayMs: ({ request }: VerificationSession) => (request.sandbox ? 0 : null),
    nameNetwork: ({ tenantId, livemode }, network) => sessions.tagOf(tenantId, ['network', livemode, network]),
    consented,
    failuresOf: (name: SessionCodeName) => [name],
    wantsAge: ({ request }: VerificationSession) => wantsAge(request),
    hasOtherWay: () => false,
    faultOf: ({ request }: VerificationSession, payload: CapturePayload, hasSelfie: boolean) =>
      faultOf(request, payload, hasSelfie),
    captured,

    work(session: VerificationSession) {
      const verification = session.progress?.verification
      if (!SERVICE_STATES.includes(session.state) || !verification || verification.workId === null) return undefined
      return async (): Promise<WorkResult> => {
        const outcome = await work.run(session, verification)
        return {
          async apply(tx, current: VerificationSession, progress) {
            const { workId, vector } = verificationOf(progress)
            // One challenge may be answered twice: by a claim alone, and then by the vector.
            const isAnswer = workId === verification.workId && vector === verification.vector
            const isSame = isAnswer && current.state === session.state
            return isSame ? applied(deps, tx, { session: current, progress, outcome }) : undefined
          },
          async after(state) {
            if (isFinal(state) && state !== 'SUCCESS') await work.takeBack(session, outcome)
          },
        }
      }
    },

    countTry: (tx: Queryable, session: VerificationSession, step: Step) => countTry(lockouts, tx, session, step),

    noteStep(session: VerificationSession, step: Step, { call, now }) {
      if (session.request.debugLevel === 0) return step.progress
      const verification = verificationOf(step.progress)
      const codes = step.errors ?? []
      const refused = step.refuse && { refused: step.refuse.code }
      const called = { at: now, level: 2, event: call, facts: { codes: [...codes], ...refused } } as const
      const known = noteDebug({ ...step.progress, verification }, session.request, called)
      if (step.state === session.state) return known
      const facts = { from: session.state, to: step.state }
      return noteDebug(known, session.request, { at: now, level: 1, event: 'state', facts })
    },

    passkey: {
      options: (tx: Queryable, session: VerificationSession, progress: Progress) =>
        passkeyOptions(passkeys, tx, { session, progress, now: clock.now() }),
      async verify(tx: Queryable, session: VerificationSession, progress: Progress, response: unknown) {
        const now = clock.now()
        const step = await verifyPasskey(passkeys, tx, { session, progress, response, now })
        return step.state === 'FINALIZING' ? { ...step, dueAt: graceFor(session, now.getTime() + WORK_MS) } : step
      },
      failed: passkeyFailed,
    },
  }
}

interface Ending {
  session: VerificationSession
  progress: Progress | null
  end: FlowEnd
}

/** The end and everything that hangs on it: keys of an enrolment, and what the lockout remembers. */
async function conclude(deps: Deps, tx: Queryable, { session, progress, end }: Ending): Promise<FinalState> {
  const { ending, lockouts, localKeys } = deps
  const wanted = endOf(session, progress, end)
  const met = await whileEnrolled(deps.work, tx, { session, progress, end, wanted })
  const bound = await bindKeys(deps, tx, { session, progress, end, wanted: met })
  const counts = isCounted(session, progress, end)
  const verification = verificationOf(progress ?? undefined)
  const { localThumbprint, counted, newPersonId, subjects } = verification
  const waits = counts && bound.state === 'FAILED' ? await waitAfter(lockouts, tx, { session, progress, bound }) : 0
  // The host learns with the failure itself how long the next try has to wait.
  const told = waits > 0 ? { ...bound, retryAfterSeconds: waits } : bound
  const state = await ending.conclude(tx, session, progress, told)
  const named = state === 'SUCCESS' && end.how === 'reached' && told.state === 'SUCCESS' ? told.person.puid : undefined
  // Another session may have made this person and come to nothing: from now on the host knows them.
  if (named !== undefined && named !== newPersonId) await confirmPerson(tx, session, named, deps.clock.now())
  if (!counts) return state
  if (state === 'SUCCESS') {
    // In one order, like a failure: of two that concern the same rows neither waits for the other in a circle.
    await lockouts.holdWaitOf(tx, session, subjects)
    await lockouts.clear(tx, session, clearedBy(session, verification))
    if (counted.length > 0) await lockouts.noteRetry(tx, session, verification)
    if (localThumbprint !== null) await localKeys.used(tx, session, localThumbprint)
  }
  return state
}

function endOf({ tenantId, request }: VerificationSession, progress: Progress | null, end: FlowEnd): VerificationEnd {
  if (end.how === 'cancelled') return { state: 'CANCELLED', code: end.code }
  if (end.how === 'expired') return { state: 'EXPIRED' }
  if (end.how === 'wished') return sandboxEnd(request.sandbox ?? 'success', { tenantId, request })
  if (end.how === 'failed') {
    const { failures, retryAfterSeconds } = end
    return { state: 'FAILED', failures, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  const { person, estimateYears, selfie, notes } = verificationOf(progress ?? undefined)
  if (!person) throw new Error('A session ends well only with a person')
  return {
    state: 'SUCCESS',
    person: { puid: person.puid, guid: person.guid },
    ...(request.type !== 'ENROLL' && { matchedBy: person.matchedBy }),
    ...(estimateYears !== null && { estimatedAge: Math.floor(estimateYears) }),
    notes,
    ...(selfie !== null && { selfie }),
  }
}

/** Whoever was recognised or enrolled may have been deleted since, by the host or with a session that made them: then it was nobody. */
async function whileEnrolled(
  work: Work,
  tx: Queryable,
  { session, end, wanted }: Ending & { wanted: VerificationEnd },
): Promise<VerificationEnd> {
  if (end.how !== 'reached' || wanted.state !== 'SUCCESS') return wanted
  if (await work.hold(session, wanted.person.puid, tx)) return wanted
  return { state: 'FAILED', failures: [session.request.type === 'ENROLL' ? 'INTERNAL' : 'USER_NOT_ENROLLED'] }
}

/**
 * To somebody who is enrolled already nothing is bound, unless they have shown a passkey of theirs in this session: a face is a claim
 * of the device, and would otherwise be enough to add a key to anybody of whom there is a photograph.
 */
const bindsKeys = ({ notes, passkeyShown }: VerificationProgress): boolean =>
  !notes.includes('ALREADY_ENROLLED') || passkeyShown

/** ENROLL: what the browser and the authenticator keep is bound to the person. A passkey that cannot be kept is a failure. */
async function bindKeys(
  { passkeys, localKeys }: Deps,
  tx: Queryable,
  { session, progress, end, wanted }: Ending & { wanted: VerificationEnd },
): Promise<VerificationEnd> {
  const { request } = session
  const verification = progress?.verification
  if (request.type !== 'ENROLL' || end.how !== 'reached' || wanted.state !== 'SUCCESS' || !verification) return wanted
  if (blocks(request, progress)) return wanted
  const { credential, localKey } = verification
  if (!bindsKeys(verification)) return wanted
  if (credential) {
    const kept = await passkeys.insert(tx, session, wanted.person.puid, credential)
    if (!kept.ok) return { state: 'FAILED', failures: ['PASSKEY_FAILED'] }
  }
  if (localKey) await localKeys.bind(tx, session, wanted.person.puid, localKey)
  return wanted
}

interface Applying {
  session: VerificationSession
  progress: Progress
  outcome: Outcome
}

/** What the work found, as the next step. */
async function applied(deps: Deps, tx: Queryable, { session, progress, outcome }: Applying): Promise<Step> {
  const before = verificationOf(progress)
  const verification: VerificationProgress = {
    ...before,
    localThumbprint: outcome.thumbprint,
    subjects: withoutRepeats([...before.subjects, ...outcome.subjects]),
    cleared: outcome.subjects.filter(({ kind }) => kind === 'person' || outcome.thumbprint !== null),
  }
  const seen = { ...progress, verification }
  const isMiss = outcome.kind === 'miss' || outcome.kind === 'other_face'
  // Before anything is said of the face: while a network or a named person has to wait, a hit and a miss look alike.
  const waits = await deps.lockouts.holdWaitOf(tx, session, verification.subjects)
  // Of many at once the first five count.
  const { before: waited, progress: known } =
    isMiss && waits === 0
      ? await countOnce(deps.lockouts, tx, { session, progress: seen }, 'FACE_NOT_MATCH')
      : { before: waits, progress: seen }
  if (waited > 0) return locked(session, known, waited)
  if (outcome.kind === 'unproven') return vectorNeeded(session, known)
  if (outcome.kind === 'unknown') return failed(session, known, 'USER_NOT_ENROLLED')
  if (outcome.kind === 'unusable') return missed(session, known, { told: 'NO_FACE', last: 'NO_FACE' })
  if (isMiss) {
    const last = session.request.type === 'SIGN-IN' ? 'USER_NOT_ENROLLED' : 'FACE_NOT_MATCH'
    return missed(session, known, { told: 'FACE_NOT_MATCH', last })
  }
  if (outcome.kind === 'enrolled') {
    // Deleted since, with the session that had made them: the next try makes them anew.
    if (!(await deps.work.hold(session, outcome.person.puid, tx)))
      return missed(session, known, { told: 'INTERNAL', last: 'INTERNAL' })
    const notes: SessionCodeName[] = outcome.isNew ? [] : ['ALREADY_ENROLLED']
    const person = { ...outcome.person, matchedBy: 'server' as const }
    if (outcome.isNew || !verification.credential) return reached(session, known, { person, notes })
    const own = await deps.passkeys.findForPerson(tx, session, person.puid)
    if (own.length === 0) return failed(session, known, 'PASSKEY_FAILED')
    const state = nextState(session, 'passkey_needed')
    return { state, progress: withVerification(known, { person, notes, vector: null }) }
  }
  if (!(await deps.work.hold(session, outcome.person.puid, tx))) return failed(session, known, 'USER_NOT_ENROLLED')
  const person = { ...outcome.person, matchedBy: outcome.by }
  if (!session.request.requirements.includes('passkey')) return reached(session, known, { person })
  const credentials = await deps.passkeys.findForPerson(tx, session, person.puid)
  if (credentials.length === 0) return failed(session, known, 'PASSKEY_FAILED')
  const state = nextState(session, 'passkey_needed')
  return { state, progress: withVerification(known, { person, vector: null, claim: null }) }
}
