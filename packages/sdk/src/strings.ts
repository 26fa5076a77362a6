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
  limit?: number
  cursor?: string
  order?: 'asc' | 'desc'
}

/** Area A, the string store: small text records that the service keeps as they were sent. */
export function createStringsClient(send: Send) {
  const pathOf = (id: string) => `/strings/${encodeURIComponent(id)}`

  const list = ({ signal, timeoutMs, ...query }: ListStringsOptions = {}): Promise<StringPage> =>
    send({ operation: 'listStrings', method: 'GET', path: '/strings', query, signal, timeoutMs })

  return {
    create: (body: CreateStringBody, { idempotencyKey, ...options }: CreateStringOptions = {}): Promise<StringRecord> =>
      send({
        ...options,
        operation: 'createString',
        method: 'POST',
        path: '/strings',
        body,
        headers: idempotencyHeaders(idempotencyKey),
      }),
    list,
    /** All records, page by page: `for await (const record of ostiary.strings.all())`. */
    all: (options: Omit<ListStringsOptions, 'cursor'> = {}): AsyncGenerator<StringRecord> =>
      allPages((page) => list({ ...options, ...page })),
    get: (id: string, options: CallOptions = {}): Promise<StringRecord> =>
      send({ ...options, operation: 'getString', method: 'GET', path: pathOf(id) }),
    delete: (id: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteString', method: 'DELETE', path: pathOf(id) }),
  }
}
