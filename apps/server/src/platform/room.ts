import type { FastifyInstance } from 'fastify'
import type { ErrorShape } from './http-errors.ts'
import type { ScheduledJob } from './queue.ts'

/**
 * One table of a room, how long its rows are kept and which job deletes them. The documents are generated from this, and a
 * test compares it with the database.
 */
export interface StoredTable {
  table: string
  /** The columns of the primary key, as the documents show them. */
  key: string
  /** How the table is partitioned, where it is. */
  partitions?: string
  growsWith: string
  /** How long a row is kept. */
  after: string
  /** The job that deletes it. Null where a call of the API or of the operator does. */
  by: string | null
}

/**
 * What the factory of each room returns, beside what other rooms may use. A room constructs its own parts; `close` ends
 * everything that the room has started or opened.
 */
export interface Room {
  routes?(app: FastifyInstance): Promise<void>
  jobs?: readonly ScheduledJob[]
  retention?: readonly StoredTable[]
  errorShapes?: readonly ErrorShape[]
  /** Starts what runs in the background. Which process calls it is decided by main-api.ts and main-worker.ts. */
  start?(): void
  /** Starts nothing new and waits for running work, for at most this long. */
  stop?(timeoutMs: number): Promise<void>
  close?(): Promise<void>
}

/** Closes rooms in reverse order. A failure does not keep the others open. */
export async function closeAll(parts: readonly Pick<Room, 'close'>[]): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts.toReversed()) await part.close?.().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be closed')
}
