import type { CallOptions } from './options.ts'

/** Filters of a list of sessions. They apply together. */
export interface SessionListOptions<State extends string> extends CallOptions {
  /** `PURGED`: deleted sessions. */
  state?: State | 'PURGED'
  /** Only sessions that were created at this moment or later. */
  since?: Date | string
  /** Only sessions that were created before this moment. */
  until?: Date | string
  /** Sessions on one page: 50 without it, at most 200. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
}

export function toListQuery({ since, until, signal: _, timeoutMs: __, ...others }: SessionListOptions<string>) {
  return { ...others, since: textOf(since), until: textOf(until) }
}

export const textOf = (moment: Date | string | undefined) => (moment instanceof Date ? moment.toISOString() : moment)

/** Every item of a list, one page after the other. */
export async function* allPages<Item>(
  list: (page: { cursor?: string }) => Promise<{ items: Item[]; nextCursor: string | null }>,
): AsyncGenerator<Item> {
  let cursor: string | undefined
  do {
    const page = await list(cursor === undefined ? {} : { cursor })
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
