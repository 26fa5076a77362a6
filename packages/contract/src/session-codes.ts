import * as codes from './codes.ts'

/** `F` ends the session; `D` is noted and the session goes on; `F*` ends it once the attempts are used up. */
export type SessionCodeKind = 'F' | 'D' | 'F*'

export interface SessionCodeFacts {
  code: number
  kind: SessionCodeKind
  /** What area D sends as `message`. Short, and the same for every cue an attacker could learn from. */
  message: string
  meaning: string
  /** What the host should do. */
  host: string
}

/**
 * Every number that `errors` (areas C and D) and `errorCodes` (D) can hold. A code is never reused and never changes its
 * meaning; it may gain reasons. `docs/session-codes.md` is generated from this table. Area E's `status` numbers are a
 * namespace of their own.
 */
export const SESSION_CODES = {
  SPOOF: {
    code: codes.SPOOF,
    kind: 'F*',
    message: 'Image spoof',
    meaning: 'A presentation attack: a print, a screen, a mask or a drawn face was held before the camera.',
    host: 'Treat as denied. Do not tell the user which cue failed.',
  },
  VIDEO_SPOOF: {
    code: codes.VIDEO_SPOOF,
    kind: 'F',
    message: 'Image spoof',
    meaning: 'The stream was replayed, synthetic or injected. Code 1 comes before it.',
    host: 'Deny; review when it repeats.',
  },
  DESKTOP: {
    code: codes.DESKTOP,
    kind: 'F*',
    message: 'Desktop is not allowed',
    meaning: 'The page was opened on a desktop and `enableDesktop` is false. The user is shown a QR code for a phone.',
    host: 'Nothing. If the user never moves to a phone, the session expires with this code.',
  },
  UNSUPPORTED_BROWSER: {
    code: codes.UNSUPPORTED_BROWSER,
    kind: 'D',
    message: 'Browser is not supported',
    meaning: 'A browser inside another app, or one without a camera interface.',
    host: 'Open the launch address in the system browser.',
  },
  CAMERA_FAIL: {
    code: codes.CAMERA_FAIL,
    kind: 'F*',
    message: 'Camera failure',
    meaning: 'The camera could not start, or stopped. `errorDetails` gives the reason.',
    host: 'Offer another device.',
  },
  SESSION_EXPIRED: {
    code: codes.SESSION_EXPIRED,
    kind: 'F',
    message: 'Session expired',
    meaning: 'The lifetime of the session has passed.',
    host: 'Create a new session.',
  },
  FACE_NOT_MATCH: {
    code: codes.FACE_NOT_MATCH,
    kind: 'F*',
    message: 'Face does not match',
    meaning:
      'The live face does not match the portrait of the document (C, ENROLL) or the enrolled face (SIGN-IN, VERIFY; ENROLL under a `customerId` that somebody has).',
    host: 'Deny, and offer another factor.',
  },
  LOW_LIGHT: {
    code: codes.LOW_LIGHT,
    kind: 'F*',
    message: 'Not enough light',
    meaning: 'The light was never sufficient.',
    host: 'Let the user try again later.',
  },
  MULTIPLE_FACES: {
    code: codes.MULTIPLE_FACES,
    kind: 'F*',
    message: 'More than one face',
    meaning: 'More than one face was in the picture during the evaluation.',
    host: 'Let the user try again.',
  },
  NO_FACE: {
    code: codes.NO_FACE,
    kind: 'F*',
    message: 'No face found',
    meaning: 'No usable face before the deadline of the step.',
    host: 'Let the user try again, or offer another method.',
  },
  UNAUTHORIZED_CALLBACK: {
    code: codes.UNAUTHORIZED_CALLBACK,
    kind: 'F',
    message: 'Not authorized',
    meaning: 'A result was submitted without valid credentials of the session.',
    host: 'Check your integration.',
  },
  TOKEN_ALREADY_USED: {
    code: codes.TOKEN_ALREADY_USED,
    kind: 'F',
    message: 'Already used',
    meaning: 'A payload, a handoff code or a nonce was used a second time.',
    host: 'Investigate.',
  },
  DEVICE_MISMATCH: {
    code: codes.DEVICE_MISMATCH,
    kind: 'F',
    message: 'Another device',
    meaning: 'The device is not the one bound to the session or to the enrolment, and there was no handoff.',
    host: 'Enrol again, or ask for a stronger factor.',
  },
  USER_CANCELLED: {
    code: codes.USER_CANCELLED,
    kind: 'F',
    message: 'Cancelled by the user',
    meaning: 'The user cancelled. The session ends as `CANCELLED`.',
    host: 'Offer the check again later.',
  },
  CONSENT_DECLINED: {
    code: codes.CONSENT_DECLINED,
    kind: 'F',
    message: 'Consent declined',
    meaning: 'The user refused consent. The session ends as `CANCELLED`.',
    host: 'Offer another method.',
  },
  ATTEMPTS_EXCEEDED: {
    code: codes.ATTEMPTS_EXCEEDED,
    kind: 'F',
    message: 'Too many attempts',
    meaning: 'All attempts were used without a verdict.',
    host: 'Wait before a new session.',
  },
  MODEL_LOAD_FAILED: {
    code: codes.MODEL_LOAD_FAILED,
    kind: 'F*',
    message: 'Model could not be loaded',
    meaning: 'A model or its WebAssembly did not load on the device, or this release does not know the model.',
    host: 'Check your content security policy and proxies; upgrade page and API together.',
  },
  NETWORK_LOST: {
    code: codes.NETWORK_LOST,
    kind: 'D',
    message: 'Network lost',
    meaning: 'A submission failed and was repeated.',
    host: 'Nothing.',
  },
  FACE_SCAN_ERROR: {
    code: codes.FACE_SCAN_ERROR,
    kind: 'D',
    message: 'Face scan error',
    meaning: 'The face pipeline on the device failed.',
    host: 'Report the session to your operator when it repeats.',
  },
  DOCUMENT_SCAN_ERROR: {
    code: codes.DOCUMENT_SCAN_ERROR,
    kind: 'D',
    message: 'Document scan error',
    meaning: 'The document pipeline on the device failed.',
    host: 'Report the session to your operator when it repeats.',
  },
  SESSION_LOAD_FAILED: {
    code: codes.SESSION_LOAD_FAILED,
    kind: 'D',
    message: 'Session could not be loaded',
    meaning: 'The page could not load the session.',
    host: 'Check the base address of your installation.',
  },
  PASSKEY_FAILED: {
    code: codes.PASSKEY_FAILED,
    kind: 'F*',
    message: 'Passkey failed',
    meaning: 'Making or using a passkey failed or was cancelled.',
    host: 'Offer another factor.',
  },
  DOCUMENT_EXPIRED: {
    code: codes.DOCUMENT_EXPIRED,
    kind: 'F*',
    message: 'Document expired',
    meaning: 'The document expired longer ago than the tenant’s `documentExpiryGraceDays`.',
    host: 'Ask for another document.',
  },
  DOCUMENT_UNREADABLE: {
    code: codes.DOCUMENT_UNREADABLE,
    kind: 'F*',
    message: 'Document not readable',
    meaning: 'Neither a machine-readable zone nor a barcode could be read, or no portrait could be compared.',
    host: 'Let the user try again, or ask for another document.',
  },
  DOCUMENT_UNSUPPORTED: {
    code: codes.DOCUMENT_UNSUPPORTED,
    kind: 'F*',
    message: 'Document not supported',
    meaning: 'A visa, or a type of document that the tenant does not accept.',
    host: 'Ask for another document.',
  },
  DOCUMENT_TAMPERED: {
    code: codes.DOCUMENT_TAMPERED,
    kind: 'F',
    message: 'Document not accepted',
    meaning: 'A check digit of the machine-readable zone does not fit.',
    host: 'Deny, or review.',
  },
  DOB_NOT_FOUND: {
    code: codes.DOB_NOT_FOUND,
    kind: 'F*',
    message: 'No date of birth found',
    meaning: 'The document gave no usable date of birth.',
    host: 'Ask for the other side or another document.',
  },
  FACE_OBSTRUCTED: {
    code: codes.FACE_OBSTRUCTED,
    kind: 'D',
    message: 'Face is covered',
    meaning: 'Dark glasses (reason `eyes_hidden`), a mask (`mask`), a hand or hair cover the face.',
    host: 'Nothing: the page guides the user.',
  },
  LIVENESS_INCONCLUSIVE: {
    code: codes.LIVENESS_INCONCLUSIVE,
    kind: 'F*',
    message: 'Liveness not confirmed',
    meaning: 'The movements were not completed, and no attack was seen either.',
    host: 'Offer another method.',
  },
  HANDOFF_EXPIRED: {
    code: codes.HANDOFF_EXPIRED,
    kind: 'D',
    message: 'Handoff expired',
    meaning:
      'The QR code was older than its 5 minutes, or (reason `number_mismatch`) the number typed on the second device was not the one on the first screen.',
    host: 'Nothing. The page offers a new one.',
  },
  POLICY_BLOCKED: {
    code: codes.POLICY_BLOCKED,
    kind: 'F',
    message: 'Blocked by policy',
    meaning: 'The risk recommendation is `BLOCK` and the tenant enforces it.',
    host: 'Deny.',
  },
  TEMPORARILY_LOCKED: {
    code: codes.TEMPORARILY_LOCKED,
    kind: 'F',
    message: 'Temporarily locked',
    meaning: 'Too many failures of this key, user or device. `retryAfter` says how long.',
    host: 'Wait.',
  },
  USER_NOT_ENROLLED: {
    code: codes.USER_NOT_ENROLLED,
    kind: 'F',
    message: 'User not enrolled',
    meaning: 'SIGN-IN or VERIFY found nobody.',
    host: 'Offer to enrol.',
  },
  ALREADY_ENROLLED: {
    code: codes.ALREADY_ENROLLED,
    kind: 'D',
    message: 'Already enrolled',
    meaning: 'ENROLL met a person who is enrolled; the ids there are returned.',
    host: 'A success. Look before you go on if you did not expect that person.',
  },
  HOST_CANCELLED: {
    code: codes.HOST_CANCELLED,
    kind: 'F',
    message: 'Cancelled by the host',
    meaning: 'The host cancelled through the API. The session ends as `CANCELLED`.',
    host: 'Nothing.',
  },
  QUALITY_LOW: {
    code: codes.QUALITY_LOW,
    kind: 'D',
    message: 'Quality too low',
    meaning: 'Sharpness, pose or distance (reason `too_far` or `too_close`) were never good enough.',
    host: 'Nothing: the page guides the user.',
  },
  INTERNAL: {
    code: codes.INTERNAL,
    kind: 'F',
    message: 'Internal error',
    meaning: 'A fault of the service. The verdict is unknown.',
    host: 'Try again; tell your operator when it repeats.',
  },
} as const satisfies Readonly<Record<string, SessionCodeFacts>>

export type SessionCodeName = keyof typeof SESSION_CODES

/** Numbers of earlier systems that integrators may know. Never sent; read them as the code they name. */
export const RETIRED_SESSION_CODES: Readonly<Record<number, SessionCodeName>> = { [-13]: 'SESSION_EXPIRED' }

/** Codes of sessions that ask for a document. */
export const DOCUMENT_CODES: readonly SessionCodeName[] = [
  'DOCUMENT_SCAN_ERROR',
  'DOCUMENT_EXPIRED',
  'DOCUMENT_UNREADABLE',
  'DOCUMENT_UNSUPPORTED',
  'DOCUMENT_TAMPERED',
  'DOB_NOT_FOUND',
]

/** What a device may say about itself. Everything else the server finds out, or nobody does. */
export const DEVICE_REPORTABLE = [
  'SPOOF',
  'UNSUPPORTED_BROWSER',
  'CAMERA_FAIL',
  'LOW_LIGHT',
  'MULTIPLE_FACES',
  'NO_FACE',
  'MODEL_LOAD_FAILED',
  'NETWORK_LOST',
  'FACE_SCAN_ERROR',
  'DOCUMENT_SCAN_ERROR',
  'DOCUMENT_UNREADABLE',
  'DOCUMENT_UNSUPPORTED',
  'DOB_NOT_FOUND',
  'PASSKEY_FAILED',
  'FACE_OBSTRUCTED',
  'LIVENESS_INCONCLUSIVE',
  'QUALITY_LOW',
] as const satisfies readonly SessionCodeName[]
export type DeviceReportable = (typeof DEVICE_REPORTABLE)[number]

/** Reasons of `CAMERA_FAIL`, in `errorDetails`. */
export const CAMERA_FAIL_REASONS = {
  permission_denied: 'The user or the system refused the camera.',
  not_found: 'There is no camera.',
  in_use: 'Another program uses the camera.',
  constraints: 'No camera can do what is asked.',
  insecure_context: 'The page was not opened over https.',
  policy_blocked: 'A permissions policy of the embedding page forbids the camera.',
  track_ended: 'The camera stopped during the step.',
} as const

export function isSessionCodeName(text: string): text is SessionCodeName {
  return Object.hasOwn(SESSION_CODES, text)
}

export const SESSION_CODE_NAMES: readonly SessionCodeName[] = Object.keys(SESSION_CODES).filter(isSessionCodeName)

const NAME_BY_CODE: ReadonlyMap<number, SessionCodeName> = new Map(
  SESSION_CODE_NAMES.map((name) => [SESSION_CODES[name].code, name]),
)

/** The interface has one number for a spoof, 1. A session that ends with our own 2 therefore carries 1 too, before it. */
export function withSpoof(names: readonly SessionCodeName[]): SessionCodeName[] {
  if (!names.includes('VIDEO_SPOOF')) return [...names]
  return ['SPOOF', ...names.filter((name) => name !== 'SPOOF')]
}

/** The name of a code that can be sent; undefined for any other number. */
export function findSessionCodeName(code: number): SessionCodeName | undefined {
  return NAME_BY_CODE.get(code)
}
