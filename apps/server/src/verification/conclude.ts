import type { Passkeys } from '../passkeys/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { type Concluded, documentOf, type FlowEnd } from '../sessions/index.ts'
import { KEY_HOLDER_RETRY_SECONDS } from './apply-comparison.ts'
import { bindsKeys } from './bound.ts'
import { clearedBy, isCounted, waitAfter } from './counting.ts'
import type { VerificationEnding } from './ending.ts'
import type { LocalKeys } from './local-keys.ts'
import type { Lockouts } from './lockouts.ts'
import { tokenReasonsOf, verificationOf } from './progress.ts'
import { confirmPerson } from './provisional-persons.ts'
import { sandboxEnd } from './sandbox-end.ts'
import type { VerificationEnd, VerificationSession } from './types.ts'
import { blocks } from './webhook-body.ts'
import type { Work } from './work.ts'

interface Deps {
  clock: Clock
  ending: VerificationEnding
  work: Work
  passkeys: Passkeys
  localKeys: LocalKeys
  lockouts: Lockouts
}

/** Ends a session with everything that belongs to the end: the keys of an enrolment, and what the lockout remembers. */
export async function conclude(
  deps: Deps,
  tx: Queryable,
  session: VerificationSession,
  end: FlowEnd,
): Promise<Concluded> {
  const requestedEnd = endOf(session, end, deps.clock.now())
  // A simulated person is not enrolled, so there is nobody to check and nothing to bind.
  const actualEnd =
    end.how === 'reached'
      ? await bindKeys(deps, tx, session, await whileEnrolled(deps.work, tx, session, requestedEnd))
      : requestedEnd
  if (end.how === 'reached' && actualEnd.state === 'SUCCESS' && !blocks(session.request, session.progress))
    await deps.work.bindSuccessor(tx, session, actualEnd.person.puid, verificationOf(session.progress))
  const counts = isCounted(session, end)
  const waitSeconds =
    counts && actualEnd.state === 'FAILED' ? await waitAfter(deps.lockouts, tx, session, actualEnd) : 0
  // The webhook of the failure says how long the next try has to wait.
  const reportedEnd = waitSeconds > 0 ? { ...actualEnd, retryAfterSeconds: waitSeconds } : actualEnd
  const concluded = await deps.ending.conclude(tx, session, reportedEnd)
  if (concluded.state === 'SUCCESS' && reportedEnd.state === 'SUCCESS') {
    if (end.how === 'reached') await confirm(deps, tx, session, reportedEnd.person.puid)
    if (counts) await forgetFailures(deps, tx, session)
  }
  return concluded
}

function endOf({ tenantId, request, progress }: VerificationSession, end: FlowEnd, now: Date): VerificationEnd {
  if (end.how === 'cancelled') return { state: 'CANCELLED', code: end.code }
  if (end.how === 'expired') return { state: 'EXPIRED' }
  if (end.how === 'simulated') return sandboxEnd(request.sandbox ?? 'success', { tenantId, request }, now)
  if (end.how === 'failed') {
    const { failures } = end
    const isAway = tokenReasonsOf(progress).some(({ reason }) => reason === 'key_holder')
    const retryAfterSeconds = end.retryAfterSeconds ?? (isAway ? KEY_HOLDER_RETRY_SECONDS : undefined)
    return { state: 'FAILED', failures, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  const { person, estimateYears, selfie, notes } = verificationOf(progress)
  const { read } = documentOf(progress)
  if (!person) throw new Error('A session succeeds only with a person')
  return {
    state: 'SUCCESS',
    person: { puid: person.puid, guid: person.guid },
    ...(request.type !== 'ENROLL' && { matchedBy: person.matchedBy }),
    ...(estimateYears !== null && { estimatedAge: Math.floor(estimateYears) }),
    notes,
    ...(read && { document: read.record }),
    ...(selfie !== null && { selfie }),
  }
}

/** The host, or the session that created the person, may have deleted them since they were recognised: then the session fails. */
async function whileEnrolled(
  work: Work,
  tx: Queryable,
  session: VerificationSession,
  end: VerificationEnd,
): Promise<VerificationEnd> {
  if (end.state !== 'SUCCESS' || (await work.lockIfEnrolled(session, end.person.puid, tx))) return end
  return { state: 'FAILED', failures: [session.request.type === 'ENROLL' ? 'INTERNAL' : 'USER_NOT_ENROLLED'] }
}

/** ENROLL: binds the keys of the browser and of the authenticator to the person. A passkey that cannot be kept is a failure. */
async function bindKeys(
  { passkeys, localKeys }: Deps,
  tx: Queryable,
  session: VerificationSession,
  end: VerificationEnd,
): Promise<VerificationEnd> {
  const { request, progress } = session
  if (request.type !== 'ENROLL' || end.state !== 'SUCCESS' || !progress?.own) return end
  const { credential, localKey } = progress.own
  if (blocks(request, progress) || !bindsKeys(progress.own)) return end
  if (credential) {
    const kept = await passkeys.insert(tx, session, end.person.puid, credential)
    if (!kept.ok) return { state: 'FAILED', failures: ['PASSKEY_FAILED'] }
  }
  if (localKey) await localKeys.bind(tx, session, end.person.puid, localKey)
  return end
}

/** Another session may have created this person and may still fail. The host knows them now, so that must not delete them. */
async function confirm({ clock }: Deps, tx: Queryable, session: VerificationSession, puid: string): Promise<void> {
  if (puid !== verificationOf(session.progress).newPersonId) await confirmPerson(tx, session, puid, clock.now())
}

/** A success: what the lockout remembers of the person and of their browser. */
async function forgetFailures({ lockouts, localKeys }: Deps, tx: Queryable, session: VerificationSession) {
  const own = verificationOf(session.progress)
  // Takes the rows in the order in which a failure takes them: two sessions with the same subjects must not deadlock.
  await lockouts.lockRowsAndGetWait(tx, session, own.subjects)
  await lockouts.clear(tx, session, clearedBy(session, own))
  if (own.counted.length > 0) await lockouts.recordSecondTry(tx, session, own)
  if (own.localThumbprint !== null) await localKeys.used(tx, session, own.localThumbprint)
}
