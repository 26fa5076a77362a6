import type { Socket } from 'node:net'
import { AnswerReader, type PooledAnswer, type Progress } from './answer-reader.ts'
import { OutboundError, toOutboundError } from './errors.ts'
import type { Dial } from './guard.ts'

/** One request and its answer. */
export interface Exchange {
  /** The whole request. */
  bytes: Buffer
  startedMs: number
  /** The connection that carries it; undefined while it waits for one. */
  connection: Connection | undefined
  /** Ends it. An answer wins over an error. Has no effect when it has ended. */
  end(error: OutboundError | undefined, answer: PooledAnswer | undefined): void
}

/** What happens to a connection, for its owner. */
export interface ConnectionEvents {
  onOpen(connection: Connection): void
  /** Its exchange has ended, and it can carry another. */
  onFree(connection: Connection): void
  /** It is gone, with the reason if it failed before it was open. */
  onClosed(connection: Connection, failure: OutboundError | undefined): void
}

/** A connection is not used again after this time without a request. Below the five seconds after which many servers close theirs. */
const IDLE_MS = 4_000
/** The receiver's own limit counts from when it sent its answer, not from when we read it. */
const KEPT_MARGIN_MS = 1_000
/** After this time the name is resolved and its addresses are checked again. */
const AGE_MS = 300_000

/** A connection that carries one request at a time. */
export class Connection {
  readonly startedMs = performance.now()
  readonly #socket: Socket
  readonly #reader: AnswerReader
  readonly #events: ConnectionEvents
  #exchange: Exchange | undefined
  #openedMs = 0
  /** When it may no longer be used, unless another request comes first. */
  #idleUntilMs = 0
  #isOpen = false
  #failure: OutboundError | undefined

  constructor(dial: Dial, answerBytes: number, events: ConnectionEvents) {
    this.#reader = new AnswerReader(answerBytes)
    this.#events = events
    this.#socket = dial({
      onOpen: () => this.#open(),
      onBytes: (bytes, length) => this.#read(bytes, length),
      onClosed: (failure) => this.#closed(failure),
    })
  }

  send(exchange: Exchange): void {
    this.#exchange = exchange
    exchange.connection = this
    this.#reader.reset()
    this.#socket.write(exchange.bytes)
  }

  /** Whether a free connection may carry a request now. */
  isUsable(nowMs: number): boolean {
    return nowMs < this.#idleUntilMs && !this.#socket.destroyed
  }

  /** The answer to its exchange, as soon as the status has arrived. */
  answer(): PooledAnswer | undefined {
    return this.#reader.answer
  }

  /** The reason is for the exchange that waits for this connection to open. */
  close(failure?: OutboundError): void {
    this.#failure ??= failure
    this.#socket.destroy()
  }

  #open(): void {
    this.#isOpen = true
    this.#openedMs = performance.now()
    this.#idleUntilMs = this.#openedMs + IDLE_MS
    this.#events.onOpen(this)
  }

  #read(bytes: Buffer, length: number): void {
    if (!this.#exchange) {
      // Bytes that no request asked for.
      this.close()
      return
    }
    const progress = this.#progress(bytes, length)
    if (progress === 'kept') this.#finish()
    else if (progress !== 'more') this.#endAndClose(progress === 'close' ? undefined : progress)
  }

  #progress(bytes: Buffer, length: number): Progress | OutboundError {
    try {
      return this.#reader.read(bytes, length)
    } catch (error) {
      // Whatever a receiver sends, it ends its own call and not the worker.
      return toOutboundError(error)
    }
  }

  #finish(): void {
    const nowMs = performance.now()
    const { keptMs, answer } = this.#reader
    const idleMs = keptMs === undefined ? IDLE_MS : Math.min(IDLE_MS, keptMs - KEPT_MARGIN_MS)
    // An answer that came before the whole request was sent: the receiver may take the rest for another request.
    const isReusable = idleMs > 0 && nowMs - this.#openedMs < AGE_MS && this.#socket.writableLength === 0
    if (!isReusable) {
      this.#endAndClose(undefined)
      return
    }
    this.#idleUntilMs = nowMs + idleMs
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#events.onFree(this)
    exchange?.end(undefined, answer)
  }

  #endAndClose(error: OutboundError | undefined): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    this.close()
    exchange?.end(error, this.#reader.answer)
  }

  #closed(failed: OutboundError | undefined): void {
    const failure = this.#failure ?? failed ?? new OutboundError('refused', { code: 'CLOSED' })
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.end(failure, this.#reader.answer)
    this.#events.onClosed(this, this.#isOpen ? undefined : failure)
  }
}
