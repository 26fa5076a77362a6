import type {
  CreatedVerification,
  CreateVerificationBody,
  VerificationSummary,
  VerificationWebhook,
} from '@ostiary/contract'
import type { Send } from './http.ts'

export interface CreateVerificationOptions {
  /** Makes the call repeatable across restarts of your program. Each call gets one of its own otherwise. */
  idempotencyKey?: string
}

/** Area D. Sessions are known by their `sessionId`. */
export function createVerificationClient(send: Send) {
  const pathOf = (sessionId: string) => `/v2/verification-session/${encodeURIComponent(sessionId)}`

  return {
    /** Send the user to `launchUrl`. What becomes of it arrives by webhook. */
    create: (
      body: CreateVerificationBody,
      { idempotencyKey }: CreateVerificationOptions = {},
    ): Promise<CreatedVerification> =>
      send({
        method: 'POST',
        path: '/v2/verification-session',
        body,
        headers: { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() },
      }),
    /** Where the flow is. `outcome` is null until it has ended. */
    get: (sessionId: string): Promise<VerificationSummary> => send({ method: 'GET', path: pathOf(sessionId) }),
    /** The body of the webhook again, without images. `SESSION_OPEN` (409) until the flow has ended. */
    webhook: (sessionId: string): Promise<VerificationWebhook> =>
      send({ method: 'GET', path: `${pathOf(sessionId)}/webhook` }),
    cancel: (sessionId: string): Promise<VerificationWebhook> =>
      send({ method: 'POST', path: `${pathOf(sessionId)}/cancel` }),
    /** Erases what an ended session holds. The person stays enrolled: `node.deleteUser` removes them. */
    delete: (sessionId: string): Promise<void> => send({ method: 'DELETE', path: pathOf(sessionId) }),
  }
}
