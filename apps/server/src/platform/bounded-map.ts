/**
 * A Map with at most `max` entries. `set` makes an entry the newest, and when there are too many the oldest is deleted. `touch` makes an
 * entry the newest when it is read, so that the least recently used one is deleted first.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#max) {
      for (const oldest of this.keys()) {
        this.delete(oldest)
        break
      }
    }
    return this
  }

  /** The value, which becomes the newest entry; undefined when there is none. */
  touch(key: K): V | undefined {
    const value = this.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }
}
