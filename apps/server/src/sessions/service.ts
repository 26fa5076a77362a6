import { PURGED, SESSION_LIST_LIMITS, type SessionArea } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import type { KeyVault } from '../platform/key-vault.ts'
import type { Log } from '../platform/log.ts'
import { noteSession } from '../platform/request-facts.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { hashToken, hourOf, isSessionId, isTokenOf, newSessionId, newToken, sessionOfToken } from './capability.ts'
import { type ChangesDeps, createChanges } from './changes.ts'
import { sessionEnded } from './errors.ts'
import { type DueQuery, expiryStore } from './expiry-store.ts'
import { inTurns, type ListWanted, windowsBefore } from './list.ts'
import { sessionListStore } from './list-store.ts'
import { createOpenDays } from './open-days.ts'
import { sessionPurgeStore } from './purge-store.ts'
import type { SharedRequest } from './request.ts'
import type { ReturnTicket } from './return-ticket.ts'
import { bindRequest, hashOf, sealPart, tagsOf } from './sealing.ts'
import { isPurged, type Session, type Tombstone } from './session.ts'
import type { FinalState } from './states.ts'
import {
  MOST_INSERTED,
  NO_SECRETS,
  type SessionKey,
  type SessionOwner,
  sessionStore,
  type VersionedState,
} from './store.ts'
import { createTagKeys } from './tag-keys.ts'

interface Deps extends ChangesDeps {
  ids: Ids
  vault: KeyVault
  log: Log
}

/** Whose session it is, and the key that created it and signs its webhook. */
export interface SessionCreator extends TenantData {
  keyId: string
}

export interface NewSession {
  creator: SessionCreator
  area: SessionArea
  now: Date
  lifetimeSeconds: number
  metadata: Readonly<Record<string, unknown>>
  /** What the host asked for. `makeRequest` gets the token, which is part of the result and nowhere else. */
  makeRequest(made: { sessionId: string; token: string }): SharedRequest
}

/** What is stored of a session that ends. */
export interface SessionEnding {
  purgeAt: Date
  result: Buffer
  ticket: ReturnTicket | null
}

/** A keyed hash of these parts. */
export type Hasher = (...parts: readonly (string | boolean)[]) => string

function sealTicket({ dataKey, sessionId }: Session, ticket: ReturnTicket): Buffer {
  return sealPart(dataKey, sessionId, 'return', Buffer.from(JSON.stringify(ticket)))
}

const PUT_OFF_MS = 3_600_000
const UNREADABLE_MAX = 100
const OPENED_PER_TURN = 10

/**
 * What the areas share: capabilities, the sealed content, locking, ending, expiry and purge. Knows states and times, never what a
 * request, an area's progress or a result says.
 */
export function createSessions({ cells, clock, ids, vault, ring, log, overtaken }: Deps) {
  const tagKeys = createTagKeys(vault)
  const openDays = createOpenDays(clock)
  const insert = createStatementBatcher(sessionStore.insertMany, MOST_INSERTED)
  const { open, forgottenUntil, ...changes } = createChanges({ cells, clock, ring, overtaken })

  function leaveOut({ tenantId, sessionId }: SessionKey, err: unknown): undefined {
    log.error({ err, tenantId, sessionId }, 'a session cannot be opened and is left out of a list')
  }

  /** Postponed sessions are tried again in an hour, so that they do not block the others. */
  async function putOff(tx: Queryable, keys: readonly SessionKey[], now: Date): Promise<void> {
    if (keys.length > 0) await sessionStore.postpone(tx, keys, new Date(now.getTime() + PUT_OFF_MS))
  }

  return {
    /** Prepares a session: everything but the insert, which belongs into the caller's transaction. */
    async prepare({ creator, area, now, lifetimeSeconds, metadata, makeRequest }: NewSession) {
      const { tenantId, livemode, keyId } = creator
      const sessionId = newSessionId(bucketOf(tenantId), now, ids.randomBytes)
      const token = newToken(sessionId, ids.randomBytes)
      noteSession(sessionId)
      const expiresAt = new Date(now.getTime() + lifetimeSeconds * 1000)
      const { key: dataKey, stored } = await ring.next()
      const request = bindRequest(makeRequest({ sessionId, token }), { tenantId, livemode, area })
      const hasTags = Object.keys(metadata).length > 0
      const tags = hasTags ? tagsOf(await tagKeys.find(cells.forId(tenantId), tenantId), livemode, metadata) : []
      const row = {
        ...{ tenantId, livemode, keyId, area, sessionId, expiresAt },
        createdAt: now,
        state: 'CREATED' as const,
        tokenHash: hashToken(token),
        tags: tags.length > 0 ? tags : null,
        sealedKey: stored.blob,
        masterKeyId: stored.masterKeyId,
        request: sealPart(dataKey, sessionId, 'request', request),
      }
      return {
        ...{ sessionId, token, expiresAt },
        /** Inserts it with whatever else the caller's transaction does. */
        insert: (tx: Queryable) => sessionStore.insertMany(tx, [row]),
        /** Inserts it by itself, which is cheaper when others are made at the same time. */
        insertNow: () => insert(cells.forId(tenantId), row),
      }
    },

    ...changes,

    /** The session of a result token. A wrong token and an unknown one look alike. */
    async findByToken(token: string): Promise<Session | Tombstone | undefined> {
      const sessionId = sessionOfToken(token)
      const session = sessionId === undefined ? undefined : await changes.find(sessionId)
      return session && isTokenOf(token, session.tokenHash) ? session : undefined
    },

    async findState(sessionId: string): Promise<VersionedState | undefined> {
      return sessionStore.findState(cells.forId(sessionId), { sessionId, hour: hourOf(sessionId) })
    },

    /** Whose session it is; one indexed read. */
    async findOwner(sessionId: string): Promise<SessionOwner | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return sessionStore.findOwner(cells.forId(sessionId), { sessionId, hour: hourOf(sessionId) })
    },

    /** Ends a session for good. Throws when it has ended already: the first result stands. */
    async end(tx: Queryable, session: Session, ending: SessionEnding & { state: FinalState; at: Date }) {
      const { state, at, purgeAt, ticket } = ending
      const result = sealPart(session.dataKey, session.sessionId, 'result', ending.result)
      const returnTicket = ticket && sealTicket(session, ticket)
      const wasOpen = await sessionStore.end(tx, session, { state, endedAt: at, purgeAt, result, returnTicket })
      if (!wasOpen) throw sessionEnded()
    },

    async saveTicket(tx: Queryable, session: Session, ticket: ReturnTicket): Promise<void> {
      await sessionStore.saveTicket(tx, session, sealTicket(session, ticket))
    },

    /** The partitions with sessions of an area whose time is over, the longest due first. */
    async findDuePartitions(db: Db, query: DueQuery): Promise<string[]> {
      return expiryStore.findDueIn(db, await openDays.of(db), query)
    },
    forgetPartitions: openDays.forget,

    /**
     * Sessions of a partition whose time is over, locked, without those that others hold. One that cannot be opened (no master key) is
     * postponed.
     */
    async lockDue(
      tx: Queryable,
      partition: string,
      query: DueQuery & { limit: number },
    ): Promise<{ due: Session[]; unreadable: number }> {
      const locked = await expiryStore.lockDue(tx, partition, query)
      const secrets = await expiryStore.findSecrets(tx, locked)
      const rows = locked.map((row) => ({ ...row, ...(secrets.get(row.sessionId) ?? NO_SECRETS) }))
      const opened = await Promise.all(rows.map((row) => open(row).catch(() => undefined)))
      const unreadable = rows.filter((_row, at) => !opened[at] || isPurged(opened[at]))
      await putOff(tx, unreadable, query.now)
      const due = opened.filter((session): session is Session => session !== undefined && !isPurged(session))
      return { due, unreadable: unreadable.length }
    },

    postpone: putOff,

    async endMany(
      tx: Queryable,
      endings: readonly (SessionEnding & { session: Session })[],
      { state, at }: { state: FinalState; at: Date },
    ): Promise<void> {
      if (endings.length === 0) return
      const rows = endings.map(({ session, purgeAt, result, ticket }) => ({
        ...keyOf(session),
        purgeAt,
        result: sealPart(session.dataKey, session.sessionId, 'result', result),
        returnTicket: ticket && sealTicket(session, ticket),
      }))
      await sessionStore.endMany(tx, rows, state, at)
    },

    /** Newest first, without what was sealed after their creation. A session that cannot be opened is logged and left out, so that it does not hide all the others. */
    async list(
      owner: TenantData,
      area: SessionArea,
      { before, limit, state, since, metadata }: ListWanted & { metadata: Readonly<Record<string, unknown>> },
    ): Promise<{ listed: (Session | Tombstone)[]; isCut: boolean }> {
      const db = cells.forId(owner.tenantId)
      const now = clock.now()
      const isTagged = Object.keys(metadata).length > 0
      const tags = isTagged ? tagsOf(await tagKeys.find(db, owner.tenantId), owner.livemode, metadata) : []
      // Once its time has passed, a session has neither metadata nor a state, also before the purge has deleted them.
      const isKeptOnly = isTagged || (state !== null && state !== PURGED)
      const filter = {
        tags,
        state: state === PURGED ? null : state,
        purgedAfter: isKeptOnly ? now : forgottenUntil(),
        purgedUntil: state === PURGED ? now : null,
      }
      const listed: (Session | Tombstone)[] = []
      let unreadable = 0
      let bytesLeft: number = SESSION_LIST_LIMITS.pageBytes
      for (const within of windowsBefore(before.createdAt, since, now)) {
        for (let place = before; ; ) {
          const wanted = limit - listed.length
          const { rows, isCut } = await sessionListStore.list(
            db,
            { ...owner, area },
            { ...filter, before: place, within, limit: wanted, maxBytes: Math.max(1, bytesLeft) },
          )
          for await (const row of inTurns(rows, OPENED_PER_TURN)) {
            const session = await open(row).catch((err: unknown) => leaveOut(row, err))
            if (session === undefined) unreadable++
            else {
              listed.push(session)
              bytesLeft -= row.request?.length ?? 0
            }
          }
          // This many unreadable rows mean a missing master key, not damage. An empty list would be a wrong answer.
          if (unreadable > UNREADABLE_MAX) throw new Error('Too many sessions cannot be opened')
          const last = rows.at(-1)
          if (isCut && bytesLeft <= 0) return { listed, isCut }
          if (!last || (rows.length < wanted && !isCut) || listed.length >= limit) break
          place = last
        }
        if (listed.length >= limit) break
      }
      return { listed, isCut: false }
    },

    /** Erases what a session holds, its key first of all. */
    erase: (tx: Queryable, session: SessionKey, now: Date): Promise<number> =>
      sessionPurgeStore.erase(tx, session, now),

    /** Hashes a value that must be recognised again but never read, such as a network. `db` may be a transaction; call this once in it. */
    async hasherFor(db: Queryable, tenantId: string): Promise<Hasher> {
      const key = await tagKeys.find(db, tenantId)
      return (...parts) => hashOf(key, parts)
    },

    shiftTestTime: (db: Queryable, tenantId: string, ms: number): Promise<number> =>
      sessionStore.shift(db, tenantId, ms),
    backlog: (db: Db, now: Date) => sessionStore.backlog(db, now),
  }
}
export type Sessions = ReturnType<typeof createSessions>

const keyOf = ({ tenantId, createdAt, sessionId }: SessionKey): SessionKey => ({ tenantId, createdAt, sessionId })
