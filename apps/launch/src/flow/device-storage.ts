import type { SavedDevice } from '@ostiary/device'

/** A device of this browser, as stored for the next load of the page. */
export interface KeptDevice {
  saved: SavedDevice
  /** It joined with the code of a handoff. */
  secondDevice: boolean
  /** From its public key. One browser can be two devices of the same session; the key distinguishes them. */
  key: string
}

/**
 * Stores devices by session in IndexedDB, or nowhere if the browser refuses storage. Several tabs may be the same device. Only
 * the tab that was loaded last continues with it: two tabs would send contradicting counters and logs.
 */
export interface DeviceStorage {
  /** Reads the device and makes this page its owner. */
  take(sessionId: string): Promise<KeptDevice | undefined>
  /** Saves the device. Returns false and saves nothing if another page has taken it since. */
  keep(sessionId: string, device: KeptDevice): Promise<boolean>
  forget(sessionId: string): Promise<void>
}

const DATABASE = 'ostiary-launch'
const STORE = 'devices'
/** Sessions last 15 minutes by default and a week at most, so older entries belong to abandoned sessions. */
const KEPT_MS = 8 * 24 * 3600 * 1000

/**
 * IndexedDB holds keys that scripts can use but not read. A browser may refuse storage in frames and private windows; some throw
 * as soon as a page reads `indexedDB`. A reload then starts as a new device.
 */
export function createDeviceStorage(nowMs: () => number, findDatabases: () => IDBFactory): DeviceStorage {
  // Not randomUUID: insecure pages do not have it, and they must get far enough to show what is wrong.
  const page = crypto.getRandomValues(new Uint32Array(4)).join()
  // Includes the previous owner: if the write in `take` fails, its id stays stored and must not count as a newer page.
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
