import type { CreateStringBody, StringPage, StringRecord } from '@ostiary/contract'
import type { Send } from './http.ts'

export interface CreateStringOptions {
  /**
   * A second call with the same key and body creates nothing and returns the first record. By default each call of `create` gets a new key:
   * it covers the SDK's own retries, but not a restart of your program.
   */
  idempotencyKey?: string
}

export interface ListStringsOptions {
  limit?: number
  cursor?: string
  order?: 'asc' | 'desc'
}

/** Area A, the string store: small text records that the service keeps as they were sent. */
export function createStringsClient(send: Send) {
  const list = (options: ListStringsOptions = {}): Promise<StringPage> =>
    send({ method: 'GET', path: '/strings', query: { ...options } })

  return {
    create: (body: CreateStringBody, options: CreateStringOptions = {}): Promise<StringRecord> =>
      send({
        method: 'POST',
        path: '/strings',
        body,
        headers: { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() },
      }),
    list,
    /** All records, page by page: `for await (const record of ostiary.strings.all())`. */
    async *all(options: Omit<ListStringsOptions, 'cursor'> = {}): AsyncGenerator<StringRecord> {
      let cursor: string | undefined
      do {
        const page = await list({ ...options, ...(cursor !== undefined && { cursor }) })
        yield* page.items
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
    },
    get: (id: string): Promise<StringRecord> => send({ method: 'GET', path: `/strings/${encodeURIComponent(id)}` }),
    delete: (id: string): Promise<void> => send({ method: 'DELETE', path: `/strings/${encodeURIComponent(id)}` }),
  }
}
