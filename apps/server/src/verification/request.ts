import {
  type CreateVerificationBody,
  type ContactInformation,
  LAUNCH_LIMITS,
  MOVEMENTS,
  SESSION_LIMITS,
  type TemplateKind,
  type TenantSettings,
  VERIFICATION_REQUIREMENTS,
  VERIFICATION_TEST_OUTCOMES,
  type VerificationRequirement,
  type VerificationTestOutcome,
  type VerificationType,
} from '@ostiary/contract'
import type { PinnedChallenge } from '../capture-checks/index.ts'
import { invalid, invalidUrl } from '../platform/errors.ts'
import { isId } from '../platform/ids.ts'
import { type DocumentPolicy, documentPolicyOf, pageLocaleOf, redirectProblem } from '../settings/index.ts'
import { secondsOfDuration, timeOfMoment } from './expiry.ts'
import { isSimulatedId } from './simulated-ids.ts'

/** How a test session ends without a person before a camera. */
export type SandboxEnd = VerificationTestOutcome

/** The tenant's settings at the creation of the session: they apply until its end. */
export type VerificationPolicy = Pick<
  TenantSettings,
  'retentionSeconds' | 'enforceBlock' | 'risk' | 'defaultLocale' | 'signInMatching'
> & {
  brandName: string | null
  /** Sessions of an earlier version have none. */
  failedComparisonsPerHour?: number
  templates?: TemplateKind
  migrateVectors?: boolean
  documents?: DocumentPolicy
}

/** A session as the host asked for it, with every default filled in. Sealed in the session. */
export interface VerificationRequest {
  type: VerificationType
  redirectUrl: string
  callback: { url: string; headers: Record<string, string> }
  locale: string | null
  enableDesktop: boolean
  sendImages: boolean
  estimateAge: boolean
  transactionId: string | null
  deviceInfo: { os?: string; model?: string; resolution?: string } | null
  /** 0: none. */
  debugLevel: 0 | 1 | 2 | 3
  requirements: VerificationRequirement[]
  /** VERIFY: the person to compare with, by puid or by the host's own name. */
  person: { puid: string } | { customerId: string } | null
  /** ENROLL: the host's own name for the person. */
  customerId: string | null
  nonce: string | null
  contactInformation: ContactInformation | null
  sandbox: SandboxEnd | null
  pinned: PinnedChallenge | null
  handoff?: 'number' | 'forbidden'
  policy: VerificationPolicy
}

/** The person that the host names in advance: the person of a VERIFY, and of an ENROLL the one who may have that name already. */
export function namedBy({
  person,
  customerId,
}: Pick<VerificationRequest, 'person' | 'customerId'>): VerificationRequest['person'] {
  return person ?? (customerId === null ? null : { customerId })
}

export interface Wanted {
  livemode: boolean
  settings: TenantSettings
  now: Date
}

/** Checks what a schema cannot, and fills in the defaults. */
export function toRequest(
  body: CreateVerificationBody,
  { livemode, settings, now }: Wanted,
): { request: VerificationRequest; lifetimeSeconds: number } {
  const request: VerificationRequest = {
    type: body.type,
    redirectUrl: redirectOf(body, settings, livemode),
    callback: { url: body.callback.url, headers: { ...body.callback.headers } },
    locale: pageLocaleOf(body.locale),
    enableDesktop: body.enableDesktop ?? false,
    handoff: body.type === 'SIGN-IN' && !settings.signInHandoff ? 'forbidden' : 'number',
    sendImages: body.sendImages ?? false,
    estimateAge: (body.estimateAge ?? false) && body.type === 'ENROLL',
    transactionId: body.transactionID ?? null,
    deviceInfo: body.deviceInfo ? { ...body.deviceInfo } : null,
    debugLevel: debugLevelOf(body, livemode && !settings.debugInLive),
    requirements: requirementsOf(body),
    ...personOf(body, livemode, settings.templates),
    ...testOf(livemode ? undefined : body.transactionID),
    policy: {
      retentionSeconds: settings.retentionSeconds,
      enforceBlock: settings.enforceBlock,
      risk: settings.risk,
      defaultLocale: settings.defaultLocale,
      signInMatching: settings.signInMatching,
      failedComparisonsPerHour: settings.failedComparisonsPerHour,
      templates: settings.templates,
      migrateVectors: settings.migrateVectors,
      brandName: settings.brand?.name ?? null,
      documents: documentPolicyOf(settings),
    },
  }
  return { request, lifetimeSeconds: lifetimeOf(body.sessionExpiry, settings.sessionSecondsMax, now) }
}

function redirectOf({ redirectURL }: CreateVerificationBody, settings: TenantSettings, livemode: boolean): string {
  const problem = redirectProblem(redirectURL, settings, livemode)
  if (problem !== undefined) throw invalidUrl('/body/redirectURL', problem)
  return redirectURL
}

function debugLevelOf(
  { debugMode = false }: CreateVerificationBody,
  isRefused: boolean,
): VerificationRequest['debugLevel'] {
  const level = typeof debugMode === 'boolean' ? (debugMode ? 2 : 0) : highestOf(debugMode)
  if (level > 0 && isRefused) throw invalid('/body/debugMode', 'is not allowed for live sessions of this tenant')
  return level
}

function highestOf(levels: readonly ('1' | '2' | '3')[]): VerificationRequest['debugLevel'] {
  if (levels.includes('3')) return 3
  if (levels.includes('2')) return 2
  return levels.length > 0 ? 1 : 0
}

/** In the order of the flow's steps, whatever the order they were named in. */
function requirementsOf({ type, requirements = ['face'] }: CreateVerificationBody): VerificationRequirement[] {
  const pointer = '/body/requirements'
  if (requirements.includes('identity_document') && type !== 'ENROLL')
    throw invalid(pointer, `may have face and passkey for ${type}`)
  if (!requirements.includes('face')) throw invalid(pointer, 'must have face')
  return VERIFICATION_REQUIREMENTS.filter((one) => requirements.includes(one))
}

type Person = Pick<VerificationRequest, 'person' | 'customerId' | 'nonce' | 'contactInformation'>

/** The person that a session is about, as far as the host knows: each field where it means something, and nowhere else. */
function personOf(
  { type, puid, customerId, nonce, contactInformation }: CreateVerificationBody,
  livemode: boolean,
  templates: TemplateKind,
): Person {
  // Tokens are compared with one person, so a sign-in may say with whom.
  const isHinted = type === 'SIGN-IN' && templates !== 'vector'
  const signIn: VerificationType[] = isHinted ? ['SIGN-IN'] : []
  const onlyFor = (name: string, value: unknown, types: readonly VerificationType[]) => {
    if (value !== undefined && !types.includes(type)) throw invalid(`/body/${name}`, `is for ${types.join(' and ')}`)
  }
  onlyFor('puid', puid, [...signIn, 'VERIFY'])
  onlyFor('customerId', customerId, ['ENROLL', ...signIn, 'VERIFY'])
  onlyFor('nonce', nonce, ['VERIFY'])
  onlyFor('contactInformation', contactInformation, ['ENROLL'])
  const contact = contactInformation && Object.keys(contactInformation).length > 0 ? { ...contactInformation } : null
  const given = { nonce: nonce ?? null, contactInformation: contact }
  if (type !== 'VERIFY' && !isHinted) return { ...given, person: null, customerId: customerId ?? null }
  if (puid !== undefined && customerId !== undefined) throw invalid('/body/customerId', 'may not stand beside puid')
  if (puid !== undefined) return { ...given, person: { puid: idOf(puid, livemode) }, customerId: null }
  if (customerId !== undefined) return { ...given, person: { customerId }, customerId: null }
  if (isHinted) return { ...given, person: null, customerId: null }
  throw invalid('/body/puid', 'is required for VERIFY, or customerId instead of it')
}

/** Capitals are the same id. An id that no person can have is refused now, not at the end of the user's flow. */
function idOf(puid: string, livemode: boolean): string {
  const id = puid.toLowerCase()
  if (isId(id) || (!livemode && isSimulatedId(id))) return id
  throw invalid('/body/puid', 'is not the id of a person')
}

const TEST_PREFIX = 'test:'
const TEST_CHALLENGE = /^challenge=([a-z_,]*)(?: |$)/

/** What a test key asks for in `transactionID`: a simulated outcome, or a challenge that is known in advance. */
function testOf(transactionId: string | undefined): Pick<VerificationRequest, 'sandbox' | 'pinned'> {
  if (!transactionId?.startsWith(TEST_PREFIX)) return { sandbox: null, pinned: null }
  const asked = transactionId.slice(TEST_PREFIX.length)
  const sandbox = VERIFICATION_TEST_OUTCOMES.find((outcome) => asked.startsWith(outcome))
  if (sandbox) return { sandbox, pinned: null }
  const challenge = TEST_CHALLENGE.exec(asked)?.[1]
  if (challenge !== undefined) return { sandbox: null, pinned: { movements: movementsOf(challenge), fixedTimes: true } }
  const known = VERIFICATION_TEST_OUTCOMES.join(', ')
  throw invalid('/body/transactionID', `begins with ${TEST_PREFIX} and must continue with one of ${known}, challenge=`)
}

function movementsOf(text: string): PinnedChallenge['movements'] {
  const movements = text.split(',').flatMap((name) => MOVEMENTS.find((movement) => movement === name) ?? [])
  const isSound =
    movements.join() === text &&
    movements.length === LAUNCH_LIMITS.movements &&
    movements.every((movement, at) => movement !== movements[at - 1])
  if (isSound) return movements
  throw invalid('/body/transactionID', `must name ${LAUNCH_LIMITS.movements} movements, none twice in a row`)
}

function lifetimeOf(expiry: number | string | undefined, tenantSecondsMax: number, now: Date): number {
  if (expiry === undefined) return Math.min(SESSION_LIMITS.lifetimeSecondsDefault, tenantSecondsMax)
  const seconds = typeof expiry === 'number' ? expiry : secondsUntil(expiry, now)
  const pointer = '/body/sessionExpiry'
  if (seconds === undefined) {
    throw invalid(pointer, 'must be seconds, a duration such as PT15M or a moment such as 2026-01-31T12:00:00Z')
  }
  const { lifetimeSecondsMin: min, lifetimeSecondsMax: max } = SESSION_LIMITS
  if (seconds < min || seconds > max) throw invalid(pointer, `must be ${min} to ${max} seconds from now`)
  if (seconds > tenantSecondsMax) throw invalid(pointer, `must be <= ${tenantSecondsMax} for this tenant`)
  return seconds
}

function secondsUntil(text: string, now: Date): number | undefined {
  const moment = timeOfMoment(text)
  return moment === undefined ? secondsOfDuration(text) : (moment - now.getTime()) / 1000
}
