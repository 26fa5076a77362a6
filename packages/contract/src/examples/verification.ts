import type { AccessToken } from '../oauth.ts'
import { SESSION_CODES, type SessionCodeName } from '../session-codes.ts'
import type {
  CreatedVerification,
  VerificationFault,
  VerificationPage,
  VerificationSummary,
  VerificationWebhook,
} from '../verification.ts'
import type { CreateVerificationBody } from '../verification-request.ts'
import { calm, confirmed, consented, notEvaluated } from './age.ts'
import { EXAMPLE_SESSION, type OperationExamples } from './example.ts'

const { sessionId, launchUrl, createdAt, endedAt, expiresAt, code } = EXAMPLE_SESSION
const livemode = true
const transactionId = 'order-4711'
const puid = '01a1df14-1e00-7c1f-9a53-6c7a1d1f0b9e'

const enroll: CreateVerificationBody = {
  type: 'ENROLL',
  redirectURL: 'https://shop.example/welcome?state=9bq0xJ4kT2m7',
  callback: { url: 'https://shop.example/hooks/ostiary' },
  transactionID: transactionId,
}
const signIn: CreateVerificationBody = { ...enroll, type: 'SIGN-IN' }
const verify: CreateVerificationBody = { ...enroll, type: 'VERIFY', puid }

const created: CreatedVerification = { launchUrl, sessionId, expiresAt, livemode }
const summary: VerificationSummary = {
  sessionId,
  type: 'ENROLL',
  state: 'SUCCESS',
  outcome: 'SUCCEEDED',
  transactionId,
  requirements: ['face'],
  createdAt,
  expiresAt,
  endedAt,
  livemode,
}
const page: VerificationPage = { items: [summary], count: 1, nextCursor: null }

const enrolled: VerificationWebhook = {
  sessionId,
  status: 'SUCCESS',
  transactionId,
  message: 'Ok',
  puid,
  guid: '01a1de02-7b40-7f57-8a6c-2a0c6f2f7f11',
  identityInformation: { verificationDate: String(Date.parse(endedAt)) },
  errors: [],
  riskEvaluation: { ...calm, signals: { ...calm.signals, behavioral: null } },
  type: 'ENROLL',
  outcome: 'SUCCEEDED',
  codeHash: '5f0c0b8d9d4a6f0a1b8f2c7c3f0e4e0d7f4f4b4f3a6d5f1c2b3a495867768594',
  captureConditions: {
    light: { brightness: 125, lux: null },
    motion: 0.25,
    camera: { width: 640, height: 480, frameRate: 30 },
  },
  consent: { ...consented, version: '2' },
  livemode,
}
const signedIn: VerificationWebhook = { ...enrolled, type: 'SIGN-IN', matchedBy: 'server' }

function faultOf(name: SessionCodeName): VerificationFault {
  const { code: number, message } = SESSION_CODES[name]
  return { code: number, message }
}

/** An ENROLL or VERIFY that did not succeed. */
function failed(name: SessionCodeName, more: Partial<VerificationWebhook>): VerificationWebhook {
  const fault = faultOf(name)
  return {
    sessionId,
    status: 'FAILED',
    transactionId,
    message: fault.message,
    errors: [fault],
    riskEvaluation: notEvaluated,
    type: 'ENROLL',
    outcome: 'FAILED',
    codeHash: null,
    consent: null,
    livemode,
    ...more,
  }
}

const cancelled = failed('HOST_CANCELLED', { outcome: 'CANCELLED' })
const expired = failed('SESSION_EXPIRED', { outcome: 'EXPIRED' })
const locked = failed('TEMPORARILY_LOCKED', {
  status: 'error',
  errorCodes: [faultOf('TEMPORARILY_LOCKED').code],
  retryAfter: 60,
  type: 'SIGN-IN',
  codeHash: 'b1946ac92492d2347c6235b4d2611184e7a1f0c5d3a2b4968778695a4b3c2d1e',
  consent: { ...consented, version: '2' },
})

const accessToken: AccessToken = {
  access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9…',
  token_type: 'Bearer',
  expires_in: 600,
}

export const VERIFICATION_EXAMPLES = {
  createVerification: {
    request: {
      'Register a face': enroll,
      'Find its person again': signIn,
      'Compare with one person': verify,
    },
    replies: { 201: { Created: created } },
  },
  getVerification: { replies: { 200: { 'A session that has ended': summary } } },
  getVerificationWebhook: { replies: { 200: { 'A face was registered': enrolled, 'A sign-in failed': locked } } },
  cancelVerification: { replies: { 200: { Cancelled: cancelled } } },
  confirmVerification: {
    request: { 'The code of the redirect': { code } },
    replies: { 200: { 'This browser has finished the session': { ...confirmed, livemode } } },
  },
  listVerifications: { replies: { 200: { 'The only page': page } } },
  requestToken: {
    request: {
      'By client secret': {
        grant_type: 'client_credentials',
        client_id: 'ostc_live_…',
        client_secret: 'ostcs_live_…',
      },
    },
    replies: { 200: { 'For ten minutes': accessToken } },
  },
} as const satisfies Record<string, OperationExamples>

export const VERIFICATION_EVENT_EXAMPLES = {
  'verification.succeeded': { 'A face was registered': enrolled, 'A person signed in': signedIn },
  'verification.failed': {
    'A sign-in failed': locked,
    'Cancelled by the host': cancelled,
    'Nobody opened the launch URL': expired,
  },
}
