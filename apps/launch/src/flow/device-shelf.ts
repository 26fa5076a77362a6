import type { SavedDevice } from '@ostiary/device'

/** A device of this browser, as it is kept for the next time the page is loaded. */
export interface KeptDevice {
  saved: SavedDevice
  /** It joined with the code of a handoff. */
  secondDevice: boolean
}

/** Where devices are kept, by session: in the browser's database, or nowhere when it has none for us. */
export interface DeviceShelf {
  find(sessionId: string): Promise<KeptDevice | undefined>
  keep(sessionId: string, device: KeptDevice): Promise<void>
  forget(sessionId: string): Promise<void>
}

const DATABASE = 'ostiary-launch'
const STORE = 'devices'
/** Sessions last a quarter of an hour, a week at most: what is older was left behind. */
const KEPT_MS = 8 * 24 * 3600 * 1000

/**
 * Keys in IndexedDB: they cannot be read there either, only used. Storage may be closed to a page (in frames, in private
 * windows): then a reload begins as another device, and nothing else is lost.
 */
export function createDeviceShelf(nowMs: () => number): DeviceShelf {
  const opening = openDatabase()
  opening.then((database) => dropOld(database, nowMs() - KEPT_MS)).catch(() => {})
  const inStore = <T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>) =>
    opening
      .then((database) => result(work(database.transaction(STORE, mode).objectStore(STORE))))
      .catch(() => undefined)
  return {
    find: (sessionId) => inStore<KeptDevice | undefined>('readonly', (store) => store.get(sessionId)),
    async keep(sessionId, device) {
      await inStore('readwrite', (store) => store.put({ ...device, keptAtMs: nowMs() }, sessionId))
    },
    async forget(sessionId) {
      await inStore('readwrite', (store) => store.delete(sessionId))
    },
  }
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE).createIndex('keptAtMs', 'keptAtMs')
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('The database is blocked'))
  })
}

async function dropOld(database: IDBDatabase, beforeMs: number): Promise<void> {
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
  const old = await result(store.index('keptAtMs').getAllKeys(IDBKeyRange.upperBound(beforeMs)))
  for (const key of old) store.delete(key)
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
