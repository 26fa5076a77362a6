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
import { issuedBefore, type Report, reportedFailure } from './step.ts'
import { judgeSubmit } from './submit.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  /** What is different in each area. */
  flows: Flows
  passkeySteps: PasskeySteps
  clock: Clock
  ids: Ids
  launchUrl: string
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

/** The launch page's side of a session. Every call is one transaction on the session's row; a device is never trusted. */
export function createLaunch({ sessions, settings, flows, passkeySteps, clock, ids, launchUrl }: Deps) {
  const calls = createSessionCalls({ sessions, flows, clock })
  const { flowOf, get, locked, reply, step } = calls
  const work = createServiceWork(calls)

  return {
    open: createOpening({ calls, work, settings, clock }),

    /** For a device that watches: its role may change meanwhile. Undefined when the session was taken from it. */
    async findStateFor(sessionId: string, { role, thumbprint }: Watcher): Promise<LaunchState | undefined> {
      const session = await get(sessionId)
      const current = session.progress ? roleOf(session.progress, thumbprint) : role
      return current && reply(session, { state: session.state, role: current })
    },

    consent: (call: DeviceCall, { accepted, version, locale }: ConsentAnswer, network: string) =>
      step(call, 'holder', (session, tx) => {
        if (!accepted) {
          assertCan(session, 'consent_declined')
          return cancelled(session, 'CONSENT_DECLINED')
        }
        const consent = { version, locale, atMs: clock.now().getTime() }
        const progress = { ...session.progress, consent }
        return flowOf(session).consented(tx, { ...session, progress }, network)
      }),

    /** Begins a try of the face step. When no try is left, that ends the flow. */
    async challenge(call: DeviceCall, wanted?: number): Promise<Challenge> {
      let issued: Challenge | undefined
      await step(call, 'holder', (session) => {
        const { progress } = session
        issued = issuedBefore(session, progress, { wanted, now: clock.now() })
        if (issued) return { state: session.state, progress }
        const begun = beginTry(session, ids, clock.now())
        issued = begun.issued
        return begun.step
      })
      if (!issued) throw new Error('A challenge was neither issued nor refused')
      return issued
    },

    events: (call: DeviceCall, events: readonly LaunchEvent[]) =>
      step(call, 'holder', ({ state, progress }) => {
        const { log, flags } = appendEvents(progress.log, events, { maxEvents: LAUNCH_LIMITS.events })
        const raised = flags.map((code) => ({ code }))
        return { state, progress: withFlags({ ...progress, log, behaviour: true }, raised) }
      }),

    async submit(call: DeviceCall, { sealed, selfie }: { sealed: string; selfie?: string }): Promise<LaunchState> {
      const judged = await step(call, 'holder', (session) =>
        judgeSubmit({ flow: flowOf(session), session, sealed, selfie, now: clock.now() }),
      )
      return work.finish(judged)
    },

    failure: (call: DeviceCall, report: Report) =>
      step(call, 'holder', (session) => {
        const { failuresOf } = flowOf(session).rules(session)
        return reportedFailure({ failuresOf, passkeyFailed: passkeySteps.failed }, session, report)
      }),

    async passkeyOptions(call: DeviceCall): Promise<PasskeyOptions> {
      let asked: PasskeyOptions | undefined
      await step(call, 'holder', async (session, tx) => {
        const begun = await passkeySteps.options(tx, session)
        asked = begun.asked
        return begun.step
      })
      if (!asked) throw new Error('The passkey step was neither begun nor refused')
      return asked
    },

    async passkeyVerify(call: DeviceCall, response: unknown): Promise<LaunchState> {
      return work.finish(await step(call, 'holder', (session, tx) => passkeySteps.verify(tx, session, response)))
    },

    cancel: (call: DeviceCall) =>
      step(call, 'either', (session) => {
        assertCan(session, 'user_cancelled')
        return cancelled(session, 'USER_CANCELLED')
      }),

    async handoff(call: DeviceCall): Promise<Handoff> {
      const code = Buffer.from(ids.randomBytes(24)).toString('base64url')
      const now = clock.now()
      const expiresAtMs = now.getTime() + LAUNCH_LIMITS.handoffSeconds * 1000
      await step(call, 'either', (session) =>
        newHandoff(session, session.progress, { codeHash: hashCode(code), expiresAtMs }, now),
      )
      // In the fragment: it reaches the page and no server's log.
      const url = `${launchUrlFor(launchUrl, call.sessionId)}#h=${code}`
      return { code, url, expiresAt: new Date(expiresAtMs).toISOString() }
    },

    takeBack: (call: DeviceCall) =>
      step(call, 'either', (session, _tx, role) => takeBack(session, session.progress, role)),

    /** Who is watching; the route then follows the states. */
    watch: (call: DeviceCall): Promise<Watcher> =>
      locked<Watcher>(call.sessionId, async (tx, found) => {
        if (isFinal(found.state)) return { role: 'viewer', thumbprint: '' }
        const { role, session } = await calls.authenticate(call, found)
        const { state, progress } = session
        await sessions.save(tx, session, { state, progress })
        return { role, thumbprint: progress[role]?.thumbprint ?? '' }
      }),

    findState: sessions.findState,
  }
}
export type Launch = ReturnType<typeof createLaunch>

/** The user ends the flow: the reply and the end carry the same code. */
function cancelled({ state, progress }: RunningSession, code: 'CONSENT_DECLINED' | 'USER_CANCELLED'): Step {
  return { state, progress, errors: [SESSION_CODES[code].code], end: { how: 'cancelled', code } }
}

/** A new challenge for the next try of the face step; without one when all tries are used up. */
function beginTry(session: RunningSession, ids: Ids, now: Date): { step: Step; issued?: Challenge } {
  const { progress } = session
  const state = nextState(session, 'camera_ready')
  const attempt = progress.attempt + 1
  if (attempt > LAUNCH_LIMITS.attempts) {
    const refuse = sessionEnded('All tries are used up')
    return { step: { state, progress, refuse, end: { how: 'failed', failures: ['ATTEMPTS_EXCEEDED'] } } }
  }
  const expiresAtMs = now.getTime() + LAUNCH_LIMITS.challengeSeconds * 1000
  const made = createChallenge(ids.randomBytes, session.request.pinned ?? undefined)
  const nonce = Buffer.from(ids.randomBytes(24)).toString('base64url')
  const challenge = { ...made, nonce, expiresAtMs, submits: 0 }
  return {
    step: { state, progress: { ...progress, attempt, challenge }, dueAt: graceFor(session, expiresAtMs) },
    issued: { ...made, nonce, attempt, expiresAt: new Date(expiresAtMs).toISOString() },
  }
}
