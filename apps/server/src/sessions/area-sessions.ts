import type { SessionArea } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { SharedRequest } from './request.ts'
import type { NewSession, Sessions } from './service.ts'
import { isPurged, type ListedSession, type Session, type Tombstone } from './session.ts'

/**
 * The sessions of one area, typed by what that area writes into them. A session of the other area does not exist here. This is the only
 * place where a session gets its type; `Request` and `Own` must be the types that the area stores.
 */
export function sessionsOfArea<Request extends SharedRequest, Own>(
  sessions: Sessions,
  area: SessionArea,
): AreaSessions<Request, Own> {
  /** What is sealed in a session was written by its area, and nobody else can write it. */
  function isOwn<S extends Session>(session: S): session is S & Session<Request, Own> {
    return session.area === area
  }

  function typed(found: Session | Tombstone | undefined): Session<Request, Own> | Tombstone | undefined {
    if (!found) return undefined
    if (isPurged(found)) return found.area === area ? found : undefined
    return isOwn(found) ? found : undefined
  }

  return {
    area,
    isOwn,
    prepare: (wanted) => sessions.prepare({ ...wanted, area }),
    find: async (sessionId) => typed(await sessions.find(sessionId)),
    findByToken: async (token) => typed(await sessions.findByToken(token)),
    whileLocked: (sessionId, work) =>
      sessions.whileLocked(sessionId, async (tx, found) => {
        const session = typed(found)
        return session ? work(tx, session) : undefined
      }),
    async lockDue(tx, partition, query) {
      const { due, unreadable } = await sessions.lockDue(tx, partition, { ...query, area })
      return { due: due.filter(isOwn), unreadable }
    },
    async list(owner, page) {
      const { listed, isCut } = await sessions.list(owner, area, page)
      return { listed: listed.map(typed).filter((session) => session !== undefined), isCut }
    },
  }
}

export interface AreaSessions<Request extends SharedRequest, Own> {
  area: SessionArea
  isOwn<S extends Session>(session: S): session is S & Session<Request, Own>
  prepare(
    wanted: Omit<NewSession, 'area' | 'makeRequest'> & {
      makeRequest(made: { sessionId: string; token: string }): Request
    },
  ): ReturnType<Sessions['prepare']>
  find(sessionId: string): Promise<Session<Request, Own> | Tombstone | undefined>
  findByToken(token: string): Promise<Session<Request, Own> | Tombstone | undefined>
  /** Runs `work` while nobody else can change the session. Undefined when there is no such session. */
  whileLocked<T>(
    sessionId: string,
    work: (tx: Queryable, session: Session<Request, Own> | Tombstone) => Promise<T>,
  ): Promise<T | undefined>
  lockDue(
    tx: Queryable,
    partition: string,
    query: { now: Date; limit: number },
  ): Promise<{ due: Session<Request, Own>[]; unreadable: number }>
  list(
    owner: Parameters<Sessions['list']>[0],
    page: Parameters<Sessions['list']>[2],
  ): Promise<{ listed: (ListedSession<Request, Own> | Tombstone)[]; isCut: boolean }>
}
