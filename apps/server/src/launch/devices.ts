import { createHash } from 'node:crypto'
import { chooseLocale, LAUNCH_LIMITS, type OpenBody, SESSION_CODES } from '@ostiary/contract'
import { emptyLog, isDesktop } from '../capture-checks/index.ts'
import { AppError } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type BoundDevice,
  canHappen,
  type HandoffNumber,
  newProgress,
  nextState,
  type Progress,
  type Role,
  type Session,
  type SessionState,
  type Step,
  withFlags,
} from '../sessions/index.ts'
import { badProof, type DeviceFacts } from './call.ts'
import { noted } from './step.ts'

const CLOCK_SKEW_MS = 5 * 60_000

interface Opening {
  body: OpenBody
  about: DeviceFacts
  now: Date
}

/** Only a hash is kept: a reader of the database cannot take a session over. */
export function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/** Which role a device gets that opens the launch URL, and what that does to the session. */
export function bindDevice(
  session: Session,
  device: BoundDevice,
  opening: Opening,
): { role: Role; step: Step; progress: Progress } {
  const before = withSkew(session.progress ?? firstProgress(session, opening), opening)
  const answer = (role: Role, step: Step) => ({ role, step, progress: step.progress })
  const role = roleOf(before, device.thumbprint)
  if (role) {
    refuseRepeat(before[role], device)
    return answer(role, resume(session, { ...before, [role]: device }, role))
  }
  if (opening.body.handoffCode !== undefined) return answer('holder', takeOver(session, before, device, opening))
  if (before.holder || before.viewer) return answer('viewer', refuseStranger(session, before))
  const { userAgent, secChUaMobile } = opening.about
  const desktop = isDesktop({ userAgent, secChUaMobile, claimed: opening.body.platform })
  // A desktop that could only wait for a handoff is not bound: the same link still works on a phone.
  if (desktop && !session.request.enableDesktop && session.request.handoff === 'forbidden') {
    const refuse = refused('This session cannot be handed over: open it on a phone')
    return answer('viewer', { state: session.state, progress: before, refuse })
  }
  if (!desktop || session.request.enableDesktop) {
    return answer('holder', { state: nextState(session, 'open'), progress: { ...before, holder: device } })
  }
  const waiting = noted({ ...before, viewer: device, desktop: true }, 'DESKTOP')
  return answer('viewer', {
    state: nextState(session, 'open_on_desktop'),
    progress: waiting,
    errors: [SESSION_CODES.DESKTOP.code],
  })
}

function firstProgress({ request }: Session, { body, about }: Opening): Progress {
  return newProgress(
    chooseLocale({
      locale: request.locale ?? body.locale,
      acceptLanguage: about.acceptLanguage,
      tenantDefault: request.policy.defaultLocale,
    }),
  )
}

/** A device that opens the session for the first time has just loaded the page, so it has the page of this release. */
export function withPage(device: BoundDevice, progress: Progress | null): BoundDevice {
  const role = progress ? roleOf(progress, device.thumbprint) : undefined
  const tellsCamera = !progress || !role || progress[role]?.tellsCamera
  return tellsCamera ? { ...device, tellsCamera } : device
}

export function roleOf({ holder, viewer }: Progress, thumbprint: string): Role | undefined {
  if (holder?.thumbprint === thumbprint) return 'holder'
  return viewer?.thumbprint === thumbprint ? 'viewer' : undefined
}

/** An open call is good for one time like every other: sent again, it would set the counter back for all that came since. */
export function refuseRepeat(known: BoundDevice | null, { counter }: BoundDevice): void {
  if (known && counter <= known.counter) throw badProof('counter')
}

/** A page was loaded again. Its step starts again, without the challenge that was issued. */
function resume(session: Session, progress: Progress, role: Role): Step {
  if (role === 'viewer') {
    const errors = progress.desktop && !progress.holder ? [SESSION_CODES.DESKTOP.code] : []
    return { state: session.state, progress, errors }
  }
  const state = canHappen(session, 'open') ? nextState(session, 'open') : session.state
  const attempt = state === session.state ? progress.attempt : attemptOnLeaving(session, progress)
  return { state, progress: { ...progress, attempt, challenge: null } }
}

/** The answer of the first device's user, and what was kept by it, do not count for another device. */
const WITHOUT_CONSENT = { consent: null, conditions: null } as const

/** The second device. The first one watches from now on; the code is used up. */
function takeOver(session: Session, before: Progress, device: BoundDevice, { body, about, now }: Opening): Step {
  const { handoff } = before
  const isRight = handoff !== null && hashCode(body.handoffCode ?? '') === handoff.codeHash
  if (!isRight) {
    const shared = withFlags(before, [{ code: 'HO_LINK_SHARED' }])
    return { state: session.state, progress: shared, refuse: refused('This handoff code is not valid') }
  }
  if (now.getTime() > handoff.expiresAtMs) {
    const late = noted({ ...before, handoff: null }, 'HANDOFF_EXPIRED')
    return { state: session.state, progress: late, refuse: refused('This handoff code has expired') }
  }
  const { userAgent, secChUaMobile } = about
  const desktop = isDesktop({ userAgent, secChUaMobile, claimed: body.platform })
  if (desktop && !session.request.enableDesktop) {
    return { state: session.state, progress: before, refuse: refused('Desktops are not allowed; use a phone') }
  }
  const progress = {
    ...before,
    holder: device,
    viewer: before.viewer ?? before.holder,
    handoff: null,
    handoffs: before.handoffs + 1,
    number: handoff.number ?? null,
    matched: null,
    desktop: false,
    challenge: null,
    // The user is asked again, on the other device.
    ...WITHOUT_CONSENT,
    // A log belongs to one device.
    log: emptyLog(),
  }
  return { state: nextState(session, 'handoff_opened'), progress }
}

function refuseStranger(session: Session, before: Progress): Step {
  const progress = noted(withFlags(before, [{ code: 'BH_DEVICE_SWITCH' }]), 'DEVICE_MISMATCH')
  const refuse = new AppError('forbidden', 'DEVICE_MISMATCH', 'The session is open on another device')
  return { state: session.state, progress, refuse }
}

export function newHandoff(
  session: Session,
  progress: Progress,
  handoff: NonNullable<Progress['handoff']>,
  now: Date,
): Step {
  if (session.request.handoff === 'forbidden') throw refused('This session cannot be handed over')
  if (progress.handoffs >= LAUNCH_LIMITS.handoffs) throw refused('The session was handed over twice already')
  // A page that is left open makes one code after another for as long as the session lives: expired codes do not count.
  const codes = progress.handoff && progress.handoff.expiresAtMs < now.getTime() ? 0 : progress.codes
  if (codes >= LAUNCH_LIMITS.handoffCodes) throw refused('Too many handoff codes')
  const state: SessionState = nextState(session, 'handoff_asked')
  const attempt = attemptOnLeaving(session, progress)
  const waiting = { ...progress, handoff, codes: codes + 1, attempt, challenge: null }
  // The device that asks releases the session: until the code is used, no device holds it. A second device that made a code may continue
  // by itself, and has no part in the session once the code is used: the first device stays the viewer.
  return {
    state,
    progress: {
      ...waiting,
      viewer: progress.viewer ?? progress.holder,
      holder: progress.viewer ? progress.holder : null,
    },
  }
}

/**
 * The face step is done, and the device with the passkey or the document has to repeat it: that must not exceed the tries. Passkeys and
 * documents have tries of their own. An age check keeps the result of its face step.
 */
function attemptOnLeaving({ area, state }: Session, { attempt }: Progress): number {
  const isRepeated = state === 'PASSKEY_ACTIVE' || (state === 'DOC_ACTIVE' && area === 'verification')
  return isRepeated ? Math.min(attempt, LAUNCH_LIMITS.attempts - 1) : attempt
}

/** The device that made a code continues by itself, or the first device does. A device that may not run the flow cannot take it back. */
export function takeBack(session: Session, progress: Progress, role: Role): Step {
  const { viewer } = progress
  const restarted = {
    ...progress,
    handoff: null,
    challenge: null,
    ...WITHOUT_CONSENT,
    attempt: attemptOnLeaving(session, progress),
    log: emptyLog(),
  }
  if (role === 'holder' && session.state === 'HANDOFF_WAIT')
    return { state: nextState(session, 'handoff_opened'), progress: restarted }
  // The reply to its first call was lost: it holds the session already, and has sent nothing since.
  const hasItBack = role === 'holder' && progress.codes > 0 && progress.log.seq === 0
  if (hasItBack) return { state: session.state, progress }
  if (role !== 'viewer') throw otherHolds()
  if (!viewer || isBarred(progress)) throw refused('This device may not run the flow')
  const waiting = session.state === 'HANDOFF_WAIT' ? session.state : nextState(session, 'handoff_asked')
  const state = nextState({ ...session, state: waiting }, 'handoff_opened')
  return {
    state,
    progress: { ...restarted, holder: viewer, viewer: null, number: null, matched: null },
    role: 'holder',
  }
}

/** The number for a code that the device in this role makes. */
export function newNumber(
  randomBytes: Ids['randomBytes'],
  { holder, viewer, matched }: Progress,
  role: Role,
): HandoffNumber {
  // The modulo bias is negligible.
  const random = Buffer.from(randomBytes(4)).readUInt32BE(0)
  const isFirstDevice = role === 'viewer' || viewer === null
  return {
    digits: String(random % 100).padStart(2, '0'),
    isOfFirstUser: isFirstDevice || (holder !== null && holder.thumbprint === matched),
  }
}

/**
 * The number that the user has read on the first screen. A wrong one voids the handoff: the person at the second device was sent
 * the code by somebody else, or has mistyped and scans a new code.
 */
export function enterNumber(session: Session, progress: Progress, number: string): Step {
  const { state } = session
  // The reply to the right number was lost, and the number comes again.
  if (!progress.number) return { state, progress }
  const { digits, isOfFirstUser } = progress.number
  if (number === digits) {
    const matched = isOfFirstUser ? (progress.holder?.thumbprint ?? null) : null
    return { state, progress: { ...progress, number: null, matched } }
  }
  const released = {
    ...progress,
    holder: null,
    number: null,
    challenge: null,
    desktop: isBarred(progress),
    log: emptyLog(),
  }
  return {
    state: nextState(session, 'handoff_asked'),
    progress: noted(released, 'HANDOFF_EXPIRED', NUMBER_MISMATCH),
    refuse: refused('This is not the number on the first screen'),
  }
}
const NUMBER_MISMATCH = 'number_mismatch'

/** Whether the first device has to make a new code, because a wrong number was sent for the last one. */
export function isCodeVoid({ state }: Pick<Session, 'state'>, { holder, handoff, failures }: Progress): boolean {
  const isWaitingForNobody = state === 'HANDOFF_WAIT' && holder === null && handoff === null
  return isWaitingForNobody && failures.some(({ reason }) => reason === NUMBER_MISMATCH)
}

/** Whether the first device is a desktop that may only watch. It stays one after a phone has taken over. */
function isBarred({ failures }: Progress): boolean {
  return failures.some(({ name }) => name === 'DESKTOP')
}

function withSkew(progress: Progress, { body, now }: Opening): Progress {
  const skewed = Math.abs(body.clientTime - now.getTime()) > CLOCK_SKEW_MS
  return skewed ? withFlags(progress, [{ code: 'BH_CLOCK_SKEW' }]) : progress
}

export const otherHolds = () => new AppError('forbidden', 'DEVICE_MISMATCH', 'Another device holds the session')

function refused(message: string): AppError {
  return new AppError('conflict', 'HANDOFF_REFUSED', message)
}
