import { PASSKEY_LIMITS, type PasskeyOptions, SESSION_CODES, VERIFICATION_LIMITS } from '@ostiary/contract'
import type { Counters, Passkeys } from '../passkeys/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import {
  type InTransaction,
  nextState,
  notAtThisStep,
  type ReplyingStep,
  type RunningSession,
  type Sessions,
  type Step,
} from '../sessions/index.ts'
import { type OwnProgress, verificationOf, withVerification } from './progress.ts'
import { failed, graceForWork, succeeded } from './steps.ts'
import {
  type RunningVerification,
  type VerificationSession,
  type VerificationStep,
  verificationSessionsIn,
} from './types.ts'

/** The passkey step as `launch` calls it, for sessions of any area. Throws when the session is not at this step. */
export interface PasskeySteps {
  /** What to ask the authenticator for. */
  options(session: RunningSession): InTransaction<ReplyingStep<PasskeyOptions>>
  /** Checks the authenticator's answer. */
  verify(session: RunningSession, response: unknown): InTransaction<Step>
  /** The authenticator or the user refused. */
  failed(session: RunningSession): Step
}

interface Deps {
  sessions: Sessions
  passkeys: Passkeys
  clock: Clock
}

export function createPasskeySteps({ sessions, passkeys, clock }: Deps): PasskeySteps {
  const { isOwn } = verificationSessionsIn(sessions)

  function atPasskeyStep(session: RunningSession): RunningVerification {
    if (session.state !== 'PASSKEY_ACTIVE' || !isOwn(session)) throw notAtThisStep()
    return session
  }

  return {
    options(session) {
      const call = { session: atPasskeyStep(session), now: clock.now() }
      return { inTransaction: (tx) => passkeyOptions(passkeys, tx, call) }
    },
    verify(session, response) {
      const call = { session: atPasskeyStep(session), now: clock.now() }
      return { inTransaction: (tx) => verifyPasskey(passkeys, tx, call, response) }
    },
    failed(session) {
      const running = atPasskeyStep(session)
      return passkeyFailed(running, running.progress)
    },
  }
}

interface PasskeyCall {
  session: RunningVerification
  now: Date
}

async function passkeyOptions(
  passkeys: Passkeys,
  tx: Queryable,
  { session, now }: PasskeyCall,
): Promise<ReplyingStep<PasskeyOptions>> {
  const { request, progress } = session
  const { person } = verificationOf(progress)
  const begin = (challenge: string, counters: Counters, reply: PasskeyOptions) => {
    const passkey = { challenge, expiresAtMs: now.getTime() + PASSKEY_LIMITS.answerMs, counters }
    return { state: session.state, progress: withVerification(progress, { passkey }), reply }
  }
  if (request.type === 'ENROLL' && !person) {
    const userName = maskedEmail(request.contactInformation?.email) ?? passkeys.rpId
    const rpName = request.policy.brandName ?? passkeys.rpId
    const { options, challenge } = passkeys.registrationOptions({ rpName, userName })
    return begin(challenge, {}, { mode: 'create', options: { ...options } })
  }
  const credentials = person ? await passkeys.findForPerson(tx, session, person.puid) : []
  const counters = person ? await passkeys.countersOf(tx, session, person.puid) : {}
  const { options, challenge } = passkeys.authenticationOptions({ credentials })
  return begin(challenge, counters, { mode: 'get', options: { ...options } })
}

async function verifyPasskey(
  passkeys: Passkeys,
  tx: Queryable,
  { session, now }: PasskeyCall,
  response: unknown,
): Promise<VerificationStep> {
  const { progress } = session
  const { passkey, person } = verificationOf(progress)
  // One answer for each challenge, whatever it is worth.
  const asked = withVerification(progress, { passkey: null })
  if (!passkey || now.getTime() > passkey.expiresAtMs) {
    const refuse = new AppError('conflict', 'CHALLENGE_NOT_VALID', 'There is no passkey challenge under way')
    return { state: session.state, progress: asked, refuse }
  }
  const { challenge, counters = {} } = passkey
  if (session.request.type === 'ENROLL' && !person) {
    const verdict = await passkeys.verifyRegistration({ response, challenge })
    if (!verdict.ok) return passkeyFailed(session, asked)
    const known = withVerification(asked, { credential: verdict.credential })
    return { state: nextState(session, 'finalize'), progress: known, dueAt: graceForWork(session, now) }
  }
  if (!person) throw new Error('The passkey step comes after the face')
  const { puid } = person
  const verdict = await passkeys.verifyAuthentication(tx, { response, challenge, counters, owner: session, puid })
  if (!verdict.ok) return passkeyFailed(session, asked)
  const matchedBy = person.matchedBy === 'local' ? 'local+passkey' : 'server+passkey'
  return succeeded(session, asked, { person: { ...person, matchedBy }, passkeyShown: true })
}

function passkeyFailed(session: VerificationSession, progress: OwnProgress): VerificationStep {
  const passkeyTries = verificationOf(progress).passkeyTries + 1
  const tried = withVerification(progress, { passkeyTries, passkey: null })
  if (passkeyTries >= VERIFICATION_LIMITS.passkeyAttempts) return failed(session, tried, 'PASSKEY_FAILED')
  const state = nextState(session, 'retry')
  return { state, progress: tried, errors: [SESSION_CODES.PASSKEY_FAILED.code] }
}

/** The owner recognises it. Anyone who opens the launch URL first can read it, so it is masked. */
function maskedEmail(email: string | undefined): string | undefined {
  const [, first, host] = /^(.)[^@]*@([^@]+)$/.exec(email ?? '') ?? []
  return first && host && `${first}…@${host}`
}
