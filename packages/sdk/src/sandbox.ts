import type { SetOutcomeBody, WebhookDelivery } from '@ostiary/contract'
import { type CallOptions, type Send, sendOnce } from './http.ts'

export interface FailDeliveryOptions extends CallOptions {
  /** How many of the next attempts fail without being sent. Default 1. */
  times?: number
}

/** What test keys can do: end sessions with an outcome, let time pass, let webhooks fail. A live key is refused. */
export function createTestClient(send: Send) {
  return {
    /**
     * Ends a test session of area C or D as if its user had done so; its webhook is sent. Without a body: `AGE_ABOVE_THRESHOLD`, or
     * `success`.
     */
    outcome: (sessionId: string, body: SetOutcomeBody = {}, options: CallOptions = {}): Promise<void> =>
      sendOnce(send, {
        call: {
          ...options,
          operation: 'sandboxOutcome',
          method: 'POST',
          path: `/test/sessions/${encodeURIComponent(sessionId)}/outcome`,
          body,
        },
        ended: async () => {},
      }),
    /**
     * Lets time pass for the test sessions that exist now: expiry, retries of webhooks and deletion come nearer by so many seconds. Not
     * repeated after a lost connection, because time would pass twice.
     */
    advanceClock: (seconds: number, options: CallOptions = {}): Promise<void> =>
      send({
        ...options,
        operation: 'sandboxAdvanceClock',
        method: 'POST',
        path: '/test/clock/advance',
        body: { seconds },
        isOnce: true,
      }),
    /** Starts a delivery again and lets its next attempts fail. */
    failDelivery: (id: string, { times, signal, timeoutMs }: FailDeliveryOptions = {}): Promise<WebhookDelivery> =>
      send({
        operation: 'sandboxFailDelivery',
        method: 'POST',
        path: `/test/webhooks/${encodeURIComponent(id)}/fail`,
        query: { times },
        signal,
        timeoutMs,
      }),
  }
}
