/** As much of IndexedDB as record-storage.ts needs: named stores, and transactions that complete. Only tests import this. */
export function createIndexedDb({ refuses = () => false }: { refuses?: () => boolean } = {}) {
  const stores: Record<string, Map<string, unknown>> = {}

  function storeOf(name: string, pending: { count: number; done(): void }) {
    const kept = stores[name] ?? new Map<string, unknown>()
    const ask = <T>(work: () => T) => {
      pending.count++
      return requestOf(work, pending.done)
    }
    return {
      get: (key: string) => ask(() => kept.get(key)),
      getAllKeys: () => ask(() => [...kept.keys()]),
      delete: (key: string) => ask(() => void kept.delete(key)),
      put: (value: unknown, key: string) =>
        ask(() => {
          if (refuses()) throw new Error('No space is left')
          kept.set(key, value)
        }),
    }
  }

  function transaction() {
    const made = { oncomplete() {}, onabort() {}, onerror() {}, error: null, objectStore }
    const pending = {
      count: 0,
      /** A transaction completes when no request is open, after the handlers of the last one had their turn. */
      done: () => {
        pending.count--
        setImmediate(() => pending.count === 0 && made.oncomplete())
      },
    }
    function objectStore(name: string) {
      return storeOf(name, pending)
    }
    return made
  }

  const database = {
    transaction,
    createObjectStore: (name: string) => {
      stores[name] = new Map()
    },
  }
  const factory = {
    open() {
      const request = { ...requestOf(() => database), onupgradeneeded() {}, onblocked() {} }
      queueMicrotask(() => {
        request.result = database
        request.onupgradeneeded()
        request.onsuccess()
      })
      return request
    },
  } as unknown as IDBFactory
  return { factory, stores }
}

function requestOf<T>(work: () => T, done: () => void = () => {}) {
  const request = { result: undefined as T | undefined, error: undefined as unknown, onsuccess() {}, onerror() {} }
  queueMicrotask(() => {
    try {
      request.result = work()
      request.onsuccess()
    } catch (error) {
      request.error = error
      request.onerror()
    }
    done()
  })
  return request
}
