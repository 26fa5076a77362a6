/** Rejects where the browser refuses storage. `getIndexedDb` is a function because some browsers throw when a page reads `indexedDB`. */
export function openDatabase(
  getIndexedDb: () => IDBFactory,
  name: string,
  create: (database: IDBDatabase) => void,
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = getIndexedDb().open(name, 1)
    request.onupgradeneeded = () => create(request.result)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('The database is blocked'))
  })
}

export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
