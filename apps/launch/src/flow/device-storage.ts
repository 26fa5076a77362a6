import type { SavedDevice } from '@ostiary/device'
import { openDatabase, resultOf } from '../indexed-db.ts'

/**
 * A device as stored for the next load of the page. In this code a device is not hardware: it is a key pair with which a browser takes
 * part in a session. One browser can be two devices of one session, if it opens the handoff code that it shows.
 */
export interface KeptDevice {
  saved: SavedDevice
  /** True if the device joined with the code of a handoff. */
  secondDevice: boolean
  /** The number of the last handoff code that the device made. The user may need it after a reload. */
  number?: string | null
  /** The x coordinate of the device's public key. It tells two devices of one browser apart. */
  key: string
}

/**
 * Stores devices in IndexedDB, or nowhere if the browser refuses storage. Each is stored under a name: the session's id, or
 * `<session id>/2` for the device that joined by handoff. Several tabs can load the same device. Only the tab that loaded it last
 * may go on: two tabs would send contradicting counters and logs.
 */
export interface DeviceStorage {
  /** Loads the device and makes this page its owner. Returns undefined if none is stored or storage fails. */
  take(name: string): Promise<KeptDevice | undefined>
  /** Saves the device. Returns false and saves nothing if a page loaded it after this one. Returns true also if storage fails. */
  keep(name: string, device: KeptDevice): Promise<boolean>
  /** Deletes the device, whichever page owns it. */
  forget(name: string): Promise<void>
}

const DATABASE = 'ostiary-launch'
const STORE = 'devices'
/** Sessions last 15 minutes by default and a week at most, so older entries belong to abandoned sessions. */
const KEPT_MS = 8 * 24 * 3600 * 1000

/**
 * IndexedDB can store a private key that scripts can use but not read. A browser may refuse storage in frames and private windows. Then
 * nothing is stored, and a reloaded page is a new device.
 */
export function createDeviceStorage(nowMs: () => number, getIndexedDb: () => IDBFactory): DeviceStorage {
  // Not crypto.randomUUID: an insecure page (http:) does not have it, and must still get far enough to show what is wrong.
  const pageId = crypto.getRandomValues(new Uint32Array(4)).join()
  // `take` adds the page that owned the device before: if the write in `take` fails, that id stays stored, and is no later page.
  const notLaterPages = new Set([pageId])
  const opening = openDatabase(getIndexedDb, DATABASE, (database) =>
    database.createObjectStore(STORE).createIndex('keptAtMs', 'keptAtMs'),
  )
  opening.then((database) => dropOld(database, nowMs() - KEPT_MS)).catch(() => {})
  /** Returns undefined if storage fails. */
  const inStore = <T>(work: (store: IDBObjectStore) => Promise<T>) =>
    opening.then((database) => work(database.transaction(STORE, 'readwrite').objectStore(STORE))).catch(() => undefined)
  return {
    take: (name) =>
      inStore(async (store) => {
        const kept = await resultOf(store.get(name))
        if (!kept) return
        notLaterPages.add(kept.page)
        await resultOf(store.put({ ...kept, page: pageId }, name)).catch(() => {})
        return kept
      }),
    async keep(name, device) {
      const isOwner = await inStore(async (store) => {
        const kept = await resultOf(store.get(name))
        if (kept?.key === device.key && !notLaterPages.has(kept.page)) return false
        await resultOf(store.put({ ...device, page: pageId, keptAtMs: nowMs() }, name))
        return true
      })
      // If storage fails, the page goes on. `false` would make it reload, again and again.
      return isOwner ?? true
    },
    async forget(name) {
      await inStore((store) => resultOf(store.delete(name)))
    },
  }
}

async function dropOld(database: IDBDatabase, beforeMs: number): Promise<void> {
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
  const old = await resultOf(store.index('keptAtMs').getAllKeys(IDBKeyRange.upperBound(beforeMs)))
  for (const key of old) store.delete(key)
}
