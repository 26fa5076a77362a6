import { Connection, type ConnectionEvents, type Exchange } from './connection.ts'
import { OutboundError } from './errors.ts'
import type { Dial } from './guard.ts'

export interface OriginLimits {
  connections: number
  /** How long a connection may take to open. */
  openMs: number
  answerBytes: number
}

/** The connections to one origin for one owner, and the exchanges that wait for one. */
export class Origin implements ConnectionEvents {
  active = 0
  lastUsedMs = performance.now()
  isClosed = false
  readonly #dial: Dial
  readonly #limits: OriginLimits
  readonly #connections = new Set<Connection>()
  /** The last one was used last and is used first, so that the others grow old and are closed. */
  readonly #free: Connection[] = []
  readonly #waiting: Exchange[] = []
  /** In the order of their start. */
  readonly #opening = new Set<Connection>()

  constructor(dial: Dial, limits: OriginLimits) {
    this.#dial = dial
    this.#limits = limits
  }

  start(exchange: Exchange): void {
    for (let free = this.#free.pop(); free; free = this.#free.pop()) {
      if (free.isUsable(exchange.startedMs)) {
        free.send(exchange)
        return
      }
      free.close()
    }
    this.#waiting.push(exchange)
    this.#openMore()
  }

  /** Takes back an exchange that has ended: before it was sent, or in the middle. */
  drop(exchange: Exchange): void {
    if (exchange.connection) {
      exchange.connection.close()
      return
    }
    const place = this.#waiting.indexOf(exchange)
    if (place >= 0) this.#waiting.splice(place, 1)
    const [oldest] = this.#opening
    if (!oldest || this.#opening.size <= this.#waiting.length) return
    // At once, because the next exchange may come before the connection is gone.
    this.#opening.delete(oldest)
    oldest.close()
  }

  /** Closes the connections that were not used for too long, and those that do not open in time. */
  closeUnused(nowMs: number): void {
    const unusable = this.#free.filter((connection) => !connection.isUsable(nowMs))
    for (const connection of unusable) connection.close()
    for (const connection of this.#opening) {
      if (connection.startedMs > nowMs - this.#limits.openMs) break
      connection.close(new OutboundError('timeout'))
    }
  }

  /** Closes all connections. What waits must have been ended. */
  close(): void {
    this.isClosed = true
    for (const connection of this.#connections) connection.close()
  }

  onOpen(connection: Connection): void {
    this.#opening.delete(connection)
    this.onFree(connection)
  }

  onFree(connection: Connection): void {
    const next = this.#waiting.shift()
    if (next) connection.send(next)
    else this.#free.push(connection)
  }

  onClosed(connection: Connection, failure: Parameters<ConnectionEvents['onClosed']>[1]): void {
    this.#connections.delete(connection)
    const place = this.#free.indexOf(connection)
    if (place >= 0) this.#free.splice(place, 1)
    const isWanted = this.#opening.delete(connection)
    // Each connection is opened for one exchange. One that was served by another connection meanwhile does not fail with it.
    if (failure && isWanted && this.#opening.size < this.#waiting.length) this.#waiting.shift()?.end(failure, undefined)
    this.#openMore()
  }

  #openMore(): void {
    while (
      !this.isClosed &&
      this.#opening.size < this.#waiting.length &&
      this.#connections.size < this.#limits.connections
    ) {
      const connection = new Connection(this.#dial, this.#limits.answerBytes, this)
      this.#connections.add(connection)
      this.#opening.add(connection)
    }
  }
}
