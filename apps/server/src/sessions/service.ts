import type { KeyObject } from 'node:crypto'
import { AGE_LIMITS } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import { type Clock, DAY_MS } from '../platform/clock.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import type { KeyRing } from '../platform/key-ring.ts'
import type { KeyVault } from '../platform/key-vault.ts'
import { hashToken, hourOf, isSessionId, isTokenOf, newSessionId, newToken, sessionOfToken } from './capability.ts'
import { hashOf, newDataKey, openPart, sealPart, tagKeyContextOf, tagsOf, toDataKey } from './sealing.ts'
import type { FinalState, SessionState } from './states.ts'
import {
  type Area,
  MOST_INSERTED,
  type SessionKey,
  type SessionOwner,
  type SessionRow,
  type StoredSession,
  sessionStore,
} from './store.ts'

interface Deps {
  cells: Cells
  clock: Clock
  ids: Ids
  vault: KeyVault
  /** Keys of sessions. */
  ring: KeyRing
}

/** Whose session it is, and by which key: that key signs its webhook. */
export interface Owner {
  tenantId: string
  livemode: boolean
  keyId: string
}

export interface NewSession {
  owner: Owner
  area: Area
  now: Date
  lifetimeSeconds: number
  metadata: Readonly<Record<string, unknown>>
  /** What the host asked for. `makeRequest` gets the token, which is part of the result and nowhere else. */
  makeRequest(made: { sessionId: string; token: string }): unknown
}

/** A session with its sealed parts open. `Request` and `Progress` belong to the area that made it. */
export interface Session<Request = unknown, Progress = unknown> extends SessionRow {
  dataKey: KeyObject
  request: Request
  progress: Progress | null
  /** The exact bytes of the result; null until the session ends. */
  result: Buffer | null
}

/** What is left of a session when its retention has passed. */
export type Tombstone = SessionRow & { purged: true }

export function isPurged(session: Session | Tombstone): session is Tombstone {
  return 'purged' in session
}

const MAX_TAG_KEYS = 10_000
const PUT_OFF_MS = 3_600_000

/**
 * What areas C and D share: capabilities, the sealed content, locking, ending, expiry and purge. Knows states and times,
 * never what a request or a result says.
 */
export function createSessions({ cells, clock, ids, vault, ring }: Deps) {
  const tagKeys = new BoundedMap<string, KeyObject>(MAX_TAG_KEYS)
  const insert = createStatementBatcher(sessionStore.insertMany, MOST_INSERTED)

  async function open(row: StoredSession): Promise<Session | Tombstone> {
    const { sealedKey, masterKeyId, request, progress, result, ...clear } = row
    const isOver = clear.purgeAt !== null && clear.purgeAt <= clock.now()
    if (isOver || !sealedKey || !masterKeyId || !request) return { ...clear, purged: true }
    const dataKey = await ring.open({ blob: sealedKey, masterKeyId })
    const read = (part: 'request' | 'progress', sealed: Buffer): unknown =>
      JSON.parse(openPart(dataKey, clear.sessionId, part, sealed).toString())
    return {
      ...clear,
      dataKey,
      request: read('request', request),
      progress: progress && read('progress', progress),
      result: result && openPart(dataKey, clear.sessionId, 'result', result),
    }
  }

  async function tagKeyOf(db: Db, tenantId: string): Promise<KeyObject> {
    const known = tagKeys.get(tenantId)
    if (known) return known
    const context = tagKeyContextOf(tenantId)
    if (!(await sessionStore.findTagKey(db, tenantId))) {
      await sessionStore.insertTagKey(db, tenantId, await vault.seal(newDataKey().export(), context))
    }
    // Whoever came first: all processes must use the same.
    const sealed = await sessionStore.findTagKey(db, tenantId)
    if (!sealed) throw new Error('The tag key was not stored')
    const key = toDataKey(await vault.open(sealed, context))
    tagKeys.set(tenantId, key)
    return key
  }

  /** What was purged until then is forgotten now: its tombstone has had its time. */
  const forgottenUntil = () => new Date(clock.now().getTime() - AGE_LIMITS.tombstoneDays * DAY_MS)
  /** Tried again in an hour. */
  async function putOff(tx: Queryable, keys: readonly SessionKey[], now: Date): Promise<void> {
    if (keys.length > 0) await sessionStore.postpone(tx, keys, new Date(now.getTime() + PUT_OFF_MS))
  }

  const isForgotten = ({ purgeAt }: SessionRow) => purgeAt !== null && purgeAt <= forgottenUntil()

  async function find(sessionId: string): Promise<Session | Tombstone | undefined> {
    if (!isSessionId(sessionId)) return undefined
    const row = await sessionStore.find(cells.forId(sessionId), sessionId, hourOf(sessionId))
    return row && !isForgotten(row) ? open(row) : undefined
  }

  return {
    /** Prepares a session: everything but the insert, which belongs into the caller's transaction. */
    async prepare({ owner, area, now, lifetimeSeconds, metadata, makeRequest }: NewSession) {
      const { tenantId, livemode, keyId } = owner
      const sessionId = newSessionId(bucketOf(tenantId), now, ids.randomBytes)
      const token = newToken(sessionId, ids.randomBytes)
      const expiresAt = new Date(now.getTime() + lifetimeSeconds * 1000)
      const { key: dataKey, stored } = await ring.next()
      const request = Buffer.from(JSON.stringify(makeRequest({ sessionId, token })))
      const hasTags = Object.keys(metadata).length > 0
      const tags = hasTags ? tagsOf(await tagKeyOf(cells.forId(tenantId), tenantId), livemode, metadata) : []
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
        insert: (tx: Queryable) => sessionStore.insert(tx, row),
        /** Inserts it by itself, which is cheaper when others are made at the same time. */
        insertNow: () => insert(cells.forId(tenantId), row),
      }
    },

    find,

    /** The session of a result token. A wrong token and an unknown one look alike. */
    async findByToken(token: string): Promise<Session | Tombstone | undefined> {
      const sessionId = sessionOfToken(token)
      const session = sessionId === undefined ? undefined : await find(sessionId)
      return session && isTokenOf(token, session.tokenHash) ? session : undefined
    },

    async findState(sessionId: string): Promise<SessionState | undefined> {
      return sessionStore.findState(cells.forId(sessionId), sessionId, hourOf(sessionId))
    },

    /** Whose session it is; one indexed read. */
    async findOwner(sessionId: string): Promise<SessionOwner | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return sessionStore.findOwner(cells.forId(sessionId), sessionId, hourOf(sessionId))
    },

    /** Runs `work` while nobody else can change the session. Undefined when there is no such session. */
    async whileLocked<T>(
      sessionId: string,
      work: (tx: Queryable, session: Session | Tombstone) => Promise<T>,
    ): Promise<T | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return cells.forId(sessionId).transaction(async (tx) => {
        const row = await sessionStore.lock(tx, sessionId, hourOf(sessionId))
        return row && !isForgotten(row) ? work(tx, await open(row)) : undefined
      })
    },

    async save(tx: Queryable, session: Session, change: { state: SessionState; dueAt?: Date; progress: unknown }) {
      const { state, dueAt = session.dueAt, progress } = change
      const content = Buffer.from(JSON.stringify(progress))
      const sealed = sealPart(session.dataKey, session.sessionId, 'progress', content)
      await sessionStore.save(tx, session, state, dueAt, sealed)
    },

    /** Ends a session for good. Throws when it has ended already: the first result stands. */
    async end(tx: Queryable, session: Session, ending: { state: FinalState; at: Date; purgeAt: Date; result: Buffer }) {
      const { state, at, purgeAt } = ending
      const result = sealPart(session.dataKey, session.sessionId, 'result', ending.result)
      const wasOpen = await sessionStore.end(tx, session, { state, endedAt: at, purgeAt, result })
      if (!wasOpen) throw new AppError('conflict', 'SESSION_NOT_OPEN', 'The session has ended')
    },

    /**
     * Sessions whose time is over, locked; those that others hold are passed over. One that cannot be opened (its master key
     * is missing) is put off: it must not stand before the others for ever.
     */
    async lockDue(
      tx: Queryable,
      area: Area,
      now: Date,
      limit: number,
    ): Promise<{ due: Session[]; unreadable: number }> {
      const rows = await sessionStore.lockDue(tx, area, now, limit)
      const opened = await Promise.all(rows.map((row) => open(row).catch(() => undefined)))
      const unreadable = rows.filter((_row, at) => !opened[at] || isPurged(opened[at]))
      await putOff(tx, unreadable, now)
      const due = opened.filter((session): session is Session => session !== undefined && !isPurged(session))
      return { due, unreadable: unreadable.length }
    },

    postpone: putOff,

    async endMany(
      tx: Queryable,
      endings: readonly { session: Session; purgeAt: Date; result: Buffer }[],
      { state, at }: { state: FinalState; at: Date },
    ): Promise<void> {
      if (endings.length === 0) return
      const rows = endings.map(({ session, purgeAt, result }) => ({
        ...keyOf(session),
        purgeAt,
        result: sealPart(session.dataKey, session.sessionId, 'result', result),
      }))
      await sessionStore.endMany(tx, rows, state, at)
    },

    /** Newest first. */
    async list(
      owner: Pick<Owner, 'tenantId' | 'livemode'>,
      area: Area,
      page: { before: { createdAt: Date; sessionId: string }; limit: number; metadata: Record<string, unknown> },
    ): Promise<(Session | Tombstone)[]> {
      const db = cells.forId(owner.tenantId)
      const wanted = Object.keys(page.metadata).length > 0
      const tags = wanted ? tagsOf(await tagKeyOf(db, owner.tenantId), owner.livemode, page.metadata) : []
      const { before, limit } = page
      // A tombstone has no metadata, also while the purge has not come by yet: nothing is found by it.
      const purgedAfter = wanted ? clock.now() : forgottenUntil()
      const rows: StoredSession[] = []
      for (const within of windowsBefore(before.createdAt, clock.now())) {
        const wanting = { before, limit: limit - rows.length, tags, purgedAfter, within }
        rows.push(...(await sessionStore.list(db, { ...owner, area }, wanting)))
        if (rows.length >= limit) break
      }
      return Promise.all(rows.map(open))
    },

    /** Erases what a session holds, its key first of all. */
    erase: (tx: Queryable, session: SessionKey, now: Date): Promise<number> => sessionStore.erase(tx, session, now),

    /**
     * A keyed hash of what must be recognised again and never read, such as a network. Asks the database for the key the first
     * time: not to be called while a transaction holds a connection.
     */
    async tagOf(tenantId: string, parts: readonly (string | boolean)[]): Promise<string> {
      const key = await tagKeyOf(cells.forId(tenantId), tenantId)
      return hashOf(key, parts)
    },

    shiftTestTime: (db: Queryable, tenantId: string, ms: number): Promise<number> =>
      sessionStore.shift(db, tenantId, ms),
    backlog: (db: Db, now: Date) => sessionStore.backlog(db, now),
  }
}
export type Sessions = ReturnType<typeof createSessions>

/** Nothing is older: the longest lifetime, the longest retention and a month as a tombstone. */
const OLDEST_DAYS = 70

const FIRST_WINDOW_MS = 60_000

/**
 * Stretches of time from a moment back, each four times as long as the one before: the newest sessions are read first, and mostly alone. The
 * first is short, because what has a tag that most have is all read before a page is cut from it.
 */
function* windowsBefore(moment: Date, now: Date): Generator<{ from: Date; to: Date }> {
  const oldestMs = now.getTime() - OLDEST_DAYS * DAY_MS
  // Clocks differ: what another process has just made may lie ahead.
  let toMs = Math.min(moment.getTime(), now.getTime() + DAY_MS)
  let lengthMs = FIRST_WINDOW_MS + Math.max(0, toMs - now.getTime())
  for (let ms = FIRST_WINDOW_MS; toMs > oldestMs; lengthMs = ms) {
    const fromMs = toMs - lengthMs
    yield { from: new Date(fromMs), to: new Date(toMs) }
    toMs = fromMs - 1
    ms *= 4
  }
}

const keyOf = ({ tenantId, createdAt, sessionId }: SessionKey): SessionKey => ({ tenantId, createdAt, sessionId })
