import { createHmac, randomUUID } from 'node:crypto'
import type { AgeResult } from '@ostiary/sdk'

export interface SignedEvent {
  headers: Record<string, string>
  body: string
}

/** An event as a worker sends it: the headers and signatures of docs/webhooks.md. Its session does not exist. */
export function signedEvent(
  apiKey: string,
  {
    id,
    at,
    attempt = 1,
    body = JSON.stringify(completedResult(at)),
  }: { id: string; at: Date; attempt?: number; body?: string },
): SignedEvent {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const secret = createHmac('sha256', apiKey).update('ostiary/standard-webhooks/v1').digest()
  const headers = {
    'content-type': 'application/json',
    'x-service-event': 'age.session.completed',
    'x-service-delivery': id,
    'x-service-attempt': String(attempt),
    'x-service-sequence': '1',
    'x-service-timestamp': timestamp,
    'x-service-signature': `sha256=${createHmac('sha256', apiKey).update(`${timestamp}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  }
  return { headers, body }
}

function completedResult(at: Date): AgeResult {
  const moment = at.toISOString()
  const sessionId = randomUUID()
  return {
    token: `doctor-${sessionId}`,
    sessionId,
    sessionStatus: 'AGE_ABOVE_THRESHOLD',
    status: 'AGE_ABOVE_THRESHOLD',
    flowStatus: 'COMPLETED',
    result: {
      confidenceScore: null,
      faceMatch: null,
      facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD' },
    },
    thresholds: { ageThreshold: 30, compareThreshold: 0.5, faceMatchThreshold: 0.5, documentAgeThreshold: 30 },
    metadata: { from: 'ostiary doctor webhook' },
    riskEvaluation: {
      score: 0,
      level: 'LOW',
      recommendation: 'REVIEW',
      flags: [],
      signals: { behavioral: null, browser: null },
      policyVersion: '1',
    } as unknown as AgeResult['riskEvaluation'],
    errors: [],
    errorDetails: [],
    outcome: 'SUCCEEDED',
    assurance: { level: 'sandbox', method: 'sandbox' },
    createdAt: moment,
    expiresAt: moment,
    endedAt: moment,
    consent: null,
    livemode: false,
  }
}
