import { openDatabase, resultOf } from '../indexed-db.ts'
import type { LocalToken } from './token.ts'

/** Stores tokens in IndexedDB, one per realm, or nowhere if the browser refuses storage. */
export interface TokenStorage {
  find(realm: string): Promise<LocalToken | undefined>
  keep(realm: string, token: LocalToken): Promise<void>
  forget(realm: string): Promise<void>
}

const DATABASE = 'ostiary-local'
const STORE = 'tokens'

/** A database of its own, because a token outlives its session. Without storage the server compares. */
export function createTokenStorage(): TokenStorage {
  const opening = openDatabase(
    () => indexedDB,
    DATABASE,
    (database) => database.createObjectStore(STORE),
  )
  opening.catch(() => {})
  const inStore = <T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>) =>
    opening
      .then((database) => resultOf(work(database.transaction(STORE, mode).objectStore(STORE))))
      .catch(() => undefined)
  return {
    async find(realm) {
      const token = await inStore<LocalToken | undefined>('readonly', (store) => store.get(realm))
      return token?.version === 1 ? token : undefined
    },
    async keep(realm, token) {
      await inStore('readwrite', (store) => store.put(token, realm))
    },
    async forget(realm) {
      await inStore('readwrite', (store) => store.delete(realm))
    },
  }
}
