import type {
  ConfirmedReturn,
  CreatedVerification,
  CreateVerificationBody,
  LockedPerson,
  PersonLockout,
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

export interface ListVerificationsOptions extends SessionListOptions<VerificationState> {
  /** Only the sessions that were created with it. */
  transactionID?: string
}

/** Area D. A session is identified by its `sessionId`. */
export function createVerificationClient(send: Send) {
  const pathOf = (sessionId: string) => `/v2/verification-session/${encodeURIComponent(sessionId)}`

  const list = ({ transactionID, ...options }: ListVerificationsOptions = {}): Promise<VerificationPage> =>
    send({
      operation: 'listVerifications',
      method: 'GET',
      path: '/v2/verification-sessions',
      query: { ...toListQuery(options), transactionID },
      signal: options.signal,
      timeoutMs: options.timeoutMs,
    })

  const webhook = (sessionId: string, options: CallOptions = {}): Promise<VerificationWebhook> =>
    send({ ...options, operation: 'getVerificationWebhook', method: 'GET', path: `${pathOf(sessionId)}/webhook` })

  const ofPerson =
    (word: 'find' | 'clear') =>
    (body: LockedPerson, options: CallOptions = {}): Promise<PersonLockout> =>
      send({
        ...options,
        operation: `${word}Lockout`,
        method: 'POST',
        path: `/v2/verification-lockout/${word}`,
        body,
      })

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
    /** One page of sessions, newest first. */
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
    /** Ends a flow that is open, with code -38, and gives the webhook’s body. The webhook is sent. */
    cancel: (sessionId: string, options: CallOptions = {}): Promise<VerificationWebhook> =>
      sendOnce(send, {
        call: { ...options, operation: 'cancelVerification', method: 'POST', path: `${pathOf(sessionId)}/cancel` },
        ended: () => webhook(sessionId, options),
      }),
    /** What counts against a person whose comparisons failed. Needs a key with `verify:lockouts`, as `unlock` does. */
    lockout: ofPerson('find'),
    /** Frees a person who is locked out. Returns the lockout as it was; a second call finds none. */
    unlock: ofPerson('clear'),
    /** Erases what an ended session holds. The person stays enrolled: `node.deleteUser` removes them. */
    delete: (sessionId: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteVerification', method: 'DELETE', path: pathOf(sessionId) }),
  }
}
