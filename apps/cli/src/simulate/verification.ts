import {
  type CaptureConditions,
  type OpenedSession,
  VERIFICATION_TYPES,
  type VerificationType,
} from '@ostiary/contract'
import type { SimulatedPerson } from '@ostiary/device/simulated'
import { seededRandom } from '@ostiary/device/simulated'
import type { OstiaryClient, VerificationWebhook } from '@ostiary/sdk'
import { type Invocation, number, text, UsageError } from '../command.ts'
import { describeConsent } from './consent.ts'
import { describeEnrolledDocument, readDocument } from './document.ts'
import { inventedFace } from './face.ts'
import { describeMovements } from './needs.ts'

/** ENROLL, SIGN-IN and VERIFY, as `ostiary simulate` plays them. */

const DEFAULT_REDIRECT = 'http://localhost/welcome'
/** This name never resolves. The command reads the webhook body from the API instead. */
const DEFAULT_CALLBACK = 'https://host.example/hook'
const DEFAULT_FACE = 1

/** 16 x 16 grey pixels, for sessions that share a selfie. */
const GREY_JPEG =
  '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAg+Pkk+SVVVVVVVVWRdZGhoaGRkZGRoaGhwcHCDg4NwcHBoaHBwfHyD' +
  'g4+Tj4eHg4eTk5ubm7q6srLZ2eD/////xABKAAEAAAAAAAAAAAAAAAAAAAAAAQEAAAAAAAAAAAAAAAAAAAAAEAEAAAAAAAAAAAAAAAAAAAAAEQEA' +
  'AAAAAAAAAAAAAAAAAAAA/8AAEQgAEAAQAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8AAA//2Q=='

/** Undefined means an age session. */
export function readType(invocation: Invocation): VerificationType | undefined {
  const wanted = text(invocation, 'type')
  if (wanted === undefined) return undefined
  const type = VERIFICATION_TYPES.find((one) => one === wanted)
  if (!type) throw new UsageError(`--type must be one of ${VERIFICATION_TYPES.join(', ')}; without it, an age session`)
  return type
}

export function readFace(invocation: Invocation): number {
  return number(invocation, 'face') ?? DEFAULT_FACE
}

/** Creates the session, and returns a way to read its webhook body. */
export async function createVerification(
  invocation: Invocation,
  { verification }: Pick<OstiaryClient, 'verification'>,
  type: VerificationType,
): Promise<{ sessionId: string; readResult: () => Promise<VerificationWebhook> }> {
  const [puid, customerId] = [text(invocation, 'puid'), text(invocation, 'customer-id')]
  const { sessionId } = await verification.create({
    type,
    redirectURL: text(invocation, 'redirect') ?? DEFAULT_REDIRECT,
    callback: { url: text(invocation, 'callback') ?? DEFAULT_CALLBACK },
    transactionID: 'simulated',
    ...(readDocument(invocation) && type === 'ENROLL' && { requirements: ['face', 'identity_document'] }),
    ...(puid !== undefined && { puid }),
    ...(customerId !== undefined && { customerId }),
  })
  return { sessionId, readResult: () => verification.webhook(sessionId) }
}

/** As a phone without a light sensor would report it. */
const LIVING_ROOM: CaptureConditions = {
  light: { brightness: 120, lux: null },
  motion: 0.25,
  camera: { width: 640, height: 480, frameRate: 30 },
}

/** What a verification session asks of a device besides liveness: a vector, and if the session wants them an age and a picture. */
export function partOf(
  { verification }: Pick<OpenedSession, 'verification'>,
  { ageYears, face, seed }: { ageYears: number; face: number; seed: number },
): Pick<SimulatedPerson, 'ageYears' | 'vector' | 'selfie' | 'conditions'> {
  if (!verification) return { ageYears }
  return {
    ageYears: verification.estimateAge ? ageYears : null,
    vector: inventedFace(face, seededRandom(seed)),
    conditions: LIVING_ROOM,
    ...(verification.sendImages && { selfie: Uint8Array.from(Buffer.from(GREY_JPEG, 'base64')) }),
  }
}

export function describeWebhook(webhook: VerificationWebhook): string[] {
  const { type, outcome, puid, matchedBy, estimatedAge, errors, retryAfter, document, riskEvaluation } = webhook
  const { score, level, recommendation, flags } = riskEvaluation
  return [
    `  outcome    ${type} ${outcome}`,
    ...(puid === undefined ? [] : [`  person     ${puid}`]),
    ...(matchedBy === undefined ? [] : [`  matched by ${matchedBy}`]),
    ...(estimatedAge === undefined ? [] : [`  age        ${estimatedAge}`]),
    ...(errors.length > 0
      ? [`  errors     ${errors.map(({ code, message }) => `${message} (${code})`).join(', ')}`]
      : []),
    ...(retryAfter === undefined ? [] : [`  wait       ${retryAfter} s`]),
    ...describeEnrolledDocument(document),
    ...describeConsent(webhook.consent),
    `  risk       ${level} ${score}, ${recommendation}${flags.length > 0 ? `: ${flags.join(', ')}` : ''}`,
    ...describeMovements(webhook.assurance),
  ]
}
