import {
  type AgeResult,
  type AgeState,
  type ConfirmedReturn,
  type CreatedSession,
  type CreateSessionBody,
  SESSION_LIMITS,
  type SessionPage,
  type SessionSummary,
} from '@ostiary/contract'
import { nowSeconds } from './clock.ts'
import { pause, type Send } from './http.ts'
import { allPages, type SessionListOptions, toListQuery } from './session-list.ts'

export interface CreateSessionOptions {
  /** Makes the call repeatable across restarts of your program. By default each call gets a new key. */
  idempotencyKey?: string
  /** A token of your identity provider for the user, if the tenant has one configured. */
  bearer?: string
}

export interface ResultOptions {
  /** Seconds to wait for the end of the flow, at most 25. Default 0: answers at once. */
  wait?: number
  signal?: AbortSignal
}

export interface WaitForResultOptions {
  /** Default 15 minutes, a session's usual lifetime. */
  timeoutMs?: number
  signal?: AbortSignal
}

export interface ListSessionsOptions extends SessionListOptions<AgeState> {
  /** Only sessions whose metadata has these values at its top level. */
  metadata?: Record<string, string | number | boolean>
}

const ANSWER_MS = 10_000
const WAIT_FOR_RESULT_MS = SESSION_LIMITS.lifetimeSecondsDefault * 1000
/** A result may be read once a second. */
const POLL_PAUSE_MS = 1_000

/** Area C. */
export function createAgeClient(send: Send) {
  const pathOf = (token: string) => `/session/${encodeURIComponent(token)}`

  const result = (token: string, { wait = 0, signal }: ResultOptions = {}): Promise<AgeResult> =>
    send({
      method: 'GET',
      path: `${pathOf(token)}/result`,
      query: { wait: wait === 0 ? undefined : wait },
      timeoutMs: wait * 1000 + ANSWER_MS,
      ...(signal && { signal }),
    })

  const list = ({ metadata, ...options }: ListSessionsOptions = {}): Promise<SessionPage> =>
    send({
      method: 'GET',
      path: '/sessions',
      query: { ...toListQuery(options), metadata: metadata && JSON.stringify(metadata) },
    })

  return {
    /** Send the user to `launchUrl`; keep `token` on your server. */
    create: (body: CreateSessionBody, { idempotencyKey, bearer }: CreateSessionOptions = {}): Promise<CreatedSession> =>
      send({
        method: 'POST',
        path: '/session',
        body,
        headers: {
          'idempotency-key': idempotencyKey ?? crypto.randomUUID(),
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        },
      }),
    /** `flowStatus` is null until the flow has ended. */
    result,
    /** Polls until the flow has ended. If the time runs out first, it returns the unfinished result: check `flowStatus`. */
    async waitForResult(token: string, options: WaitForResultOptions = {}): Promise<AgeResult> {
      const { timeoutMs = WAIT_FOR_RESULT_MS, signal } = options
      const endsAt = nowSeconds() + Math.ceil(timeoutMs / 1000)
      for (;;) {
        const wait = Math.max(0, Math.min(SESSION_LIMITS.waitSecondsMax, endsAt - nowSeconds()))
        const found = await result(token, { wait, ...(signal && { signal }) })
        if (found.flowStatus !== null || nowSeconds() >= endsAt) return found
        await pause(POLL_PAUSE_MS, signal)
        signal?.throwIfAborted()
      }
    },
    /** The state of the flow, without the result. */
    get: (token: string): Promise<SessionSummary> => send({ method: 'GET', path: pathOf(token) }),
    /**
     * Confirms the `code` that a browser has brought back. Good once: `CODE_USED` (409) afterwards, `CODE_WRONG` (409) for another. A
     * repeat after a lost answer needs the same `idempotencyKey`.
     */
    confirm: (
      token: string,
      code: string,
      { idempotencyKey }: Pick<CreateSessionOptions, 'idempotencyKey'> = {},
    ): Promise<ConfirmedReturn> =>
      send({
        method: 'POST',
        path: `${pathOf(token)}/confirm`,
        body: { code },
        headers: { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() },
      }),
    cancel: (token: string): Promise<AgeResult> => send({ method: 'POST', path: `${pathOf(token)}/cancel` }),
    /** Erases result and metadata of an ended session before its retention period ends. */
    erase: (token: string): Promise<void> => send({ method: 'DELETE', path: pathOf(token) }),
    list,
    /** All sessions, page by page, newest first. */
    all: (options: Omit<ListSessionsOptions, 'cursor'> = {}): AsyncGenerator<SessionSummary> =>
      allPages((page) => list({ ...options, ...page })),
  }
}
