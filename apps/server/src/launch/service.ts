import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Challenge,
  type Handoff,
  LAUNCH_API,
  LAUNCH_LIMITS,
  type LaunchEvent,
  type LaunchState,
  type OpenBody,
  type OpenedSession,
  type PasskeyOptions,
  SERVICE_STATES,
  SESSION_CODES,
} from '@ostiary/contract'
import { createSealKeyPair } from '@ostiary/crypto'
import { appendEvents, createChallenge } from '../capture/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type FinalState,
  type FlowSession,
  graceFor,
  isFinal,
  isPurged,
  newProgress,
  nextState,
  type PasskeyStep,
  type Progress,
  type Role,
  type Sessions,
  type Step,
  withFlags,
} from '../sessions/index.ts'
import { embedOriginsFor, type Settings } from '../settings/index.ts'
import { type DeviceCall, type Flows, identify, newDevice, stateOf } from './call.ts'
import { bindDevice, hashCode, newHandoff, otherHolds, roleOf, takeBack } from './devices.ts'
import { issuedBefore, notHere, type Report, reportedFailure } from './step.ts'
import { judgeSubmit } from './submit.ts'
import { createWorkQueue } from './work-queue.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  /** What each area does of a flow by itself. */
  flows: Flows
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

interface ConsentAnswer {
  accepted: boolean
  version: string
  locale: string
}

type Decide = (session: FlowSession, progress: Progress, tx: Queryable, role: Role) => Step | Promise<Step>

/** Who did what, for what is told and noted of it. */
interface Doing {
  role: Role
  call: string
}

export const CONSENT_VERSION = '1'

/** The launch page's side of a session. Every call is one transaction on the session's row; a device is never trusted. */
export function createLaunch({ sessions, settings, flows, clock, ids, launchUrl }: Deps) {
  const flowOf = ({ area }: FlowSession) => flows[area]

  /** Ends, saves or refuses, as the step decided. What was learnt from a refused call is kept. */
  async function settle(tx: Queryable, session: FlowSession, decided: Step, by: Doing): Promise<LaunchState> {
    const flow = flowOf(session)
    const known = decided.end ? undefined : await flow.countTry?.(tx, session, decided)
    const step = known ? { ...decided, progress: known } : decided
    const progress = flow.noteStep?.(session, step, { call: by.call, now: clock.now() }) ?? step.progress
    const told = { progress, role: step.role ?? by.role, errors: step.errors }
    if (step.end) {
      const state = await flow.conclude(tx, session, progress, step.end)
      return stateOf(flow, session, { ...told, state })
    }
    const { state, dueAt } = step
    await sessions.save(tx, session, { state, progress, ...(dueAt && { dueAt }) })
    return stateOf(flow, session, { ...told, state })
  }

  async function locked<T>(
    sessionId: string,
    work: (tx: Queryable, session: FlowSession) => Promise<T | AppError>,
  ): Promise<T> {
    const outcome = await sessions.whileLocked<T | AppError>(sessionId, async (tx, found) => {
      if (isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
      const session = found as FlowSession
      if (session.endedAt === null && clock.now() > session.dueAt) {
        const state = await flowOf(session).conclude(tx, session, session.progress, { how: 'expired' })
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
  function step(call: DeviceCall, who: Role | 'either', decide: Decide) {
    return locked<LaunchState>(call.sessionId, async (tx, session) => {
      if (isFinal(session.state)) return ended(session.state)
      const { role, progress } = await authenticate(call, session)
      const isAllowed = who === 'either' || role === who
      const decided = await orRefuse(session, progress, () =>
        isAllowed ? decide(session, progress, tx, role) : refuseOther(),
      )
      const state = await settle(tx, session, decided, { role, call: nameOf(call) })
      return decided.refuse ?? state
    })
  }

  const refuseOther = (): Step => {
    throw otherHolds()
  }

  /** A refused call is used up like any other: nobody can keep it and send it again when it would be taken. */
  async function orRefuse(session: FlowSession, progress: Progress, decide: () => Step | Promise<Step>): Promise<Step> {
    try {
      return await decide()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { state: session.state, progress, refuse: error }
    }
  }

  async function authenticate(call: DeviceCall, session: FlowSession): Promise<{ role: Role; progress: Progress }> {
    if (!session.progress)
      throw new AppError('unauthenticated', 'INVALID_DEVICE_PROOF', 'The session is not open on a device')
    const { role, device } = await identify(call, session.progress)
    return { role, progress: { ...session.progress, [role]: device } }
  }

  async function get(sessionId: string): Promise<FlowSession> {
    const found = await sessions.find(sessionId)
    if (!found || isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
    return found as FlowSession
  }

  /** An ended session says that it has ended to whoever has its launch URL: where to go on, and no result. */
  async function describeEnded(call: DeviceCall, body: OpenBody, session: FlowSession): Promise<Bound> {
    await newDevice(call, body.deviceKey)
    const progress = newProgress(session.request.policy.defaultLocale)
    const { publicJwk } = await createSealKeyPair()
    return {
      ...stateOf(flowOf(session), session, { state: session.state, progress, role: 'viewer' }),
      ...facts(session, progress),
      sealKey: publicJwk,
    }
  }

  const facts = (session: FlowSession, progress: Progress) => ({
    ...flowOf(session).describe(session),
    locale: progress.locale,
    consentVersion: CONSENT_VERSION,
  })

  /** A test session with an outcome in its request needs no person. */
  async function playWish(sessionId: string, delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs)
    await locked(sessionId, async (tx, session) => {
      if (!isFinal(session.state)) await flowOf(session).conclude(tx, session, session.progress, { how: 'wished' })
      return null
    })
  }

  const queue = createWorkQueue<LaunchState>()

  /** What the service does by itself after a call. Whoever asks meanwhile waits for the same. */
  function afterWork(sessionId: string, told: LaunchState): Promise<LaunchState> {
    return SERVICE_STATES.includes(told.state) ? queue.join(sessionId, () => work(sessionId)) : Promise.resolve(told)
  }

  async function work(sessionId: string): Promise<LaunchState> {
    const before = await get(sessionId)
    const done = await flowOf(before).work?.(before)?.()
    const told = await locked<LaunchState>(sessionId, async (tx, session) => {
      const { state, progress } = session
      const next = done && progress && !isFinal(state) ? await done.apply(tx, session, progress) : undefined
      if (next) return settle(tx, session, next, { role: 'holder', call: 'work' })
      // Another process was quicker, or the session has ended: what was reached stands.
      return stateOf(flowOf(session), session, { state, progress: progress ?? newProgress('en'), role: 'holder' })
    })
    await done?.after?.(told.state)
    return told
  }

  async function open(call: DeviceCall, body: OpenBody, about: DeviceFacts) {
    return locked<{ session: FlowSession; bound: Bound }>(call.sessionId, async (tx, session) => {
      if (isFinal(session.state)) return { session, bound: await describeEnded(call, body, session) }
      const device = await newDevice(call, body.deviceKey)
      const opening = bindDevice(session, device, { body, about, now: clock.now() })
      const sealKey = opening.progress.sealKey ?? (await createSealKeyPair()).privateJwk
      const progress = { ...opening.progress, sealKey }
      const state = await settle(tx, session, { ...opening.step, progress }, { role: opening.role, call: 'open' })
      if (opening.step.refuse) return opening.step.refuse
      const { d: _secret, ...publicKey } = sealKey
      return { session, bound: { ...state, ...facts(session, progress), sealKey: publicKey } }
    })
  }

  /** The tenant's wishes of today, not those of the session's creation: a new logo is for everybody. */
  async function lookOf({ tenantId, livemode }: FlowSession): Promise<Pick<OpenedSession, 'brand' | 'embedOrigins'>> {
    const { brand, embedOrigins } = await settings.get(tenantId)
    return { brand, embedOrigins: embedOriginsFor(embedOrigins, livemode) }
  }

  function passkeyOf(session: FlowSession) {
    const { passkey } = flowOf(session)
    if (session.state !== 'PASSKEY_ACTIVE' || !passkey) throw notHere()
    return passkey
  }

  return {
    async open(call: DeviceCall, body: OpenBody, about: DeviceFacts): Promise<OpenedSession> {
      const { session, bound } = await open(call, body, about)
      // After the transaction: the settings may need a connection of their own.
      const opened = { ...bound, ...(await lookOf(session)) }
      if (opened.flowStatus !== null || opened.role === 'viewer') return opened
      const delayMs = session.livemode ? null : flowOf(session).wishDelayMs(session)
      if (delayMs === null) return { ...opened, ...(await afterWork(call.sessionId, stateIn(opened))) }
      await playWish(call.sessionId, delayMs)
      return { ...opened, ...(await this.stateFor(call.sessionId, opened.role)) }
    },

    /** Where a flow stands, for a device that has shown who it is. */
    async stateFor(sessionId: string, role: Role): Promise<LaunchState> {
      const session = await get(sessionId)
      const { state, progress } = session
      return stateOf(flowOf(session), session, { state, progress: progress ?? newProgress('en'), role })
    },

    /** The same for one that watches: what it is may change meanwhile. Undefined when the session was taken from it. */
    async findStateFor(sessionId: string, { role, thumbprint }: Watcher): Promise<LaunchState | undefined> {
      const session = await get(sessionId)
      const { state, progress } = session
      const current = progress ? roleOf(progress, thumbprint) : role
      if (!current) return undefined
      return stateOf(flowOf(session), session, { state, progress: progress ?? newProgress('en'), role: current })
    },

    async consent(call: DeviceCall, answer: ConsentAnswer, network: string): Promise<LaunchState> {
      const owner = answer.accepted ? await sessions.findOwner(call.sessionId) : undefined
      const named = owner && (await flows[owner.area].nameNetwork?.(owner, network))
      return step(call, 'holder', (session, progress, tx) => {
        const consent = { version: answer.version, locale: answer.locale, atMs: clock.now().getTime() }
        if (!answer.accepted) {
          nextState(session, 'consent_declined')
          return { state: session.state, progress, ...cancelledBy('CONSENT_DECLINED') }
        }
        return flowOf(session).consented(session, { ...progress, consent }, { tx, network: named })
      })
    },

    /** Begins a try of the face step. The reply of the last one, when none are left, is the end of the flow. */
    async challenge(call: DeviceCall, wanted?: number): Promise<Challenge> {
      let issued: Challenge | undefined
      await step(call, 'holder', (session, progress) => {
        issued = issuedBefore(session, progress, { wanted, now: clock.now() })
        if (issued) return { state: session.state, progress }
        const state = nextState(session, 'camera_ready')
        const attempt = progress.attempt + 1
        if (attempt > LAUNCH_LIMITS.attempts) {
          const refuse = new AppError('conflict', 'SESSION_NOT_OPEN', 'All tries are used up')
          return { state, progress, refuse, end: { how: 'failed', failures: ['ATTEMPTS_EXCEEDED'] } }
        }
        const nowMs = clock.now().getTime()
        const expiresAtMs = nowMs + LAUNCH_LIMITS.challengeSeconds * 1000
        const made = createChallenge(ids.randomBytes, session.request.pinned ?? undefined)
        const nonce = Buffer.from(ids.randomBytes(24)).toString('base64url')
        issued = { ...made, nonce, attempt, expiresAt: new Date(expiresAtMs).toISOString() }
        const challenge = { ...made, nonce, expiresAtMs, submits: 0 }
        return { state, progress: { ...progress, attempt, challenge }, dueAt: graceFor(session, expiresAtMs) }
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

    async submit(call: DeviceCall, { sealed, selfie }: { sealed: string; selfie?: string }): Promise<LaunchState> {
      const judged = await step(call, 'holder', (session, progress) =>
        judgeSubmit({ flow: flowOf(session), session, progress, sealed, selfie, now: clock.now() }),
      )
      return afterWork(call.sessionId, judged)
    },

    failure: (call: DeviceCall, report: Report) =>
      step(call, 'holder', (session, progress) => reportedFailure(flowOf(session), session, progress, report)),

    async passkeyOptions(call: DeviceCall): Promise<PasskeyOptions> {
      let begun: PasskeyStep | undefined
      await step(call, 'holder', async (session, progress, tx) => {
        begun = await passkeyOf(session).options(tx, session, progress)
        return begun.step
      })
      if (!begun) throw new Error('The passkey step was neither begun nor refused')
      return begun.asked
    },

    async passkeyVerify(call: DeviceCall, response: unknown): Promise<LaunchState> {
      const verified = await step(call, 'holder', (session, progress, tx) =>
        passkeyOf(session).verify(tx, session, progress, response),
      )
      return afterWork(call.sessionId, verified)
    },

    cancel: (call: DeviceCall) =>
      step(call, 'either', (session, progress) => {
        nextState(session, 'user_cancelled')
        return { state: session.state, progress, ...cancelledBy('USER_CANCELLED') }
      }),

    async handoff(call: DeviceCall): Promise<Handoff> {
      const code = Buffer.from(ids.randomBytes(24)).toString('base64url')
      const now = clock.now()
      const expiresAtMs = now.getTime() + LAUNCH_LIMITS.handoffSeconds * 1000
      await step(call, 'either', (session, progress) =>
        newHandoff(session, progress, { codeHash: hashCode(code), expiresAtMs }, now),
      )
      // In the fragment: it reaches the page and no server's log.
      const url = `${launchUrl}${launchUrl.includes('?') ? '&' : '?'}sessionId=${call.sessionId}#h=${code}`
      return { code, url, expiresAt: new Date(expiresAtMs).toISOString() }
    },

    takeBack: (call: DeviceCall) =>
      step(call, 'either', (session, progress, _tx, role) => takeBack(session, progress, role)),

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

const nameOf = ({ path }: DeviceCall) => path.replace(LAUNCH_API, '')

/** The user ends the flow: the reply and the end carry the same code. */
const cancelledBy = (code: 'CONSENT_DECLINED' | 'USER_CANCELLED') =>
  ({ errors: [SESSION_CODES[code].code], end: { how: 'cancelled', code } }) as const

/** What is told after every call, of what is told at the opening. */
function stateIn(opened: OpenedSession): LaunchState {
  const { sessionId, state, role, attempt, attemptsLeft, expiresAt, flowStatus, errors, redirectUrl, livemode } = opened
  return { sessionId, state, role, attempt, attemptsLeft, expiresAt, flowStatus, errors, redirectUrl, livemode }
}

function ended(state: FinalState): AppError {
  const message = state === 'EXPIRED' ? 'The session has expired' : 'The session has ended'
  return new AppError('conflict', 'SESSION_NOT_OPEN', message)
}
