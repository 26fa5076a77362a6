import {
  type Challenge,
  type DocumentStep,
  type Handoff,
  LAUNCH_LIMITS,
  type LaunchState,
  type PasskeyOptions,
  SESSION_CODES,
  type TokenBegun,
  type TokenEnrolled,
} from '@ostiary/contract'
import type { Documents } from '../documents/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  assertCan,
  type ConsentAnswer,
  type Decision,
  isFinal,
  launchUrlFor,
  notAtThisStep,
  type Progress,
  type Role,
  type RunningSession,
  readConsent,
  type Session,
  type Sessions,
  type Step,
  seenAgain,
  sessionUnknown,
} from '../sessions/index.ts'
import type { Settings } from '../settings/index.ts'
import type { BeginBody, EnrolBody, PasskeySteps, ProbeBody, TokenSteps } from '../verification/index.ts'
import { issueChallenge, newNonce, type WantedChallenge } from './attempts.ts'
import type { Sender } from './browser-data.ts'
import { type DeviceCall, type Flows, isNumberNeeded } from './call.ts'
import { enterNumber, hashCode, isCodeVoid, newHandoff, newNumber, roleOf, takeBack } from './devices.ts'
import { askedNow, beginDocument, dayOf, judgeDocumentSubmit } from './document-step.ts'
import { extend } from './extension.ts'
import { createOpening } from './open.ts'
import { createServiceWork } from './service-work.ts'
import { createSessionCalls, identify } from './session-call.ts'
import { type Report, reportedFailure } from './step.ts'
import { judgeSubmit } from './submit.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  documents: Documents
  /** What an age check and a verification do differently. */
  flows: Flows
  passkeySteps: PasskeySteps
  tokenSteps: TokenSteps
  clock: Clock
  ids: Ids
  launchUrl: string
}

/** A device that watches its session, and gets every change of the state. */
export interface Watcher {
  tenantId: string
  role: Role
  /** Empty if the device had no part in the session. */
  thumbprint: string
  /** The session has ended: there is nothing to wait for. */
  isEnded: boolean
}

/** A device that watches an ended session and had no part in it. */
const nobody = ({ tenantId }: Session): Watcher => ({ tenantId, role: 'viewer', thumbprint: '', isEnded: true })

/** A call that none of the devices has signed. */
function unlessFault(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

/**
 * The calls of the launch page, where the end user is checked. Each call is decided on the session as it was read, and stored if nobody else has
 * changed it meanwhile. Slow work, such as comparing a face, follows after that. What a device claims is never trusted.
 */
export function createLaunch({
  sessions,
  settings,
  documents,
  flows,
  passkeySteps,
  tokenSteps,
  clock,
  ids,
  launchUrl,
}: Deps) {
  const calls = createSessionCalls({ sessions, flows, clock })
  const { get, findHeld, change, reply, answerCall, handleCall, ask } = calls
  const slowWork = createServiceWork(sessions, calls)

  /** The key of the marks of one tenant, mode and day. */
  async function reuseKeyOf(tx: Queryable, { tenantId, livemode }: Session, now: Date): Promise<string> {
    const hash = await sessions.hasherFor(tx, tenantId)
    return hash('document', livemode, dayOf(now))
  }

  /** A device of an ended session learns where to continue. To all others the session has only ended. */
  async function watchEnded(call: DeviceCall, session: Session): Promise<Decision<Watcher>> {
    const { returnTicket: ticket } = session
    const devices = ticket && { holder: ticket.owner, viewer: ticket.other }
    const known = devices && (await identify(call, devices, clock.now()).catch(unlessFault))
    if (!known) return { answer: nobody(session) }
    return {
      async inTransaction(tx) {
        await sessions.saveTicket(tx, session, seenAgain(ticket, known.device))
        return { ...nobody(session), thumbprint: known.device.thumbprint }
      },
    }
  }

  return {
    open: createOpening({ calls, sessions, slowWork, settings, clock }),

    /** The state for a watcher, with the role that it has now. Undefined if the watcher no longer belongs to the session. */
    async findStateFor(sessionId: string, { role, thumbprint }: Watcher): Promise<LaunchState | undefined> {
      const session = await get(sessionId)
      const { state, progress } = session
      const current = progress ? roleOf(progress, thumbprint) : role
      const errors = progress && isCodeVoid(session, progress) ? codesOfVoid(progress) : []
      return current && reply(session, { state, role: current, thumbprint, errors })
    },

    consent: (call: DeviceCall, answer: ConsentAnswer, address: string) =>
      handleCall(call, 'holder', async ({ session, flow }) => {
        const consent = readConsent(session.area, answer, clock.now())
        const answered = { ...session, progress: { ...session.progress, consent } }
        if (!answer.accepted) {
          assertCan(session, 'consent_declined')
          return cancelled(answered, 'CONSENT_DECLINED')
        }
        if (isNumberNeeded(session.progress)) throw notAtThisStep()
        return flow.consented(answered, address)
      }),

    challenge: (call: DeviceCall, wanted: WantedChallenge = {}): Promise<Challenge> =>
      ask(call, 'holder', async ({ session, rules }) =>
        issueChallenge(session, wanted, { ask: rules.document, ids, now: clock.now() }),
      ),

    /** Only the entries that came with the call: it changes nothing else. */
    events: (call: DeviceCall) =>
      handleCall(call, 'holder', async ({ session: { state, progress } }) => ({ state, progress })),

    async submit(call: DeviceCall, { sealed, selfie }: Sealed, sender: Sender): Promise<LaunchState> {
      const { launchState, thumbprint } = await answerCall(call, 'holder', ({ session, flow, rules }) =>
        judgeSubmit({ flow, rules, session, sealed, selfie, sender, now: clock.now() }),
      )
      return slowWork.runIfWaiting(launchState, thumbprint)
    },

    document: (call: DeviceCall): Promise<DocumentStep> =>
      ask(call, 'holder', async ({ session, rules }) => {
        const asked = askedNow(rules, session)
        const now = clock.now()
        const begin = (reuseKey?: string) => beginDocument(session, asked, { nonce: newNonce(ids), reuseKey, now })
        return asked.reuseCheck ? { inTransaction: async (tx) => begin(await reuseKeyOf(tx, session, now)) } : begin()
      }),

    async documentSubmit(call: DeviceCall, sealed: string, sender: Sender): Promise<LaunchState> {
      const { launchState, thumbprint } = await answerCall(call, 'holder', ({ session, flow, rules }) =>
        judgeDocumentSubmit({ flow, rules, documents, session, sealed, sender, now: clock.now() }),
      )
      return slowWork.runIfWaiting(launchState, thumbprint)
    },

    failure: (call: DeviceCall, report: Report) =>
      handleCall(call, 'holder', async ({ session, rules: { failuresOf, alsoReportable = [] } }) => {
        const rules = { failuresOf, alsoReportable, passkeyFailed: passkeySteps.failed }
        return reportedFailure({ ...rules, documentFailed: (name) => documents.count(name, 'NONE') }, session, report)
      }),

    passkeyOptions: (call: DeviceCall): Promise<PasskeyOptions> =>
      ask(call, 'holder', async ({ session }) => passkeySteps.options(session)),

    async passkeyVerify(call: DeviceCall, response: unknown): Promise<LaunchState> {
      const { launchState, thumbprint } = await answerCall(call, 'holder', async ({ session }) =>
        passkeySteps.verify(session, response),
      )
      return slowWork.runIfWaiting(launchState, thumbprint)
    },

    async tokenBegin(call: DeviceCall, body: BeginBody): Promise<TokenBegun> {
      const held = await findHeld(call)
      const offer = held && (await tokenSteps.offer(held, body))
      return ask(call, 'holder', async ({ session }) => ({
        inTransaction: (tx) => tokenSteps.begin(tx, session, { offer, body }),
      }))
    },

    async tokenEnrol(call: DeviceCall, body: EnrolBody): Promise<TokenEnrolled> {
      const owner = await findHeld(call)
      // Before it is counted: who finds the queue full loses no try.
      const leave = owner && tokenSteps.enterQueue(owner)
      try {
        const held = await ask(call, 'holder', async ({ session }) => tokenSteps.beginEnrol(session))
        const { tokenId } = held.begun
        const { enrolled, probeHash } = await tokenSteps.enrol(held.session, held.begun, body)
        await change<void>(call.sessionId, async ({ progress, ...found }) => {
          const session = progress && { ...found, progress }
          const step = session && tokenSteps.enrolled(session, tokenId, probeHash)
          if (!step) throw notAtThisStep()
          return { session, save: { state: step.state, progress: step.progress }, answer: undefined }
        })
        return enrolled
      } finally {
        leave?.()
      }
    },

    tokenProbe: (call: DeviceCall, body: ProbeBody): Promise<{ tokenId: string }> =>
      ask(call, 'holder', async ({ session }) => ({ inTransaction: (tx) => tokenSteps.probe(tx, session, body) })),

    cancel: (call: DeviceCall) =>
      handleCall(call, 'either', async ({ session }) => {
        assertCan(session, 'user_cancelled')
        return cancelled(session, 'USER_CANCELLED')
      }),

    async extend(call: DeviceCall): Promise<LaunchState> {
      const owner = await sessions.findOwner(call.sessionId)
      if (!owner) throw sessionUnknown()
      // Before the transaction: the settings may need a connection of their own.
      const allowed = await settings.get(owner.tenantId)
      return handleCall(call, 'holder', async ({ session }) => extend(session, allowed))
    },

    async handoff(call: DeviceCall): Promise<Handoff> {
      const code = Buffer.from(ids.randomBytes(24)).toString('base64url')
      const now = clock.now()
      const expiresAtMs = now.getTime() + LAUNCH_LIMITS.handoffSeconds * 1000
      const number = await ask<string | undefined>(call, 'either', async ({ session, role }) => {
        const { request, progress } = session
        const made = request.handoff === 'number' ? newNumber(ids.randomBytes, progress, role) : undefined
        const handoff = { codeHash: hashCode(code), expiresAtMs, ...(made && { number: made }) }
        return { ...newHandoff(session, progress, handoff, now), reply: made?.digits }
      })
      // Browsers do not send the fragment, so the code appears in no server's log.
      const url = `${launchUrlFor(launchUrl, call.sessionId)}#h=${code}`
      const expiresAt = new Date(expiresAtMs).toISOString()
      return { code, url, expiresAt, ...(number !== undefined && { number }) }
    },

    number: (call: DeviceCall, number: string) =>
      handleCall(call, 'holder', async ({ session }) => enterNumber(session, session.progress, number)),

    takeBack: (call: DeviceCall) =>
      handleCall(call, 'either', async ({ session, role }) => takeBack(session, session.progress, role)),

    /** Identifies a device that wants to watch. The route then sends it each new state (`findStateFor`). */
    async watch(call: DeviceCall): Promise<Watcher> {
      const outcome = await change<Watcher | AppError>(call.sessionId, async (found) => {
        if (isFinal(found.state)) return watchEnded(call, found)
        const { role, session, refuse } = await calls.authenticate(call, found)
        const { tenantId, state, progress } = session
        const watcher = { tenantId, role, thumbprint: progress[role]?.thumbprint ?? '', isEnded: false }
        // Stores the counter of the device's signature, so that nobody can send the call again.
        return { session, save: { state, progress }, answer: refuse ?? watcher }
      })
      if (outcome instanceof AppError) throw outcome
      return outcome
    },

    findState: sessions.findState,
  }
}
export type Launch = ReturnType<typeof createLaunch>

/** What the first device gets when its handoff code became void. A desktop that may not run the flow is reminded of that. */
function codesOfVoid({ desktop }: Progress): number[] {
  return [SESSION_CODES.HANDOFF_EXPIRED.code, ...(desktop ? [SESSION_CODES.DESKTOP.code] : [])]
}

/** A capture and, where the session shares one, the selfie. */
interface Sealed {
  sealed: string
  selfie?: string
}

/** Ends the flow because the user wants to. The page and the host get the same code. */
function cancelled({ state, progress }: RunningSession, code: 'CONSENT_DECLINED' | 'USER_CANCELLED'): Step {
  return { state, progress, errors: [SESSION_CODES[code].code], end: { how: 'cancelled', code } }
}
