import { hash } from 'node:crypto'
import { EVENTS_FROM_START, type EventPage, type SessionArea, type StreamEvent } from '@ostiary/contract'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/cursor.ts'
import type { KeyVault } from '../platform/key-vault.ts'
import { createSingleFlight } from '../platform/single-flight.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { createMessageOpener } from './envelope.ts'
import { streamContext } from './message.ts'
import { signedHeaders } from './signed-headers.ts'
import { createSigning, type SigningDeps } from './signer.ts'
import { type StoredStreamEvent, type StreamState, streamStore } from './stream-store.ts'

interface Deps extends SigningDeps {
  cells: Cells
  clock: Clock
  vault: KeyVault
}

/** One who reads a stream: where they are, and what they may see. Places count from 1. */
export interface StreamReader {
  owner: TenantData
  after: number
  /** Whether they begin with the oldest event that is kept: then they have missed nothing. */
  fromStart: boolean
  areas: readonly SessionArea[]
}

export interface StreamPart {
  items: StreamEvent[]
  /** The place to read on from. */
  after: number
  missed: boolean
}

/** The event stream of a tenant and mode: gives places to committed events when somebody reads, and signs what it hands out. */
export function createEventStream({ cells, clock, vault, ...signing }: Deps) {
  const signerOf = createSigning(signing)
  const open = createMessageOpener(vault)
  const looking = createSingleFlight<StreamState>()

  /** The last place, after every committed event has one. */
  async function settle(owner: TenantData): Promise<number> {
    const db = cells.forId(owner.tenantId)
    const { last, hasUnplaced } = await streamStore.look(db, owner)
    return hasUnplaced ? streamStore.place(db, owner) : last
  }

  async function toEvent(owner: TenantData, stored: StoredStreamEvent): Promise<StreamEvent> {
    const { id, event, subjectId, sequence, createdAt, position, masterKeyId, blob } = stored
    const signer = await signerOf(owner, stored)
    const body = await open({ masterKeyId, blob }, streamContext(owner.tenantId, id))
    const facts = { deliveryId: id, event, sequence, attempt: 1 }
    const usable = typeof signer === 'string' ? undefined : signer
    return {
      id,
      event,
      sessionId: subjectId,
      sequence,
      createdAt: createdAt.toISOString(),
      livemode: owner.livemode,
      headers: inPairs(signedHeaders(facts, body, { startedAt: clock.now(), signer: usable })),
      cursor: cursorOf(owner, position),
      body: body.toString('utf8'),
    }
  }

  return {
    /** Where a reader begins: after a cursor, with the oldest event that is kept, or now. */
    async begin(owner: TenantData, cursor: string | undefined): Promise<Pick<StreamReader, 'after' | 'fromStart'>> {
      if (cursor === EVENTS_FROM_START) return { after: 0, fromStart: true }
      return { after: cursor === undefined ? await settle(owner) : placeOf(owner, cursor), fromStart: false }
    },

    /** What is there for a reader now. */
    async read({ owner, after: asked, fromStart, areas }: StreamReader, limit: number): Promise<StreamPart> {
      const db = cells.forId(owner.tenantId)
      const last = await settle(owner)
      // A cursor that is ahead was written before the database was restored from a backup: the stream begins again.
      const isAhead = asked > last
      const after = isAhead ? 0 : asked
      if (after === last) return { items: [], after, missed: isAhead }
      const range = { after, upTo: last, areas, now: clock.now() }
      const stored = await streamStore.read(db, owner, range, limit)
      const missed = isAhead || (!fromStart && (await streamStore.hasMissed(db, owner, range)))
      const items = await Promise.all(stored.map((one) => toEvent(owner, one)))
      const end = items.length === limit ? (stored.at(-1)?.position ?? last) : last
      return { items, after: end, missed }
    },

    /** Whether it is worth reading. Readers of one stream that ask together share the look. */
    async hasNews({ owner, after }: Pick<StreamReader, 'owner' | 'after'>): Promise<boolean> {
      const { tenantId, livemode } = owner
      const { last, hasUnplaced } = await looking.run(`${tenantId}/${livemode}`, () =>
        streamStore.look(cells.forId(tenantId), owner),
      )
      // A place that is ahead is news too: the database was restored, and the stream begins again.
      return hasUnplaced || last !== after
    },

    pageOf: (owner: TenantData, { items, after, missed }: StreamPart): EventPage => ({
      items,
      cursor: cursorOf(owner, after),
      ...(missed && { missed }),
    }),
    cursorOf,
  }
}
export type EventStream = ReturnType<typeof createEventStream>

/** A cursor of another tenant or mode means another stream: it is refused, not read as a place in this one. */
function tagOf({ tenantId, livemode }: TenantData): string {
  return hash('sha256', `ostiary/event-stream/${tenantId}/${livemode}`).slice(0, 12)
}

function cursorOf(owner: TenantData, place: number): string {
  return writeCursor(tagOf(owner), place)
}

function placeOf(owner: TenantData, cursor: string): number {
  return readCursor(cursor, ([tag, place = '', ...rest]) =>
    tag === tagOf(owner) && /^\d{1,15}$/.test(place) && rest.length === 0 ? Number(place) : undefined,
  )
}

function inPairs(headers: readonly string[]): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) pairs[headers[at] ?? ''] = headers[at + 1] ?? ''
  return pairs
}
