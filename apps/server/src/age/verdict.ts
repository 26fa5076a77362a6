import type {
  AgeRequirement,
  AgeResult,
  AgeStatus,
  ReturnFormat,
  SessionCodeName,
  ThresholdResult,
} from '@ostiary/contract'

/** What of a session's request the verdict depends on. */
export interface VerdictRequest {
  ageThreshold: number
  documentAgeThreshold: number
  faceMatchThreshold: number
  requirements: readonly AgeRequirement[]
  stepUpEnabled: boolean
  /** Whether step-up asks for a document in doubt, too. Absent in sessions of the last release, which always asked. */
  documentInDoubt?: boolean
  documentAgeReturnFormat: ReturnFormat
  facialAgeEstimationReturnFormat: ReturnFormat
}

export interface VerdictSettings {
  /** A face alone decides nothing when its age is nearer to the threshold than this. */
  faceAgeMarginYears: number
  alwaysReturnAge: boolean
}

/** What the face step found. */
export interface FaceFacts {
  estimateYears: number
  /** The frames or the behaviour make the estimate doubtful: with step-up and `documentInDoubt` a document is required. */
  doubtful: boolean
}

/** What the document step found. */
export interface DocumentFacts {
  /** Against `documentAgeThreshold`. */
  thresholdResult: ThresholdResult
  /** Whole years, where the host asked for them: nobody else learns them. */
  ageYears?: number
  /** Of the faces of capture and document; null when they were not compared. */
  faceMatchScore: number | null
}

export interface VerdictCase {
  request: VerdictRequest
  settings: VerdictSettings
  face?: FaceFacts
  document?: DocumentFacts
  /** What ended the flow before its steps were done. */
  failure?: SessionCodeName
}

export interface Decision {
  status: AgeStatus
  /** What the verdict rests on; null without a verdict. */
  basis: 'face' | 'document' | 'sandbox' | null
  errors: SessionCodeName[]
  result: AgeResult['result']
}

/**
 * Decides the verdict. A document decides before a face; when both are there, they must show the same person. A required step that
 * is missing, a failure or a doubt leaves the age unknown. No fault leads to a verdict.
 */
export function decide(given: VerdictCase): Decision {
  const { request, face, document, failure } = given
  if (failure !== undefined) return unknown(given, [failure])
  if (request.requirements.includes('face') && !face) return unknown(given)
  if (document) {
    if (face && !isMatch(request, document)) return unknown(given, ['FACE_NOT_MATCH'])
    return verdict(given, 'document', document.thresholdResult)
  }
  if (!face || needsDocument(request, face, given.settings) || isInMargin(given, face)) return unknown(given)
  return verdict(given, 'face', compareAge(face.estimateYears, request.ageThreshold))
}

/**
 * A document is always required when the host lists it. With step-up it is also required when the face looks younger than
 * the threshold, as the specification says, and where a setting asks for more: within the margin that the tenant has set, and
 * with `documentInDoubt` when the estimate is doubtful.
 */
export function needsDocument(
  request: VerdictRequest,
  face: FaceFacts | undefined,
  settings: VerdictSettings,
): boolean {
  if (request.requirements.includes('identity_document')) return true
  if (!request.stepUpEnabled || !face) return false
  const isBelow = compareAge(face.estimateYears, request.ageThreshold) === 'AGE_BELOW_THRESHOLD'
  return isBelow || (face.doubtful && asksInDoubt(request)) || isInMargin({ request, settings }, face)
}

const asksInDoubt = ({ documentInDoubt = true }: VerdictRequest) => documentInDoubt

/** Whether a doubtful estimate decides although a document could have: the host let the doubt pass, and should look at the result. */
export function isLeftInDoubt({ request, settings, face, document }: Steps): boolean {
  if (!face?.doubtful || document || !request.stepUpEnabled) return false
  return !needsDocument(request, face, settings)
}

/** Whether a document decides where the log of a capture leaves it open. */
export function hasDocumentInDoubt(request: VerdictRequest): boolean {
  return request.requirements.includes('identity_document') || (request.stepUpEnabled && asksInDoubt(request))
}

/** Whether a session can come to need a document at all. */
export function mayNeedDocument({ requirements, stepUpEnabled }: VerdictRequest): boolean {
  return stepUpEnabled || requirements.includes('identity_document')
}

/**
 * What the page says that the host asks for. Hosts that add years for the error of an estimate name the true age as `documentAgeThreshold`,
 * so that is the age; the estimate has to reach more. Where a document always decides, no estimate has to reach anything.
 */
export function askedAges(
  request: VerdictRequest,
  { faceAgeMarginYears }: Pick<VerdictSettings, 'faceAgeMarginYears'>,
): { age: number; estimate: number | null } {
  const { ageThreshold, documentAgeThreshold, requirements } = request
  if (requirements.includes('identity_document')) return { age: documentAgeThreshold, estimate: null }
  const age = Math.min(ageThreshold, documentAgeThreshold)
  // Decimals are allowed, and sums of them are not exact.
  const estimate = Math.round(100 * (ageThreshold + faceAgeMarginYears)) / 100
  return { age, estimate: estimate === age ? null : estimate }
}

/**
 * Compares an age with a threshold. A person is at a whole threshold for a year, until the next birthday. A threshold
 * with decimals is a moment, so no age is at it: the age is above it from then on.
 */
export function compareAge(ageYears: number, threshold: number): ThresholdResult {
  if (Math.floor(ageYears) === threshold) return 'AGE_AT_THRESHOLD'
  return ageYears >= threshold ? 'AGE_ABOVE_THRESHOLD' : 'AGE_BELOW_THRESHOLD'
}

/** A verdict of the test mode, with the fields that the steps of the session would give for a person of such an age. */
export function sandboxDecision(request: VerdictRequest, settings: VerdictSettings, status: AgeStatus): Decision {
  if (status === 'AGE_UNKNOWN') return unknown({ request, settings })
  const ageAt = SANDBOX_AGES[status]
  const face = request.requirements.includes('face')
    ? { estimateYears: ageAt(request.ageThreshold), doubtful: false }
    : undefined
  const document = needsDocument(request, face, settings)
    ? documentOfAge(request, ageAt(request.documentAgeThreshold), face ? 1 : null)
    : undefined
  const steps = { request, settings, ...(face && { face }), ...(document && { document }) }
  return { ...verdict(steps, document ? 'document' : 'face', status), basis: 'sandbox' }
}

const SANDBOX_AGES: Readonly<Record<ThresholdResult, (threshold: number) => number>> = {
  AGE_ABOVE_THRESHOLD: (threshold) => Math.floor(threshold) + 5,
  AGE_AT_THRESHOLD: (threshold) => threshold,
  AGE_BELOW_THRESHOLD: (threshold) => Math.max(0, Math.ceil(threshold) - 5),
}

/** What a document of such an age would say. */
export function documentOfAge(
  { documentAgeThreshold }: Pick<VerdictRequest, 'documentAgeThreshold'>,
  ageYears: number,
  faceMatchScore: number | null,
): DocumentFacts {
  const thresholdResult = compareAge(ageYears, documentAgeThreshold)
  return { thresholdResult, ageYears: Math.floor(ageYears), faceMatchScore }
}

export type Steps = Pick<VerdictCase, 'request' | 'settings' | 'face' | 'document'>

function verdict(given: Steps, basis: 'face' | 'document', status: ThresholdResult): Decision {
  const age = ageToTell(given, basis)
  return { status, basis, errors: [], result: { ...(age === undefined ? {} : { age }), ...stepResults(given) } }
}

/**
 * Without a verdict the result has no age. After a failure it has nothing of the steps either: a host that reads a nested field must not
 * find a pass there that was refused. Only a face that does not match its document is shown with both.
 */
function unknown(given: Steps, errors: SessionCodeName[] = []): Decision {
  const isTold = errors.every((name) => name === 'FACE_NOT_MATCH')
  const { request, settings } = given
  return { status: 'AGE_UNKNOWN', basis: null, errors, result: stepResults(isTold ? given : { request, settings }) }
}

/** What each step that was done found, in the format the host asked for. */
function stepResults({ request, face, document }: Steps): AgeResult['result'] {
  const score = face && document ? document.faceMatchScore : null
  return {
    ...(score !== null && { confidenceScore: score, faceMatch: score >= request.faceMatchThreshold }),
    ...(document && {
      documentAge: inFormat(request.documentAgeReturnFormat, {
        thresholdResult: document.thresholdResult,
        exact: document.ageYears,
      }),
    }),
    ...(face && {
      facialAgeEstimation: inFormat(request.facialAgeEstimationReturnFormat, {
        thresholdResult: compareAge(face.estimateYears, request.ageThreshold),
        exact: face.estimateYears,
      }),
    }),
  }
}

function inFormat(
  format: ReturnFormat,
  { thresholdResult, exact }: { thresholdResult: ThresholdResult; exact: number | undefined },
): { thresholdResult?: ThresholdResult; exact?: number } {
  if (format === 'threshold' || exact === undefined) return { thresholdResult }
  return format === 'exact' ? { exact } : { thresholdResult, exact }
}

/**
 * `result.age` in whole years: of the step that decided if its format includes `exact`, else of the other one if its does.
 * A host that asked for thresholds only learns no age, unless the tenant has set that it always does.
 */
function ageToTell({ request, settings, face, document }: Steps, basis: 'face' | 'document'): number | undefined {
  const ages = {
    face: { years: face?.estimateYears, format: request.facialAgeEstimationReturnFormat },
    document: { years: document?.ageYears, format: request.documentAgeReturnFormat },
  }
  const other = basis === 'face' ? 'document' : 'face'
  const returned = [ages[basis], ages[other]].find(
    ({ years, format }) => years !== undefined && (settings.alwaysReturnAge || format !== 'threshold'),
  )
  return returned?.years === undefined ? undefined : Math.floor(returned.years)
}

function isMatch(request: VerdictRequest, { faceMatchScore }: DocumentFacts): boolean {
  return faceMatchScore !== null && faceMatchScore >= request.faceMatchThreshold
}

function isInMargin({ request, settings }: Pick<Steps, 'request' | 'settings'>, { estimateYears }: FaceFacts): boolean {
  return Math.abs(estimateYears - request.ageThreshold) < settings.faceAgeMarginYears
}
