import type { KeyObject } from 'node:crypto'
import { PURGED } from '@ostiary/contract'
import type { Progress } from './progress.ts'
import type { SharedRequest } from './request.ts'
import type { ReturnTicket } from './return-ticket.ts'
import type { SessionPlace, SessionRow } from './store.ts'

/** A session with its sealed parts open. `Request` and `Own`, the area's own progress, are what its area wrote. */
export interface Session<Request extends SharedRequest = SharedRequest, Own = unknown>
  extends SessionRow,
    Partial<SessionPlace> {
  dataKey: KeyObject
  request: Request
  progress: Progress<Own> | null
  /** The exact bytes of the result as they are stored; null until the session ends. */
  result: Buffer | null
  /** Null until the session ends, if no device has opened it, and if the last release has ended it. */
  returnTicket: ReturnTicket | null
}

/** A session as a list reads it: without what was sealed after its creation. */
export type ListedSession<Request extends SharedRequest = SharedRequest, Own = unknown> = Omit<
  Session<Request, Own>,
  'progress' | 'result' | 'returnTicket'
>

/** What is left of a session when its retention has passed. All its times but the first are the moment at which it was deleted. */
export type Tombstone = Omit<SessionRow, 'state' | 'endedAt'> &
  Partial<SessionPlace> & { purged: true; state: typeof PURGED; endedAt: Date }

export function isPurged(session: ListedSession | Tombstone): session is Tombstone {
  return 'purged' in session
}

export function tombstoneOf(clear: Omit<SessionRow, 'state'>): Tombstone {
  const deletedAt = clear.purgeAt ?? clear.expiresAt
  return { ...clear, state: PURGED, expiresAt: deletedAt, dueAt: deletedAt, endedAt: deletedAt, purged: true }
}
