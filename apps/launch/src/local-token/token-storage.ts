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
  const opening = openDatabase()
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

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('The database is blocked'))
  })
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
