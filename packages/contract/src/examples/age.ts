import type { AgeResult, CreatedSession } from '../age.ts'
import type { CreateSessionBody } from '../age-request.ts'
import type { ConsentRecord } from '../consent.ts'
import { AGE_LIMITS } from '../limits.ts'
import type { ConfirmedReturn } from '../returns.ts'
import type { RiskEvaluation } from '../risk.ts'
import { RISK_POLICY_VERSION } from '../risk-flags.ts'
import { SESSION_CODES } from '../session-codes.ts'
import type { SessionPage, SessionSummary } from '../session-list.ts'
import { EXAMPLE_SESSION, type OperationExamples } from './example.ts'

const { sessionId, launchUrl, createdAt, endedAt, expiresAt, code } = EXAMPLE_SESSION
const token = 'at_B5tq38SHjkC5OREZwXmgT46byf0YUxpFYMB-Y6YfmROMBCpEZ2sveqv1XflB6Tsh'
const metadata = { orderId: 'A-7' }

export const consented: ConsentRecord = {
  accepted: true,
  version: '1',
  language: 'en',
  at: '2026-11-15T10:02:04.610Z',
}

/** Nothing was suspicious. */
export const calm: RiskEvaluation = {
  score: 0,
  level: 'LOW',
  recommendation: 'ALLOW',
  flags: [],
  signals: { behavioral: { score: 0, flags: [] }, browser: { score: 0, flags: [] } },
  policyVersion: RISK_POLICY_VERSION,
}

/** No device was there to be evaluated. */
export const notEvaluated: RiskEvaluation = {
  ...calm,
  recommendation: 'REVIEW',
  signals: { behavioral: null, browser: null },
}

const { faceMatchThresholdDefault } = AGE_LIMITS
const ended = {
  token,
  sessionId,
  thresholds: {
    ageThreshold: 30,
    compareThreshold: faceMatchThresholdDefault,
    faceMatchThreshold: faceMatchThresholdDefault,
    documentAgeThreshold: 18,
  },
  metadata,
  createdAt,
  expiresAt,
  livemode: false,
} as const

const above: AgeResult = {
  ...ended,
  sessionStatus: 'AGE_ABOVE_THRESHOLD',
  status: 'AGE_ABOVE_THRESHOLD',
  flowStatus: 'COMPLETED',
  result: {
    facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD' },
  },
  riskEvaluation: calm,
  errors: [],
  errorDetails: [],
  outcome: 'SUCCEEDED',
  assurance: { level: 'estimate', method: 'on-device face age estimation' },
  endedAt,
  consent: consented,
}

const below: AgeResult = {
  ...above,
  sessionStatus: 'AGE_BELOW_THRESHOLD',
  status: 'AGE_BELOW_THRESHOLD',
  result: {
    facialAgeEstimation: { thresholdResult: 'AGE_BELOW_THRESHOLD' },
  },
}

const withoutVerdict: AgeResult = {
  ...above,
  sessionStatus: 'AGE_UNKNOWN',
  status: 'AGE_UNKNOWN',
  result: {},
  riskEvaluation: { ...calm, recommendation: 'REVIEW' },
  errors: [SESSION_CODES.ATTEMPTS_EXCEEDED.code],
  errorDetails: [{ code: SESSION_CODES.ATTEMPTS_EXCEEDED.code, name: 'ATTEMPTS_EXCEEDED' }],
  outcome: 'FAILED',
  assurance: { level: 'none', method: 'none' },
}

const cancelled: AgeResult = {
  ...withoutVerdict,
  flowStatus: 'CANCELLED',
  riskEvaluation: notEvaluated,
  errors: [SESSION_CODES.HOST_CANCELLED.code],
  errorDetails: [{ code: SESSION_CODES.HOST_CANCELLED.code, name: 'HOST_CANCELLED' }],
  outcome: 'CANCELLED',
  consent: null,
}

const expired: AgeResult = {
  ...cancelled,
  flowStatus: 'EXPIRED',
  errors: [SESSION_CODES.SESSION_EXPIRED.code],
  errorDetails: [{ code: SESSION_CODES.SESSION_EXPIRED.code, name: 'SESSION_EXPIRED' }],
  outcome: 'EXPIRED',
  endedAt: expiresAt,
}

const open: AgeResult = {
  ...cancelled,
  flowStatus: null,
  errors: [],
  errorDetails: [],
  outcome: null,
  endedAt: null,
  progress: { state: 'CREATED', attempt: 0 },
}

const created: CreatedSession = { token, launchUrl, expiresAt, sessionId, livemode: false }
const summary: SessionSummary = {
  sessionId,
  state: 'COMPLETED',
  flowStatus: 'COMPLETED',
  createdAt,
  expiresAt,
  endedAt,
  livemode: false,
  metadata,
}
const page: SessionPage = { items: [summary], count: 1, nextCursor: null }

export const confirmed: ConfirmedReturn = {
  sessionId,
  flowStatus: 'COMPLETED',
  outcome: 'SUCCEEDED',
  confirmedAt: '2026-11-15T10:02:19.480Z',
  livemode: false,
}

const gate: CreateSessionBody = {
  redirectUrl: 'https://shop.example/age-checked',
  ageThreshold: 30,
  stepUpEnabled: true,
  documentInDoubt: true,
  documentAgeThreshold: 18,
  callback: { url: 'https://shop.example/hooks/ostiary' },
  metadata,
}
const byDocument: CreateSessionBody = {
  redirectUrl: 'https://shop.example/age-checked',
  ageThreshold: 18,
  requirements: ['identity_document', 'face'],
}

export const AGE_EXAMPLES = {
  createSession: {
    request: {
      'At least 18: by the face from 30 on, else by a document': gate,
      'At least 18, by a document alone': byDocument,
    },
    replies: { 201: { Created: created } },
  },
  getSessionResult: {
    replies: {
      200: {
        'Above the threshold': above,
        'Below the threshold': below,
        'All tries are used up': withoutVerdict,
        'The flow is still open': open,
      },
    },
  },
  getSession: { replies: { 200: { 'A session that has ended': summary } } },
  cancelSession: { replies: { 200: { Cancelled: cancelled } } },
  confirmSession: {
    request: { 'The code of the redirect': { code } },
    replies: { 200: { 'This browser has finished the session': confirmed } },
  },
  listSessions: { replies: { 200: { 'The only page': page } } },
} as const satisfies Record<string, OperationExamples>

export const AGE_EVENT_EXAMPLES = {
  'age.session.completed': {
    'Above the threshold': above,
    'Below the threshold': below,
    'All tries are used up': withoutVerdict,
  },
  'age.session.cancelled': { 'Cancelled by the host': cancelled },
  'age.session.expired': { 'Nobody opened the launch URL': expired },
}
