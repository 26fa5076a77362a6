import type { Page } from 'playwright-core'

/** One value that a page stores in the browser. */
export interface Kept {
  /** Such as `ostiary-local/tokens.sealed`. */
  at: string
  kind: string
  /** Text and bytes in latin1; a description for other values. */
  content: string
}

/** Every value that the page's origin stores in this browser. Cached program files are listed by their addresses. */
export function readKept(page: Page): Promise<Kept[]> {
  return page.evaluate(READ_KEPT)
}

const READ_KEPT = `(async () => {
  const kept = []
  const latin1 = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  const keep = (at, value) => {
    if (value instanceof CryptoKey) {
      kept.push({ at, kind: 'CryptoKey', content: value.type + (value.extractable ? ' extractable' : '') })
    } else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer)
      kept.push({ at, kind: value.constructor.name, content: latin1(bytes) })
    } else if (Array.isArray(value) || value?.constructor === Object) {
      for (const [name, part] of Object.entries(value)) keep(at + '.' + name, part)
    } else {
      kept.push({ at, kind: value === null ? 'null' : value?.constructor?.name ?? typeof value, content: String(value) })
    }
  }
  const resultOf = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  for (const { name } of await indexedDB.databases()) {
    const database = await resultOf(indexedDB.open(name))
    for (const store of database.objectStoreNames) {
      const values = await resultOf(database.transaction(store).objectStore(store).getAll())
      for (const value of values) keep(name + '/' + store, value)
    }
    database.close()
  }
  for (const [name, storage] of [['local', localStorage], ['session', sessionStorage]])
    for (const [key, value] of Object.entries(storage)) keep(name + '.' + key, value)
  if (document.cookie) keep('cookie', document.cookie)
  for (const name of await caches.keys())
    for (const { url } of await (await caches.open(name)).keys()) kept.push({ at: 'cache', kind: 'cached', content: url })
  return kept
})()`
