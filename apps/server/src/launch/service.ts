import {
  type Challenge,
  type Handoff,
  LAUNCH_LIMITS,
  type LaunchEvent,
  type LaunchState,
  type PasskeyOptions,
  SESSION_CODES,
} from '@ostiary/contract'
import { appendEvents, createChallenge } from '../capture-checks/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import {
  assertCan,
  graceFor,
  isFinal,
  launchUrlFor,
  nextState,
  type Role,
  type RunningSession,
  type Sessions,
  type Step,
  sessionEnded,
  withFlags,
} from '../sessions/index.ts'
import type { Settings } from '../settings/index.ts'
import type { PasskeySteps } from '../verification/index.ts'
import type { DeviceCall, Flows } from './call.ts'
import { hashCode, newHandoff, roleOf, takeBack } from './devices.ts'
import { createOpening } from './open.ts'
import { createServiceWork } from './service-work.ts'
import { createSessionCalls } from './session-call.ts'
import { findIssuedChallenge, type Report, reportedFailure } from './step.ts'
import { judgeSubmit } from './submit.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  /** What an age check and a verification do differently. */
  flows: Flows
  passkeySteps: PasskeySteps
  clock: Clock
  ids: Ids
  launchUrl: string
}

/** A device that watches its session, and gets every change of the state. */
export interface Watcher {
  role: Role
  thumbprint: string
}

interface ConsentAnswer {
  accepted: boolean
  version: string
  locale: string
}

/**
 * The calls of the launch page, where the end user is checked. Each call is decided in one transaction, which locks the session's row.
 * Slow work, such as comparing a face, follows after that transaction. What a device claims is never trusted.
 */
export function createLaunch({ sessions, settings, flows, passkeySteps, clock, ids, launchUrl }: Deps) {
  const calls = createSessionCalls({ sessions, flows, clock })
  const { flowOf, get, whileLocked, reply, handleCall } = calls
  const slowWork = createServiceWork(calls)

  return {
    open: createOpening({ calls, slowWork, settings, clock }),

    /** The state for a watcher, with the role that it has now. Undefined if the watcher no longer belongs to the session. */
    async findStateFor(sessionId: string, { role, thumbprint }: Watcher): Promise<LaunchState | undefined> {
      const session = await get(sessionId)
      const current = session.progress ? roleOf(session.progress, thumbprint) : role
      return current && reply(session, { state: session.state, role: current })
    },

    consent: (call: DeviceCall, { accepted, version, locale }: ConsentAnswer, network: string) =>
      handleCall(call, 'holder', (session, tx) => {
        if (!accepted) {
          assertCan(session, 'consent_declined')
          return cancelled(session, 'CONSENT_DECLINED')
        }
        const consent = { version, locale, atMs: clock.now().getTime() }
        const progress = { ...session.progress, consent }
        return flowOf(session).consented(tx, { ...session, progress }, network)
      }),

    /** Issues the challenge of the next attempt. A device that lost the reply repeats `wantedAttempt` and gets the same challenge. */
    async challenge(call: DeviceCall, wantedAttempt?: number): Promise<Challenge> {
      let issued: Challenge | undefined
      await handleCall(call, 'holder', (session) => {
        const { progress } = session
        issued = findIssuedChallenge(session, progress, { wantedAttempt, now: clock.now() })
        if (issued) return { state: session.state, progress }
        const next = beginAttempt(session, ids, clock.now())
        issued = next.issued
        return next.step
      })
      if (!issued) throw new Error('A challenge was neither issued nor refused')
      return issued
    },

    events: (call: DeviceCall, events: readonly LaunchEvent[]) =>
      handleCall(call, 'holder', ({ state, progress }) => {
        const { log, flags } = appendEvents(progress.log, events, { maxEvents: LAUNCH_LIMITS.events })
        const newFlags = flags.map((code) => ({ code }))
        return { state, progress: withFlags({ ...progress, log, behaviour: true }, newFlags) }
      }),

    async submit(call: DeviceCall, { sealed, selfie }: { sealed: string; selfie?: string }): Promise<LaunchState> {
      const launchState = await handleCall(call, 'holder', (session) =>
        judgeSubmit({ flow: flowOf(session), session, sealed, selfie, now: clock.now() }),
      )
      return slowWork.runIfWaiting(launchState)
    },

    failure: (call: DeviceCall, report: Report) =>
      handleCall(call, 'holder', (session) => {
        const { failuresOf } = flowOf(session).rules(session)
        return reportedFailure({ failuresOf, passkeyFailed: passkeySteps.failed }, session, report)
      }),

    async passkeyOptions(call: DeviceCall): Promise<PasskeyOptions> {
      let options: PasskeyOptions | undefined
      await handleCall(call, 'holder', async (session, tx) => {
        const { step, asked } = await passkeySteps.options(tx, session)
        options = asked
        return step
      })
      if (!options) throw new Error('Passkey options were neither created nor refused')
      return options
    },

    async passkeyVerify(call: DeviceCall, response: unknown): Promise<LaunchState> {
      const launchState = await handleCall(call, 'holder', (session, tx) => passkeySteps.verify(tx, session, response))
      return slowWork.runIfWaiting(launchState)
    },

    cancel: (call: DeviceCall) =>
      handleCall(call, 'either', (session) => {
        assertCan(session, 'user_cancelled')
        return cancelled(session, 'USER_CANCELLED')
      }),

    async handoff(call: DeviceCall): Promise<Handoff> {
      const code = Buffer.from(ids.randomBytes(24)).toString('base64url')
      const now = clock.now()
      const expiresAtMs = now.getTime() + LAUNCH_LIMITS.handoffSeconds * 1000
      await handleCall(call, 'either', (session) =>
        newHandoff(session, session.progress, { codeHash: hashCode(code), expiresAtMs }, now),
      )
      // Browsers do not send the fragment, so the code appears in no server's log.
      const url = `${launchUrlFor(launchUrl, call.sessionId)}#h=${code}`
      return { code, url, expiresAt: new Date(expiresAtMs).toISOString() }
    },

    takeBack: (call: DeviceCall) =>
      handleCall(call, 'either', (session, _tx, role) => takeBack(session, session.progress, role)),

    /** Identifies a device that wants to watch. The route then sends it each new state (`findStateFor`). */
    watch: (call: DeviceCall): Promise<Watcher> =>
      whileLocked<Watcher>(call.sessionId, async (tx, found) => {
        // An ended session has forgotten its devices, and its state is no secret.
        if (isFinal(found.state)) return { role: 'viewer', thumbprint: '' }
        const { role, session } = await calls.authenticate(call, found)
        const { state, progress } = session
        // Stores the counter of the device's signature, so that nobody can send the call again.
        await sessions.save(tx, session, { state, progress })
        return { role, thumbprint: progress[role]?.thumbprint ?? '' }
      }),

    findState: sessions.findState,
  }
}
export type Launch = ReturnType<typeof createLaunch>

/** Ends the flow because the user wants to. The page and the host get the same code. */
function cancelled({ state, progress }: RunningSession, code: 'CONSENT_DECLINED' | 'USER_CANCELLED'): Step {
  return { state, progress, errors: [SESSION_CODES[code].code], end: { how: 'cancelled', code } }
}

/** Starts the next attempt with a new challenge. If no attempt is left, refuses the call and ends the flow. */
function beginAttempt(session: RunningSession, ids: Ids, now: Date): { step: Step; issued?: Challenge } {
  const { progress } = session
  const state = nextState(session, 'camera_ready')
  const attempt = progress.attempt + 1
  if (attempt > LAUNCH_LIMITS.attempts) {
    const refuse = sessionEnded('All tries are used up')
    return { step: { state, progress, refuse, end: { how: 'failed', failures: ['ATTEMPTS_EXCEEDED'] } } }
  }
  const expiresAtMs = now.getTime() + LAUNCH_LIMITS.challengeSeconds * 1000
  // A test session may have pinned the movements instead of leaving them to chance.
  const made = createChallenge(ids.randomBytes, session.request.pinned ?? undefined)
  const nonce = Buffer.from(ids.randomBytes(24)).toString('base64url')
  const challenge = { ...made, nonce, expiresAtMs, submits: 0 }
  return {
    step: { state, progress: { ...progress, attempt, challenge }, dueAt: graceFor(session, expiresAtMs) },
    issued: { ...made, nonce, attempt, expiresAt: new Date(expiresAtMs).toISOString() },
  }
}
