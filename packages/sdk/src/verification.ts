import type {
  ConfirmedReturn,
  CreatedVerification,
  CreateVerificationBody,
  VerificationPage,
  VerificationState,
  VerificationSummary,
  VerificationWebhook,
} from '@ostiary/contract'
import { type CallOptions, idempotencyHeaders, type Send, sendCreate, sendOnce } from './http.ts'
import { allPages, type SessionListOptions, toListQuery } from './session-list.ts'
import type { Created } from './warnings.ts'

export interface CreateVerificationOptions extends CallOptions {
  /** Makes the call repeatable across restarts of your program. By default each call gets a new key. */
  idempotencyKey?: string
}

export type ListVerificationsOptions = SessionListOptions<VerificationState>

/** Area D. A session is identified by its `sessionId`. */
export function createVerificationClient(send: Send) {
  const pathOf = (sessionId: string) => `/v2/verification-session/${encodeURIComponent(sessionId)}`

  const list = (options: ListVerificationsOptions = {}): Promise<VerificationPage> =>
    send({
      operation: 'listVerifications',
      method: 'GET',
      path: '/v2/verification-sessions',
      query: toListQuery(options),
      signal: options.signal,
      timeoutMs: options.timeoutMs,
    })

  const webhook = (sessionId: string, options: CallOptions = {}): Promise<VerificationWebhook> =>
    send({ ...options, operation: 'getVerificationWebhook', method: 'GET', path: `${pathOf(sessionId)}/webhook` })

  return {
    /** Creates a session. Send the user to its `launchUrl`; the result arrives by webhook. `warnings` says what will disappoint. */
    create: (
      body: CreateVerificationBody,
      { idempotencyKey, ...options }: CreateVerificationOptions = {},
    ): Promise<Created<CreatedVerification>> =>
      sendCreate(send, {
        ...options,
        operation: 'createVerification',
        method: 'POST',
        path: '/v2/verification-session',
        body,
        headers: idempotencyHeaders(idempotencyKey),
      }),
    /** The state of the flow. `outcome` is null until it has ended. */
    get: (sessionId: string, options: CallOptions = {}): Promise<VerificationSummary> =>
      send({ ...options, operation: 'getVerification', method: 'GET', path: pathOf(sessionId) }),
    list,
    /** All sessions, page by page, newest first. */
    all: (options: Omit<ListVerificationsOptions, 'cursor'> = {}): AsyncGenerator<VerificationSummary> =>
      allPages((page) => list({ ...options, ...page })),
    /** The body of the webhook again, without images. `SESSION_OPEN` (409) until the flow has ended. */
    webhook,
    /**
     * Confirms the `code` that a browser has brought back. Good once: `CODE_USED` (409) afterwards, `CODE_WRONG` (409) for another. A
     * repeat after a lost answer needs the same `idempotencyKey`.
     */
    confirm: (
      sessionId: string,
      code: string,
      { idempotencyKey, ...options }: CreateVerificationOptions = {},
    ): Promise<ConfirmedReturn> =>
      send({
        ...options,
        operation: 'confirmVerification',
        method: 'POST',
        path: `${pathOf(sessionId)}/confirm`,
        body: { code },
        headers: idempotencyHeaders(idempotencyKey),
      }),
    cancel: (sessionId: string, options: CallOptions = {}): Promise<VerificationWebhook> =>
      sendOnce(send, {
        call: { ...options, operation: 'cancelVerification', method: 'POST', path: `${pathOf(sessionId)}/cancel` },
        ended: () => webhook(sessionId, options),
      }),
    /** Erases what an ended session holds. The person stays enrolled: `node.deleteUser` removes them. */
    delete: (sessionId: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteVerification', method: 'DELETE', path: pathOf(sessionId) }),
  }
}
