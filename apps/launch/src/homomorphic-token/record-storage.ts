import type { TokenKeys } from '@ostiary/device'
import { openDatabase, resultOf } from '../indexed-db.ts'

/** What a browser keeps of an enrolment by token. Scripts can use the private key but not read it. */
export interface TokenRecord {
  version: 1
  tokenId: string
  /** SHA-256 of the token's public key: a probe under another key is never made. */
  publicKeyHash: string
  account: string
  keys: TokenKeys
  /** Where this browser keeps the token itself: the bytes as the service has sealed them. */
  sealedToken: string | null
}

/** A record whose enrolment has not ended yet. */
export interface RecordAside {
  realm: string
  record: TokenRecord
  atMs: number
}

/**
 * Keeps one record per realm in IndexedDB. A new one is put aside under its session before the token is sent, and becomes the record of the
 * realm when the service has bound the token: a page that is loaded again in between still has the key.
 */
export interface RecordStorage {
  /** Undefined also where the browser refuses storage. */
  find(realm: string): Promise<TokenRecord | undefined>
  /** Whether this browser stores keys. Without one an enrolled person could never sign in. */
  canKeep(keys: TokenKeys): Promise<boolean>
  /** Rejects where the browser refuses storage. */
  putAside(sessionId: string, aside: RecordAside): Promise<void>
  keep(sessionId: string): Promise<void>
  drop(sessionId: string): Promise<void>
}

/** A database of its own: the records outlive their sessions, and are no local tokens. */
const DATABASE = 'ostiary-homomorphic-token'
const RECORDS = 'records'
const ASIDE = 'aside'
/** No session lasts longer than a week. */
const ASIDE_MS = 8 * 24 * 3600 * 1000
const TEST_KEY = 'test'

export function createRecordStorage(nowMs: () => number, getIndexedDb: () => IDBFactory): RecordStorage {
  const opening = openDatabase(getIndexedDb, DATABASE, (database) => {
    for (const name of [RECORDS, ASIDE]) database.createObjectStore(name)
  })
  opening.catch(() => {})

  /** Resolves when everything is written. Rejects where the browser refuses storage. */
  async function change(work: (store: (name: string) => IDBObjectStore) => Promise<void>): Promise<void> {
    const transaction = (await opening).transaction([RECORDS, ASIDE], 'readwrite')
    const written = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      transaction.onerror = () => reject(transaction.error)
    })
    written.catch(() => {})
    await work((name) => transaction.objectStore(name))
    await written
  }

  return {
    async find(realm) {
      try {
        const store = (await opening).transaction([RECORDS], 'readonly').objectStore(RECORDS)
        const record = await resultOf<TokenRecord | undefined>(store.get(realm))
        return record?.version === 1 ? record : undefined
      } catch {
        return undefined
      }
    },
    async canKeep(keys) {
      try {
        await change(async (store) => void (await resultOf(store(ASIDE).put({ atMs: nowMs(), keys }, TEST_KEY))))
        await change(async (store) => resultOf(store(ASIDE).delete(TEST_KEY)))
        return true
      } catch {
        return false
      }
    },
    putAside: (sessionId, aside) =>
      change(async (store) => {
        const asides = store(ASIDE)
        await dropOld(asides, nowMs() - ASIDE_MS)
        await resultOf(asides.put(aside, sessionId))
      }),
    keep: (sessionId) =>
      change(async (store) => {
        const aside = await resultOf<RecordAside | undefined>(store(ASIDE).get(sessionId))
        if (!aside) return
        await resultOf(store(RECORDS).put(aside.record, aside.realm))
        await resultOf(store(ASIDE).delete(sessionId))
      }).catch(() => {}),
    drop: (sessionId) => change(async (store) => resultOf(store(ASIDE).delete(sessionId))).catch(() => {}),
  }
}

async function dropOld(store: IDBObjectStore, beforeMs: number): Promise<void> {
  for (const key of await resultOf(store.getAllKeys())) {
    const { atMs } = await resultOf<RecordAside>(store.get(key))
    if (atMs < beforeMs) await resultOf(store.delete(key))
  }
}
