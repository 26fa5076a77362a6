import { setTimeout as sleep } from 'node:timers/promises'
import { type DocumentFacts, type LaunchState, type OpenBody, type OpenedSession, urlFor } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { createSealKey } from '../platform/node-crypto.ts'
import { type NetworkFacts, networkFlags, placeOf } from '../risk/index.ts'
import {
  type Decision,
  type DocumentAsk,
  isFinal,
  newProgress,
  type Progress,
  type Session,
  type Sessions,
  seenAgain,
  withFlags,
} from '../sessions/index.ts'
import { embedOriginsFor, type Settings } from '../settings/index.ts'
import type { DeviceCall, DeviceFacts } from './call.ts'
import { bindDevice, refuseRepeat, withPage } from './devices.ts'
import { extendedEnd } from './extension.ts'
import type { ServiceWork } from './service-work.ts'
import { mapped, newDevice, type SessionCalls } from './session-call.ts'

/** For pages of the last release, which send it back instead of the version of their own text. Theirs is this one, so it never changes. */
const CONSENT_VERSION = '1'

/** The reply to an opening as far as the session itself goes; how the page looks is added from the tenant's settings. */
type Look = Pick<OpenedSession, 'brand' | 'embedOrigins' | 'alternativeUrl' | 'links' | 'mayExtend'>
type Bound = Omit<OpenedSession, keyof Look>

/** A session that a device has opened. */
interface Opened {
  session: Session
  bound: Bound
  thumbprint: string
}

/** What is known about the caller beside the body: its headers, and what the operator's lists say about its address. */
type OpeningFacts = DeviceFacts & { network: NetworkFacts }

interface Deps {
  calls: SessionCalls
  sessions: Sessions
  slowWork: ServiceWork
  settings: Settings
  clock: Clock
}

/** What a page must know of the document step before it begins. */
function documentFacts(ask: DocumentAsk | null): DocumentFacts | null {
  if (!ask) return null
  const { when, acceptedTypes, age, reuseCheck } = ask
  return { when, acceptedTypes: [...acceptedTypes], ageFormat: age?.format ?? null, reuseCheck }
}

/** The first call of a page: binds the device to the session, or resumes what the device had begun. */
export function createOpening({ calls, sessions, slowWork, settings, clock }: Deps) {
  const { flowOf, get, change, reply, settle } = calls

  const facts = (session: Session, { locale }: Progress) => ({
    ...flowOf(session).rules(session).describe(),
    document: documentFacts(flowOf(session).rules(session).document),
    host: new URL(session.request.redirectUrl).host,
    handoff: session.request.handoff !== 'forbidden',
    locale,
    consentVersion: CONSENT_VERSION,
    eventsTravel: true,
  })

  /** Anyone with the launch URL learns that a session has ended, and no result. Its own devices learn where to continue. */
  async function describeEnded(call: DeviceCall, body: OpenBody, session: Session): Promise<Decision<Bound>> {
    const device = await newDevice(call, body.deviceKey, clock.now())
    const { thumbprint } = device
    const { returnTicket: ticket } = session
    const known = [ticket?.owner, ticket?.other].find((one) => one?.thumbprint === thumbprint)
    const progress = newProgress(session.request.policy.defaultLocale)
    const { d: _secret, ...publicKey } = createSealKey()
    const state = reply(session, { state: session.state, progress, role: 'viewer', thumbprint })
    const bound = { ...state, ...facts(session, progress), sealKey: publicKey }
    if (!ticket || !known) return { answer: bound }
    refuseRepeat(known, device)
    return {
      async inTransaction(tx) {
        await sessions.saveTicket(tx, session, seenAgain(ticket, device))
        return bound
      },
    }
  }

  async function bind(call: DeviceCall, body: OpenBody, { network, ...about }: OpeningFacts): Promise<Opened> {
    const outcome = await change<Opened | AppError>(call.sessionId, async (session) => {
      if (isFinal(session.state))
        return mapped(await describeEnded(call, body, session), (bound) => ({ session, bound, thumbprint: '' }))
      const place = placeOf(network, body.utcOffsetMinutes)
      const device = { ...withPage(await newDevice(call, body.deviceKey, clock.now()), session.progress), place }
      const opening = bindDevice(session, device, { body, about, now: clock.now() })
      const sealKey = opening.progress.sealKey ?? createSealKey()
      const flags = networkFlags(opening.progress, { ...device, network })
      const progress = withFlags({ ...opening.progress, sealKey }, flags)
      const { thumbprint } = device
      const caller = { role: opening.role, thumbprint, call: 'open' }
      const { d: _secret, ...publicKey } = sealKey
      return mapped(settle(session, { ...opening.step, progress }, caller), (state) => {
        const bound = { ...state, ...facts(session, progress), sealKey: publicKey }
        return opening.step.refuse ?? { session, bound, thumbprint }
      })
    })
    if (outcome instanceof AppError) throw outcome
    return outcome
  }

  /** The tenant's settings as they are now, not as they were at the session's creation: a new logo is for every session. */
  async function lookOf(session: Session, { locale, role }: Pick<Bound, 'locale' | 'role'>): Promise<Look> {
    const { tenantId, livemode } = session
    const current = await settings.get(tenantId)
    const { brand, embedOrigins, alternativeUrl, privacyUrl, supportUrl } = current
    return {
      brand,
      alternativeUrl: urlFor(alternativeUrl, locale),
      links: { alternative: alternativeUrl, privacy: privacyUrl, support: supportUrl },
      embedOrigins: embedOriginsFor(embedOrigins, livemode),
      mayExtend: role === 'holder' && extendedEnd(session, current) !== undefined,
    }
  }

  /** A test session with an outcome in its request needs no person. */
  async function endSimulated(sessionId: string, delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs)
    await change<unknown>(sessionId, async (session) =>
      isFinal(session.state)
        ? { answer: undefined }
        : { inTransaction: (tx) => flowOf(session).conclude(tx, session, { how: 'simulated' }) },
    )
  }

  async function stateAfterOpening(session: Session, opened: OpenedSession, thumbprint: string): Promise<LaunchState> {
    const delayMs = session.livemode ? null : flowOf(session).rules(session).simulatedDelayMs
    if (delayMs === null) return slowWork.runIfWaiting(opened, thumbprint)
    await endSimulated(opened.sessionId, delayMs)
    const ended = await get(opened.sessionId)
    return reply(ended, { state: ended.state, role: opened.role, thumbprint })
  }

  return async function open(call: DeviceCall, body: OpenBody, about: OpeningFacts): Promise<OpenedSession> {
    const { session, bound, thumbprint } = await bind(call, body, about)
    // After the transaction: the settings may need a connection of their own.
    const opened = { ...bound, ...(await lookOf(session, bound)) }
    if (opened.flowStatus !== null || opened.role === 'viewer') return opened
    return { ...opened, ...(await stateAfterOpening(session, opened, thumbprint)) }
  }
}
