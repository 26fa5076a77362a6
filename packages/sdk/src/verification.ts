import type {
  ConfirmedReturn,
  CreatedVerification,
  CreateVerificationBody,
  VerificationPage,
  VerificationState,
  VerificationSummary,
  VerificationWebhook,
} from '@ostiary/contract'
import type { Send } from './http.ts'
import { allPages, type SessionListOptions, toListQuery } from './session-list.ts'

export interface CreateVerificationOptions {
  /** Makes the call repeatable across restarts of your program. By default each call gets a new key. */
  idempotencyKey?: string
}

export type ListVerificationsOptions = SessionListOptions<VerificationState>

/** Area D. A session is identified by its `sessionId`. */
export function createVerificationClient(send: Send) {
  const pathOf = (sessionId: string) => `/v2/verification-session/${encodeURIComponent(sessionId)}`

  const list = (options: ListVerificationsOptions = {}): Promise<VerificationPage> =>
    send({ method: 'GET', path: '/v2/verification-sessions', query: toListQuery(options) })

  return {
    /** Creates a session. Send the user to its `launchUrl`; the result arrives by webhook. */
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
    /** The state of the flow. `outcome` is null until it has ended. */
    get: (sessionId: string): Promise<VerificationSummary> => send({ method: 'GET', path: pathOf(sessionId) }),
    list,
    /** All sessions, page by page, newest first. */
    all: (options: Omit<ListVerificationsOptions, 'cursor'> = {}): AsyncGenerator<VerificationSummary> =>
      allPages((page) => list({ ...options, ...page })),
    /** The body of the webhook again, without images. `SESSION_OPEN` (409) until the flow has ended. */
    webhook: (sessionId: string): Promise<VerificationWebhook> =>
      send({ method: 'GET', path: `${pathOf(sessionId)}/webhook` }),
    /**
     * Confirms the `code` that a browser has brought back. Good once: `CODE_USED` (409) afterwards, `CODE_WRONG` (409) for another. A
     * repeat after a lost answer needs the same `idempotencyKey`.
     */
    confirm: (
      sessionId: string,
      code: string,
      { idempotencyKey }: CreateVerificationOptions = {},
    ): Promise<ConfirmedReturn> =>
      send({
        method: 'POST',
        path: `${pathOf(sessionId)}/confirm`,
        body: { code },
        headers: { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() },
      }),
    cancel: (sessionId: string): Promise<VerificationWebhook> =>
      send({ method: 'POST', path: `${pathOf(sessionId)}/cancel` }),
    /** Erases what an ended session holds. The person stays enrolled: `node.deleteUser` removes them. */
    delete: (sessionId: string): Promise<void> => send({ method: 'DELETE', path: pathOf(sessionId) }),
  }
}
