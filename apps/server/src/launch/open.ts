import { setTimeout as sleep } from 'node:timers/promises'
import type { LaunchState, OpenBody, OpenedSession } from '@ostiary/contract'
import { createSealKeyPair } from '@ostiary/crypto'
import type { Clock } from '../platform/clock.ts'
import { isFinal, newProgress, type Progress, type Session } from '../sessions/index.ts'
import { embedOriginsFor, type Settings } from '../settings/index.ts'
import { type DeviceCall, type DeviceFacts, newDevice } from './call.ts'
import { bindDevice } from './devices.ts'
import type { ServiceWork } from './service-work.ts'
import type { SessionCalls } from './session-call.ts'

export const CONSENT_VERSION = '1'

/** The reply to an opening as far as the session itself goes; how the page looks is added from the tenant's settings. */
type Bound = Omit<OpenedSession, 'brand' | 'embedOrigins'>

interface Deps {
  calls: SessionCalls
  slowWork: ServiceWork
  settings: Settings
  clock: Clock
}

/** The first call of a page: binds the device to the session, or resumes what the device had begun. */
export function createOpening({ calls, slowWork, settings, clock }: Deps) {
  const { flowOf, get, whileLocked, reply, settle } = calls

  const facts = (session: Session, { locale }: Progress) => ({
    ...flowOf(session).rules(session).describe(),
    locale,
    consentVersion: CONSENT_VERSION,
  })

  /** Anyone with the launch URL learns that a session has ended and where to continue, and no result. */
  async function describeEnded(call: DeviceCall, body: OpenBody, session: Session): Promise<Bound> {
    await newDevice(call, body.deviceKey)
    const progress = newProgress(session.request.policy.defaultLocale)
    const { publicJwk } = await createSealKeyPair()
    const state = reply(session, { state: session.state, progress, role: 'viewer' })
    return { ...state, ...facts(session, progress), sealKey: publicJwk }
  }

  function bind(call: DeviceCall, body: OpenBody, about: DeviceFacts) {
    return whileLocked<{ session: Session; bound: Bound }>(call.sessionId, async (tx, session) => {
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

  /** The tenant's settings as they are now, not as they were at the session's creation: a new logo is for every session. */
  async function lookOf({ tenantId, livemode }: Session): Promise<Pick<OpenedSession, 'brand' | 'embedOrigins'>> {
    const { brand, embedOrigins } = await settings.get(tenantId)
    return { brand, embedOrigins: embedOriginsFor(embedOrigins, livemode) }
  }

  /** A test session with an outcome in its request needs no person. */
  async function endSimulated(sessionId: string, delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs)
    await whileLocked(sessionId, async (tx, session) => {
      if (!isFinal(session.state)) await flowOf(session).conclude(tx, session, { how: 'simulated' })
      return null
    })
  }

  async function stateAfterOpening(session: Session, opened: OpenedSession): Promise<LaunchState> {
    const delayMs = session.livemode ? null : flowOf(session).rules(session).simulatedDelayMs
    if (delayMs === null) return slowWork.runIfWaiting(opened)
    await endSimulated(opened.sessionId, delayMs)
    const ended = await get(opened.sessionId)
    return reply(ended, { state: ended.state, role: opened.role })
  }

  return async function open(call: DeviceCall, body: OpenBody, about: DeviceFacts): Promise<OpenedSession> {
    const { session, bound } = await bind(call, body, about)
    // After the transaction: the settings may need a connection of their own.
    const opened = { ...bound, ...(await lookOf(session)) }
    if (opened.flowStatus !== null || opened.role === 'viewer') return opened
    return { ...opened, ...(await stateAfterOpening(session, opened)) }
  }
}
