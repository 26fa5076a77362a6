import {
  AGE_LIMITS,
  type AgeRequirement,
  type AgeStatus,
  type CreateSessionBody,
  findSessionCodeName,
  type ReturnFormat,
  type RiskLevel,
  SandboxChallenge,
  SandboxOutcome,
  SESSION_CODES,
  type TenantSettings,
} from '@ostiary/contract'
import { Compile } from 'typebox/compile'
import type { PinnedChallenge } from '../capture-checks/index.ts'
import { invalid, invalidUrl } from '../platform/errors.ts'
import { readPart } from '../platform/validation.ts'
import {
  type DocumentPolicy,
  documentPolicyOf,
  ignoredFieldWarnings,
  NO_REDIRECT_LIST_WARNING,
  pageLocaleOf,
  redirectProblem,
} from '../settings/index.ts'

/** What a test key may ask for instead of a person before a camera (`metadata.__test`, and the sandbox's own call). */
export interface SimulatedOutcome {
  outcome: AgeStatus
  errors: number[]
  risk: RiskLevel
  delayMs: number
  /** Ages the steps are to find; derived from the outcome when absent. */
  faceAge?: number
  documentAge?: number
  faceMatchScore?: number
}

/** The tenant's settings at the creation of the session: they apply until its end. */
export type Policy = Pick<
  TenantSettings,
  'retentionSeconds' | 'alwaysReturnAge' | 'faceAgeMarginYears' | 'enforceBlock' | 'risk' | 'defaultLocale'
> &
  /** Absent in sessions of the last release. */
  Partial<Pick<TenantSettings, 'redirectCode'>> & {
    /** Which documents count. Absent in sessions of the last release. */
    documents?: DocumentPolicy
  }

/** A session as the host asked for it, with every default filled in. Sealed in the session. */
export interface AgeRequest {
  token: string
  redirectUrl: string
  ageThreshold: number
  documentAgeThreshold: number
  faceMatchThreshold: number
  requirements: AgeRequirement[]
  documentAgeReturnFormat: ReturnFormat
  facialAgeEstimationReturnFormat: ReturnFormat
  stepUpEnabled: boolean
  /** Absent in sessions of the last release, which always asked for a document in doubt. */
  documentInDoubt?: boolean
  enableDesktop: boolean
  locale: string | null
  callback: { url: string; headers: Record<string, string> } | null
  metadata: Record<string, unknown>
  /** The metadata as it was sent, where serialising it again would change it. */
  metadataText?: string
  sandbox: SimulatedOutcome | null
  /** Absent in sessions of releases that did not have it. */
  pinned?: PinnedChallenge | null
  handoff?: 'number' | 'forbidden'
  policy: Policy
}

export interface Wanted {
  livemode: boolean
  settings: TenantSettings
  /** The member `metadata` of the body as it was sent. */
  metadataText?: string | undefined
  /** A hash of the subject of the bearer token, where the tenant asked for it. */
  subjectHash?: string | undefined
}

/** Checks what a schema cannot, and fills in the defaults. */
export function toRequest(
  body: CreateSessionBody,
  { livemode, settings, metadataText, subjectHash }: Wanted,
): Omit<AgeRequest, 'token'> {
  const given = body.metadata ?? {}
  const problem = redirectProblem(body.redirectUrl, settings, livemode)
  if (problem !== undefined) throw invalidUrl('/body/redirectUrl', problem)
  const { faceMatchThreshold, compareThreshold } = body
  if (faceMatchThreshold !== undefined && compareThreshold !== undefined && faceMatchThreshold !== compareThreshold) {
    throw invalid('/body/compareThreshold', 'is another name of faceMatchThreshold and must be equal to it')
  }
  if ((body.sessionExpiry ?? 0) > settings.sessionSecondsMax) {
    throw invalid('/body/sessionExpiry', `must be <= ${settings.sessionSecondsMax} for this tenant`)
  }
  return {
    redirectUrl: body.redirectUrl,
    ageThreshold: body.ageThreshold,
    documentAgeThreshold: body.documentAgeThreshold ?? body.ageThreshold,
    faceMatchThreshold: faceMatchThreshold ?? compareThreshold ?? AGE_LIMITS.faceMatchThresholdDefault,
    requirements: [...(body.requirements ?? ['face'])],
    documentAgeReturnFormat: body.documentAgeReturnFormat ?? 'threshold',
    facialAgeEstimationReturnFormat: body.facialAgeEstimationReturnFormat ?? 'threshold',
    stepUpEnabled: body.stepUpEnabled ?? false,
    documentInDoubt: body.documentInDoubt ?? settings.documentInDoubt,
    enableDesktop: body.enableDesktop ?? false,
    handoff: 'number',
    locale: pageLocaleOf(body.locale),
    callback: body.callback ? { url: body.callback.url, headers: { ...body.callback.headers } } : null,
    ...metadataOf(given, metadataText, subjectHash),
    ...(livemode || !('__test' in given) ? NO_TEST : readTest(given.__test, '/body/metadata/__test')),
    policy: {
      retentionSeconds: settings.retentionSeconds,
      alwaysReturnAge: settings.alwaysReturnAge,
      faceAgeMarginYears: settings.faceAgeMarginYears,
      enforceBlock: settings.enforceBlock,
      risk: settings.risk,
      defaultLocale: settings.defaultLocale,
      redirectCode: settings.redirectCode,
      documents: documentPolicyOf(settings),
    },
  }
}

/** Metadata goes back byte for byte. Where serialising it again would change it, its text is kept too. */
function metadataOf(
  given: Record<string, unknown>,
  sent: string | undefined,
  subjectHash: string | undefined,
): Pick<AgeRequest, 'metadata' | 'metadataText'> {
  const written = JSON.stringify(given)
  const text = sent ?? written
  if (Buffer.byteLength(text) > AGE_LIMITS.metadataBytes) {
    throw invalid('/body/metadata', `must have at most ${AGE_LIMITS.metadataBytes} bytes as JSON`)
  }
  const metadata = subjectHash === undefined ? given : { ...given, subjectHash }
  if (text === written) return { metadata }
  if (subjectHash === undefined) return { metadata, metadataText: text }
  // Replaces a subjectHash of the host. An empty object has no text to keep.
  if ('subjectHash' in given || written === '{}') return { metadata }
  return { metadata, metadataText: `${text.slice(0, -1)},"subjectHash":${JSON.stringify(subjectHash)}}` }
}

/** Settings that are allowed but have no good result. */
export function warningsOf(body: CreateSessionBody, { unlisted }: { unlisted: boolean }): string[] {
  const asksDocument = body.requirements?.includes('identity_document') ?? false
  const { ageThreshold, documentAgeThreshold, stepUpEnabled = false } = body
  const warnings: string[] = []
  if (!stepUpEnabled && !asksDocument) {
    warnings.push(ageThreshold < AGE_LIMITS.challengeAgeMin ? 'estimate-without-buffer' : 'no-way-for-younger')
  }
  if (stepUpEnabled && ageThreshold > 18 && documentAgeThreshold === undefined) {
    warnings.push('documentAgeThreshold-missing')
  }
  if (unlisted) warnings.push(NO_REDIRECT_LIST_WARNING)
  return [...warnings, ...ignoredFieldWarnings(body)]
}

const NO_TEST = { sandbox: null, pinned: null }
const challenges = Compile(SandboxChallenge)

/** What a test key asks for in `metadata.__test`: a simulated outcome, or a challenge that is known in advance. */
function readTest(value: unknown, pointer: string): Pick<AgeRequest, 'sandbox' | 'pinned'> {
  const asksChallenge = typeof value === 'object' && value !== null && 'challenge' in value
  if (!asksChallenge) return { sandbox: readSimulatedOutcome(value, pointer), pinned: null }
  const { challenge: movements, times } = readPart(challenges, value, pointer)
  const repeated = movements.findIndex((movement, at) => at > 0 && movement === movements[at - 1])
  if (repeated >= 0) throw invalid(`${pointer}/challenge/${repeated}`, 'must be another movement than the one before')
  return { sandbox: null, pinned: { movements, fixedTimes: times === 'fixed' } }
}

const outcomes = Compile(SandboxOutcome)
const NO_TRY_WAS_GOOD = SESSION_CODES.ATTEMPTS_EXCEEDED.code

/** `pointer` is where in the request the outcome stands. */
export function readSimulatedOutcome(value: unknown, pointer: string): SimulatedOutcome {
  const asked = readPart(outcomes, value, pointer)
  const { outcome = 'AGE_ABOVE_THRESHOLD', errors = [], risk = 'LOW', delayMs = 0, ...ages } = asked
  const unknown = errors.findIndex((code) => findSessionCodeName(code) === undefined)
  if (unknown >= 0) throw invalid(`${pointer}/errors/${unknown}`, 'is not a session code (docs/session-codes.md)')
  const isAged = ages.faceAge !== undefined || ages.documentAge !== undefined
  // A flow that completes without a verdict names a reason. Where the host names none, it is the most frequent one of real users: all tries failed.
  const codes = outcome === 'AGE_UNKNOWN' && errors.length === 0 && !isAged ? [NO_TRY_WAS_GOOD] : [...errors]
  return { outcome: codes.length > 0 ? 'AGE_UNKNOWN' : outcome, errors: codes, risk, delayMs, ...ages }
}
