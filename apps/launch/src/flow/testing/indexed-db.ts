/** As much of IndexedDB as device-storage.ts needs, with one object store. Only tests import this. */
export function databaseOf<T>(
  kept: Map<string, T>,
  { isFull = () => false }: { isFull?: () => boolean } = {},
): IDBFactory {
  const store = {
    get: (key: string) => requestOf(() => kept.get(key)),
    put: (value: T, key: string) =>
      requestOf(() => {
        if (isFull()) throw new Error('No space is left')
        kept.set(key, value)
      }),
    delete: (key: string) => requestOf(() => kept.delete(key)),
    index: () => ({ getAllKeys: () => requestOf(() => []) }),
  }
  const database = { transaction: () => ({ objectStore: () => store }) }
  return { open: () => requestOf(() => database) } as unknown as IDBFactory
}

/** Answers in a microtask, after the caller has set its handlers. */
function requestOf(work: () => unknown) {
  const request = { result: undefined as unknown, error: undefined as unknown, onsuccess() {}, onerror() {} }
  queueMicrotask(() => {
    try {
      request.result = work()
      request.onsuccess()
    } catch (error) {
      request.error = error
      request.onerror()
    }
  })
  return request
}
