import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Challenge,
  type Handoff,
  LAUNCH_LIMITS,
  type LaunchEvent,
  type LaunchState,
  type OpenBody,
  type OpenedSession,
} from '@ostiary/contract'
import { createSealKeyPair } from '@ostiary/crypto'
import type { AgeRequest, Ending } from '../age/index.ts'
import { appendEvents, createChallenge } from '../capture/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type FinalState,
  isFinal,
  isPurged,
  newProgress,
  nextState,
  type Progress,
  type SessionEvent,
  type Sessions,
  withFlags,
} from '../sessions/index.ts'
import { embedOriginsFor, type Settings } from '../settings/index.ts'
import { type AgeSession, type DeviceCall, identify, newDevice, type Role, stateOf } from './call.ts'
import { bindDevice, hashCode, newHandoff, roleOf, takeBack } from './devices.ts'
import { reportedFailure, type Step } from './step.ts'
import { judgeSubmit } from './submit.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  ending: Ending
  clock: Clock
  ids: Ids
  launchUrl: string
}

/** What opening tells of the session itself; how the page is to look is the tenant's, and added to it. */
type Bound = Omit<OpenedSession, 'brand' | 'embedOrigins'>

/** What the request says about the device beside its body. */
export interface DeviceFacts {
  userAgent: string | undefined
  secChUaMobile: string | undefined
  acceptLanguage: string | undefined
}

/** A device that follows the states of its session. */
export interface Watcher {
  role: Role
  thumbprint: string
}

export const CONSENT_VERSION = '1'

/** The launch page's side of a session. Every call is one transaction on the session's row; a device is never trusted. */
export function createLaunch({ sessions, settings, ending, clock, ids, launchUrl }: Deps) {
  /** Ends, saves or refuses, as the step decided. What was learnt from a refused call is kept. */
  async function settle(tx: Queryable, session: AgeSession, role: Role, step: Step): Promise<LaunchState> {
    const told = { role: step.role ?? role, errors: step.errors }
    if (step.end) {
      const state = await ending.conclude(tx, session, step.progress, step.end)
      return stateOf(session, state, step.progress, told)
    }
    const progress = { state: step.state, progress: step.progress, ...(step.dueAt && { dueAt: step.dueAt }) }
    await sessions.save(tx, session, progress)
    return stateOf(session, step.state, step.progress, told)
  }

  async function locked<T>(
    sessionId: string,
    work: (tx: Queryable, session: AgeSession) => Promise<T | AppError>,
  ): Promise<T> {
    const outcome = await sessions.whileLocked<T | AppError>(sessionId, async (tx, found) => {
      if (isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
      const session = found as AgeSession
      if (session.endedAt === null && clock.now() > session.dueAt) {
        const state = await ending.conclude(tx, session, session.progress, { flow: 'EXPIRED' })
        // The call meets what the sweeper would have left: a page that comes late is told where to go on.
        return work(tx, { ...session, state, progress: null, endedAt: clock.now() })
      }
      return work(tx, session)
    })
    if (outcome === undefined) throw new AppError('not_found', 'NOT_FOUND', 'There is no session with this id')
    // Thrown here and not inside: what the call taught us is committed, and then it is refused.
    if (outcome instanceof AppError) throw outcome
    return outcome
  }

  /** One signed call of the session's holder, or of its viewer where that is allowed. */
  function step(
    call: DeviceCall,
    who: Role | 'either',
    decide: (session: AgeSession, progress: Progress) => Step | Promise<Step>,
  ) {
    return locked<LaunchState>(call.sessionId, async (tx, session) => {
      if (isFinal(session.state)) return ended(session.state)
      const { role, progress } = await authenticate(call, session)
      const isAllowed = who === 'either' || role === who
      const decided = await orRefuse(session, progress, isAllowed ? decide : refuseOther)
      const state = await settle(tx, session, role, decided)
      return decided.refuse ?? state
    })
  }

  const refuseOther = (): Step => {
    throw new AppError('forbidden', 'DEVICE_MISMATCH', 'Another device holds the session')
  }

  /** A refused call is used up like any other: nobody can keep it and send it again when it would be taken. */
  async function orRefuse(
    session: AgeSession,
    progress: Progress,
    decide: (session: AgeSession, progress: Progress) => Step | Promise<Step>,
  ): Promise<Step> {
    try {
      return await decide(session, progress)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { state: session.state, progress, refuse: error }
    }
  }

  async function authenticate(call: DeviceCall, session: AgeSession): Promise<{ role: Role; progress: Progress }> {
    if (!session.progress)
      throw new AppError('unauthenticated', 'INVALID_DEVICE_PROOF', 'The session is not open on a device')
    const { role, device } = await identify(call, session.progress)
    return { role, progress: { ...session.progress, [role]: device } }
  }

  async function get(sessionId: string): Promise<AgeSession> {
    const found = await sessions.find(sessionId)
    if (!found || isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
    return found as AgeSession
  }

  const move = (session: AgeSession, event: SessionEvent) => nextState(session.state, event)

  /** An ended session says that it has ended to whoever has its launch URL: where to go on, and no result. */
  async function describeEnded(call: DeviceCall, body: OpenBody, session: AgeSession): Promise<Bound> {
    await newDevice(call, body.deviceKey)
    const progress = newProgress(session.request.policy.defaultLocale)
    const { publicJwk } = await createSealKeyPair()
    return {
      ...stateOf(session, session.state, progress, { role: 'viewer' }),
      ...facts(session, progress),
      sealKey: publicJwk,
    }
  }

  const facts = ({ request }: AgeSession, progress: Progress) => ({
    requirements: [...request.requirements],
    locale: progress.locale,
    consentVersion: CONSENT_VERSION,
  })

  /** A test session with an outcome in its metadata needs no person. */
  async function playSandbox(sessionId: string, request: AgeRequest): Promise<void> {
    if (!request.sandbox) return
    const { delayMs } = request.sandbox
    if (delayMs > 0) await sleep(delayMs)
    await locked(sessionId, async (tx, session) => {
      if (!isFinal(session.state))
        await ending.conclude(tx, session, session.progress, { flow: 'COMPLETED', wish: request.sandbox })
      return null
    })
  }

  async function open(call: DeviceCall, body: OpenBody, about: DeviceFacts) {
    return locked<{ session: AgeSession; bound: Bound }>(call.sessionId, async (tx, session) => {
      if (isFinal(session.state)) return { session, bound: await describeEnded(call, body, session) }
      const device = await newDevice(call, body.deviceKey)
      const opening = bindDevice(session, device, { body, about, now: clock.now() })
      const sealKey = opening.progress.sealKey ?? (await createSealKeyPair()).privateJwk
      const progress = { ...opening.progress, sealKey }
      const state = await settle(tx, session, opening.role, { ...opening.step, progress })
      if (opening.step.refuse) return opening.step.refuse
      const { d: _secret, ...publicKey } = sealKey
      return { session, bound: { ...state, ...facts(session, progress), sealKey: publicKey } }
    })
  }

  /** The tenant's wishes of today, not those of the session's creation: a new logo is for everybody. */
  async function lookOf({ tenantId, livemode }: AgeSession): Promise<Pick<OpenedSession, 'brand' | 'embedOrigins'>> {
    const { brand, embedOrigins } = await settings.get(tenantId)
    return { brand, embedOrigins: embedOriginsFor(embedOrigins, livemode) }
  }

  return {
    async open(call: DeviceCall, body: OpenBody, about: DeviceFacts): Promise<OpenedSession> {
      const { session, bound } = await open(call, body, about)
      // After the transaction: the settings may need a connection of their own.
      const opened = { ...bound, ...(await lookOf(session)) }
      const { request, livemode } = session
      if (livemode || !request.sandbox || opened.flowStatus !== null || opened.role === 'viewer') return opened
      await playSandbox(call.sessionId, request)
      return { ...opened, ...(await this.stateFor(call.sessionId, opened.role)) }
    },

    /** Where a flow stands, for a device that has shown who it is. */
    async stateFor(sessionId: string, role: Role): Promise<LaunchState> {
      const session = await get(sessionId)
      return stateOf(session, session.state, session.progress ?? newProgress('en'), { role })
    },

    /** The same for one that watches: what it is may change meanwhile. Undefined when the session was taken from it. */
    async findStateFor(sessionId: string, { role, thumbprint }: Watcher): Promise<LaunchState | undefined> {
      const session = await get(sessionId)
      const { progress } = session
      const current = progress ? roleOf(progress, thumbprint) : role
      return current && stateOf(session, session.state, progress ?? newProgress('en'), { role: current })
    },

    consent: (call: DeviceCall, answer: { accepted: boolean; version: string; locale: string }) =>
      step(call, 'holder', (session, progress) => {
        const consent = { version: answer.version, locale: answer.locale, atMs: clock.now().getTime() }
        if (!answer.accepted) {
          move(session, 'consent_declined')
          return { state: session.state, progress, errors: [-18], end: { flow: 'CANCELLED', code: 'CONSENT_DECLINED' } }
        }
        const ready = move(session, 'consent_given')
        const documentFirst = session.request.requirements[0] === 'identity_document'
        const state = documentFirst ? nextState(ready, 'document_needed') : ready
        return { state, progress: { ...progress, consent } }
      }),

    /** Begins a try of the face step. The reply of the last one, when none are left, is the end of the flow. */
    async challenge(call: DeviceCall): Promise<Challenge> {
      let issued: Challenge | undefined
      await step(call, 'holder', (session, progress) => {
        const state = move(session, 'camera_ready')
        const attempt = progress.attempt + 1
        if (attempt > LAUNCH_LIMITS.attempts) {
          const refuse = new AppError('conflict', 'SESSION_NOT_OPEN', 'All tries are used up')
          return { state, progress, refuse, end: { flow: 'COMPLETED', failures: ['ATTEMPTS_EXCEEDED'] } }
        }
        const nowMs = clock.now().getTime()
        const expiresAtMs = nowMs + LAUNCH_LIMITS.challengeSeconds * 1000
        const made = createChallenge(ids.randomBytes, session.request.pinned ?? undefined)
        const nonce = Buffer.from(ids.randomBytes(24)).toString('base64url')
        issued = { ...made, nonce, attempt, expiresAt: new Date(expiresAtMs).toISOString() }
        const challenge = { ...made, nonce, expiresAtMs, submits: 0 }
        return { state, progress: { ...progress, attempt, challenge }, dueAt: ending.graceFor(session, expiresAtMs) }
      })
      if (!issued) throw new Error('A challenge was neither issued nor refused')
      return issued
    },

    events: (call: DeviceCall, events: readonly LaunchEvent[]) =>
      step(call, 'holder', (session, progress) => {
        const { log, flags } = appendEvents(progress.log, events, { maxEvents: LAUNCH_LIMITS.events })
        const raised = flags.map((code) => ({ code }))
        return { state: session.state, progress: withFlags({ ...progress, log, behaviour: true }, raised) }
      }),

    submit: (call: DeviceCall, sealed: string) =>
      step(call, 'holder', (session, progress) => judgeSubmit({ session, progress, sealed, now: clock.now() })),

    failure: (call: DeviceCall, { code, reason }: { code: number; reason?: string }) =>
      step(call, 'holder', (session, progress) => reportedFailure(session, progress, code, reason)),

    cancel: (call: DeviceCall) =>
      step(call, 'either', (session, progress) => {
        move(session, 'user_cancelled')
        return { state: session.state, progress, errors: [-17], end: { flow: 'CANCELLED', code: 'USER_CANCELLED' } }
      }),

    async handoff(call: DeviceCall): Promise<Handoff> {
      const code = Buffer.from(ids.randomBytes(24)).toString('base64url')
      const expiresAtMs = clock.now().getTime() + LAUNCH_LIMITS.handoffSeconds * 1000
      await step(call, 'either', (session, progress) =>
        newHandoff(session, progress, { codeHash: hashCode(code), expiresAtMs }),
      )
      // In the fragment: it reaches the page and no server's log.
      const url = `${launchUrl}${launchUrl.includes('?') ? '&' : '?'}sessionId=${call.sessionId}#h=${code}`
      return { code, url, expiresAt: new Date(expiresAtMs).toISOString() }
    },

    takeBack: (call: DeviceCall) => step(call, 'viewer', takeBack),

    /** Who is watching; the route then follows the states. */
    async watch(call: DeviceCall): Promise<Watcher> {
      return locked<Watcher>(call.sessionId, async (tx, session) => {
        if (isFinal(session.state)) return { role: 'viewer', thumbprint: '' }
        const { role, progress } = await authenticate(call, session)
        await sessions.save(tx, session, { state: session.state, progress })
        return { role, thumbprint: progress[role]?.thumbprint ?? '' }
      })
    },

    findState: sessions.findState,
  }
}
export type Launch = ReturnType<typeof createLaunch>

function ended(state: FinalState): AppError {
  const message = state === 'EXPIRED' ? 'The session has expired' : 'The session has ended'
  return new AppError('conflict', 'SESSION_NOT_OPEN', message)
}
