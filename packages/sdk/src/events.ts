import type { EventPage, StreamEvent } from '@ostiary/contract'
import { OstiaryError } from './error.ts'
import { type Call, type CallOptions, pause, type Send } from './http.ts'

export interface ListEventsOptions extends CallOptions {
  /** `cursor` of the answer before; `start` for the oldest event that is kept. Without it: from now on. */
  cursor?: string
  /** Seconds to wait for an event, 0 to 25. */
  wait?: number
  /** How many events at most. */
  limit?: number
}

export interface StreamOptions {
  /** As in `list`. */
  cursor?: string
  /** Ends the stream without an error. */
  signal?: AbortSignal
  /** Called when the connection is lost or refused for now, before the stream resumes. */
  onInterrupted?: (failure: OstiaryError, resumesInMs: number) => void
  /** Called when events after the cursor were deleted before they were read. */
  onMissed?: () => void
  /** Called with each cursor, also when no event came with it. */
  onCursor?: (cursor: string) => void
}

const WAIT_SECONDS = 25
const PAGE = 100
const ANSWER_MS = (WAIT_SECONDS + 15) * 1000
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 15_000

/** The event stream: for development, with test keys. In production use webhooks. */
export function createEventsClient(send: Send) {
  const read = (
    { signal, timeoutMs = ANSWER_MS, ...query }: ListEventsOptions,
    more: Pick<Call, 'maxRetries'> = {},
  ): Promise<EventPage> =>
    send({ operation: 'listEvents', method: 'GET', path: '/events', query: { ...query }, signal, timeoutMs, ...more })

  /** The next page, whatever it takes: waits longer after each failure that may pass, and throws the others. */
  async function next(cursor: string | undefined, options: StreamOptions): Promise<EventPage | undefined> {
    const { signal, onInterrupted } = options
    // Without a cursor the stream begins now. That place is asked for at once, so that a lost connection cannot move it.
    const query = cursor === undefined ? { wait: 0, limit: 1 } : { cursor, wait: WAIT_SECONDS, limit: PAGE }
    for (let failures = 0; ; failures++) {
      try {
        // The stream waits by itself, and says so.
        return await read({ ...query, signal }, { maxRetries: 0 })
      } catch (error) {
        if (signal?.aborted) return undefined
        if (!(error instanceof OstiaryError) || !mayPass(error)) throw error
        const delayMs = delayAfter(failures, error)
        onInterrupted?.(error, delayMs)
        await pause(delayMs, signal)
        if (signal?.aborted) return undefined
      }
    }
  }

  return {
    /** One page. With `wait` the call is answered when an event comes, or after so many seconds. */
    list: (options: ListEventsOptions = {}): Promise<EventPage> => read(options),

    /**
     * Every event from the cursor on, for ever. Resumes by itself after a lost connection. Store `cursor` of an event when you have
     * handled it: after a restart the stream goes on with the next one.
     */
    async *stream(options: StreamOptions = {}): AsyncGenerator<StreamEvent, void, void> {
      let { cursor } = options
      while (!options.signal?.aborted) {
        const page = await next(cursor, options)
        if (!page) return
        if (page.missed) options.onMissed?.()
        for (const event of page.items) {
          yield event
          if (options.signal?.aborted) return
        }
        cursor = page.cursor
        options.onCursor?.(cursor)
      }
    },
  }
}

/** No connection, or an answer that another attempt may not get. A key that is refused stays refused. */
function mayPass({ status }: OstiaryError): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

/** Half of it is random, so that readers do not come back all at once. */
function delayAfter(failures: number, { retryAfterSeconds = 0 }: OstiaryError): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10))
  return Math.round(Math.max(retryAfterSeconds * 1000, full / 2 + randomFraction() * (full / 2)))
}

function randomFraction(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1))
  return value / 2 ** 32
}
