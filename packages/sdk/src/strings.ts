import type { CreateStringBody, StringPage, StringRecord } from '@ostiary/contract'
import { type CallOptions, idempotencyHeaders, type Send } from './http.ts'
import { allPages } from './session-list.ts'

export interface CreateStringOptions extends CallOptions {
  /**
   * A second call with the same key and body creates nothing and returns the first record. By default each call of `create` gets a new key:
   * it covers the SDK's own retries, but not a restart of your program.
   */
  idempotencyKey?: string
}

export interface ListStringsOptions extends CallOptions {
  /** How many on a page. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
  /** By time of creation; `desc`, the newest first, by default. */
  order?: 'asc' | 'desc'
}

/** Area A, the string store: small text records that the service keeps as they were sent. */
export function createStringsClient(send: Send) {
  const pathOf = (id: string) => `/strings/${encodeURIComponent(id)}`

  const list = ({ signal, timeoutMs, ...query }: ListStringsOptions = {}): Promise<StringPage> =>
    send({ operation: 'listStrings', method: 'GET', path: '/strings', query, signal, timeoutMs })

  return {
    /** Stores a text as it is. */
    create: (body: CreateStringBody, { idempotencyKey, ...options }: CreateStringOptions = {}): Promise<StringRecord> =>
      send({
        ...options,
        operation: 'createString',
        method: 'POST',
        path: '/strings',
        body,
        headers: idempotencyHeaders(idempotencyKey),
      }),
    /** One page of records. */
    list,
    /** All records, page by page: `for await (const record of ostiary.strings.all())`. */
    all: (options: Omit<ListStringsOptions, 'cursor'> = {}): AsyncGenerator<StringRecord> =>
      allPages((page) => list({ ...options, ...page })),
    /** Reads a record. `NOT_FOUND` (404) when it is not there or its time is over. */
    get: (id: string, options: CallOptions = {}): Promise<StringRecord> =>
      send({ ...options, operation: 'getString', method: 'GET', path: pathOf(id) }),
    /** Deletes a record. */
    delete: (id: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteString', method: 'DELETE', path: pathOf(id) }),
  }
}
