import { SESSION_CODES, VERIFICATION_LIMITS } from '@ostiary/contract'
import { type Counters, PASSKEY_LIMITS, type Passkeys } from '../passkeys/index.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { nextState, type PasskeyStep, type Progress, type Step } from '../sessions/index.ts'
import { failed, reached, verificationOf, withVerification } from './steps.ts'
import type { VerificationSession } from './types.ts'

interface PasskeyCall {
  session: VerificationSession
  progress: Progress
  now: Date
}

export async function passkeyOptions(passkeys: Passkeys, tx: Queryable, call: PasskeyCall): Promise<PasskeyStep> {
  const { session, progress, now } = call
  const { request } = session
  const { person } = verificationOf(progress)
  const begin = (challenge: string, counters: Counters = {}): Step => {
    const passkey = { challenge, expiresAtMs: now.getTime() + PASSKEY_LIMITS.answerMs, counters }
    return { state: session.state, progress: withVerification(progress, { passkey }) }
  }
  if (request.type === 'ENROLL' && !person) {
    const userName = maskedEmail(request.contactInformation?.email) ?? passkeys.rpId
    const rpName = request.policy.brandName ?? passkeys.rpId
    const { options, challenge } = passkeys.registrationOptions({ rpName, userName })
    return { step: begin(challenge), asked: { mode: 'create', options: { ...options } } }
  }
  const credentials = person ? await passkeys.findForPerson(tx, session, person.puid) : []
  const counters = person ? await passkeys.countersOf(tx, session, person.puid) : {}
  const { options, challenge } = passkeys.authenticationOptions({ credentials })
  return { step: begin(challenge, counters), asked: { mode: 'get', options: { ...options } } }
}

export async function verifyPasskey(
  passkeys: Passkeys,
  tx: Queryable,
  { session, progress, response, now }: PasskeyCall & { response: unknown },
): Promise<Step> {
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
    const state = nextState(session, 'finalize')
    return { state, progress: withVerification(asked, { credential: verdict.credential }) }
  }
  if (!person) throw new Error('The passkey step comes after the face')
  const { puid } = person
  const verdict = await passkeys.verifyAuthentication(tx, { response, challenge, counters, owner: session, puid })
  if (!verdict.ok) return passkeyFailed(session, asked)
  const matchedBy = person.matchedBy === 'local' ? 'local+passkey' : 'server+passkey'
  return reached(session, asked, { person: { ...person, matchedBy }, passkeyShown: true })
}

export function passkeyFailed(session: VerificationSession, progress: Progress): Step {
  const passkeyTries = verificationOf(progress).passkeyTries + 1
  const tried = withVerification(progress, { passkeyTries, passkey: null })
  if (passkeyTries >= VERIFICATION_LIMITS.passkeyAttempts) return failed(session, tried, 'PASSKEY_FAILED')
  const state = nextState(session, 'retry')
  return { state, progress: tried, errors: [SESSION_CODES.PASSKEY_FAILED.code] }
}

/** Enough to be recognised by whom it belongs to. Whoever holds the launch URL first reads it. */
function maskedEmail(email: string | undefined): string | undefined {
  const [, first, host] = /^(.)[^@]*@([^@]+)$/.exec(email ?? '') ?? []
  return first && host && `${first}…@${host}`
}
