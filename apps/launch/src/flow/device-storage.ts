import type { SavedDevice } from '@ostiary/device'

/** A device of this browser, as it is kept for the next time the page is loaded. */
export interface KeptDevice {
  saved: SavedDevice
  /** It joined with the code of a handoff. */
  secondDevice: boolean
  /** Of its public key: tells it from another device that this browser was for the same session. */
  key: string
}

/**
 * Where devices are kept, by session: in the browser's database, or nowhere when it has none for us. Several tabs may be one
 * device. The one that was loaded last goes on with it: two that count and log side by side would contradict each other.
 */
export interface DeviceStorage {
  /** From now on the device is this page's. */
  take(sessionId: string): Promise<KeptDevice | undefined>
  /** False, and nothing is kept, when another page has taken the device since. */
  keep(sessionId: string, device: KeptDevice): Promise<boolean>
  forget(sessionId: string): Promise<void>
}

const DATABASE = 'ostiary-launch'
const STORE = 'devices'
/** Sessions last a quarter of an hour, a week at most: what is older was left behind. */
const KEPT_MS = 8 * 24 * 3600 * 1000

/**
 * Keys in IndexedDB: they cannot be read there either, only used. Storage may be closed to a page (in frames, in private
 * windows, where some browsers throw when a page as much as asks for its databases): then a reload begins as another device.
 */
export function createDeviceStorage(nowMs: () => number, findDatabases: () => IDBFactory): DeviceStorage {
  // Not a UUID: pages that are not secure have none, and must come far enough to say so.
  const page = crypto.getRandomValues(new Uint32Array(4)).join()
  // Whose device it was when it was taken: where that cannot be written over, it must not look like somebody who came later.
  const ours = new Set([page])
  const opening = openDatabase(findDatabases)
  opening.then((database) => dropOld(database, nowMs() - KEPT_MS)).catch(() => {})
  const inStore = <T>(work: (store: IDBObjectStore) => Promise<T>) =>
    opening.then((database) => work(database.transaction(STORE, 'readwrite').objectStore(STORE))).catch(() => undefined)
  return {
    take: (sessionId) =>
      inStore(async (store) => {
        const kept = await result(store.get(sessionId))
        if (!kept) return
        ours.add(kept.page)
        await result(store.put({ ...kept, page }, sessionId)).catch(() => {})
        return kept
      }),
    async keep(sessionId, device) {
      const isOurs = await inStore(async (store) => {
        const kept = await result(store.get(sessionId))
        if (kept?.key === device.key && !ours.has(kept.page)) return false
        await result(store.put({ ...device, page, keptAtMs: nowMs() }, sessionId))
        return true
      })
      return isOurs ?? true
    },
    async forget(sessionId) {
      await inStore((store) => result(store.delete(sessionId)))
    },
  }
}

function openDatabase(findDatabases: () => IDBFactory): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = findDatabases().open(DATABASE, 1)
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
