import type {
  AgeResult,
  AgeState,
  ConfirmedReturn,
  CreatedSession,
  CreateSessionBody,
  SessionPage,
  SessionSummary,
} from '@ostiary/contract'
import { SESSION_LIMITS } from '@ostiary/contract/limits'
import { nowSeconds } from './clock.ts'
import { type CallOptions, idempotencyHeaders, pause, type Send, sendCreate, sendOnce } from './http.ts'
import { allPages, type SessionListOptions, toListQuery } from './session-list.ts'
import type { Created } from './warnings.ts'

export interface CreateSessionOptions extends CallOptions {
  /** Makes the call repeatable across restarts of your program. By default each call gets a new key. */
  idempotencyKey?: string
  /** A token of your identity provider for the user, if the tenant has one configured. */
  bearer?: string
}

export interface ResultOptions {
  /** Seconds to wait for the end of the flow, at most 25. Default 0: answers at once. */
  wait?: number
  /** Stops the call; it then rejects with the signal’s reason. */
  signal?: AbortSignal | undefined
}

export interface WaitForResultOptions {
  /** How long to wait in all. Default 15 minutes, a session's usual lifetime: give less where somebody waits for you. */
  timeoutMs?: number
  /** Stops the waiting; the call then rejects with the signal’s reason. */
  signal?: AbortSignal | undefined
}

export interface ListSessionsOptions extends SessionListOptions<AgeState> {
  /** Only sessions whose metadata has these values at its top level. */
  metadata?: Record<string, string | number | boolean>
}

const ANSWER_MS = 10_000
const WAIT_FOR_RESULT_MS = SESSION_LIMITS.lifetimeSecondsDefault * 1000
/** A result may be read once a second. */
const POLL_PAUSE_MS = 1_000

/** Age checks (area C). */
export function createAgeClient(send: Send) {
  const pathOf = (token: string) => `/session/${encodeURIComponent(token)}`

  const result = (token: string, { wait = 0, signal }: ResultOptions = {}): Promise<AgeResult> =>
    send({
      operation: 'getSessionResult',
      method: 'GET',
      path: `${pathOf(token)}/result`,
      query: { wait: wait === 0 ? undefined : wait },
      timeoutMs: wait * 1000 + ANSWER_MS,
      signal,
    })

  const list = ({ metadata, ...options }: ListSessionsOptions = {}): Promise<SessionPage> =>
    send({
      operation: 'listSessions',
      method: 'GET',
      path: '/sessions',
      query: { ...toListQuery(options), metadata: metadata && JSON.stringify(metadata) },
      signal: options.signal,
      timeoutMs: options.timeoutMs,
    })

  return {
    /** Send the user to `launchUrl`; keep `token` on your server. `warnings` says what will disappoint. */
    create: (
      body: CreateSessionBody,
      { idempotencyKey, bearer, ...options }: CreateSessionOptions = {},
    ): Promise<Created<CreatedSession>> =>
      sendCreate(send, {
        ...options,
        operation: 'createSession',
        method: 'POST',
        path: '/session',
        body,
        headers: {
          ...idempotencyHeaders(idempotencyKey),
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        },
      }),
    /** `flowStatus` is null until the flow has ended. */
    result,
    /**
     * Polls until the flow has ended, for up to 15 minutes unless `timeoutMs` says otherwise. If the time runs out first, it returns the
     * unfinished result: check `flowStatus`.
     */
    async waitForResult(token: string, options: WaitForResultOptions = {}): Promise<AgeResult> {
      const { timeoutMs = WAIT_FOR_RESULT_MS, signal } = options
      const endsAt = nowSeconds() + Math.ceil(timeoutMs / 1000)
      for (;;) {
        const wait = Math.max(0, Math.min(SESSION_LIMITS.waitSecondsMax, endsAt - nowSeconds()))
        const found = await result(token, { wait, signal })
        if (found.flowStatus !== null || nowSeconds() >= endsAt) return found
        await pause(POLL_PAUSE_MS, signal)
        signal?.throwIfAborted()
      }
    },
    /** The state of the flow, without the result. */
    get: (token: string, options: CallOptions = {}): Promise<SessionSummary> =>
      send({ ...options, operation: 'getSession', method: 'GET', path: pathOf(token) }),
    /**
     * Confirms the `code` that a browser has brought back. Good once: `CODE_USED` (409) afterwards, `CODE_WRONG` (409) for another. A
     * repeat after a lost answer needs the same `idempotencyKey`.
     */
    confirm: (
      token: string,
      code: string,
      { idempotencyKey, ...options }: Omit<CreateSessionOptions, 'bearer'> = {},
    ): Promise<ConfirmedReturn> =>
      send({
        ...options,
        operation: 'confirmSession',
        method: 'POST',
        path: `${pathOf(token)}/confirm`,
        body: { code },
        headers: idempotencyHeaders(idempotencyKey),
      }),
    /** Ends a flow that is open as `CANCELLED` with code -38, and gives the result. The webhook is sent. */
    cancel: (token: string, options: CallOptions = {}): Promise<AgeResult> =>
      sendOnce(send, {
        call: { ...options, operation: 'cancelSession', method: 'POST', path: `${pathOf(token)}/cancel` },
        ended: () => result(token, { signal: options.signal }),
      }),
    /** Erases result and metadata of an ended session before its retention period ends. */
    erase: (token: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteSession', method: 'DELETE', path: pathOf(token) }),
    /** One page of sessions, newest first. */
    list,
    /** All sessions, page by page, newest first. */
    all: (options: Omit<ListSessionsOptions, 'cursor'> = {}): AsyncGenerator<SessionSummary> =>
      allPages((page) => list({ ...options, ...page })),
  }
}
