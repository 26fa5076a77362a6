import { randomUUID } from 'node:crypto'
import type { AgeResult } from '@ostiary/sdk'
import { FIXTURE_BODIES, type WebhookFixture, webhookFixture } from '@ostiary/sdk/fixtures'

export type SignedEvent = Pick<WebhookFixture, 'headers' | 'body'>

interface EventOptions {
  at: Date
  /** Of the delivery. Without it the event is a new one. */
  id?: string
  attempt?: number
  result?: AgeResult
}

/** An event as a worker sends it. */
export function signedEvent(apiKey: string, { at, result, ...delivery }: EventOptions): Promise<SignedEvent> {
  const signedAtSeconds = Math.floor(at.getTime() / 1000)
  return webhookFixture('age.session.completed', {
    ...delivery,
    apiKey,
    signedAtSeconds,
    body: result ?? inventedResult(at),
  })
}

/** The result of a session that does not exist. It recommends a review, so that a receiver which believes it lets nobody in. */
export function inventedResult(at: Date): AgeResult {
  const moment = at.toISOString()
  const sessionId = randomUUID()
  const usual = FIXTURE_BODIES['age.session.completed']()
  return {
    ...usual,
    token: `doctor-${sessionId}`,
    sessionId,
    metadata: { from: 'ostiary doctor webhook' },
    riskEvaluation: {
      ...usual.riskEvaluation,
      recommendation: 'REVIEW',
      signals: { behavioral: null, browser: null },
    },
    assurance: { level: 'sandbox', method: 'sandbox' },
    createdAt: moment,
    expiresAt: moment,
    endedAt: moment,
    consent: null,
  }
}
