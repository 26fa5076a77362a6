import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import { OutboundError, toOutboundError } from './errors.ts'
import { CLIENT_LIMITS, type GuardedConnector } from './guard.ts'

/** What a receiver answered. */
export interface PooledAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

export interface OriginLimits {
  /** For everything together: name, connection, request and the part of the body that is read. */
  timeoutMs: number
  /** A longer body ends the connection, and is no success. */
  answerBytes: number
  connections: number
}

/**
 * How long a connection rests after an answer. A receiver, or a proxy before it, that answers twice would otherwise give its second answer to
 * the next message. What arrives during the rest ends the connection. Linux confirms received bytes after 40 ms, and a receiver with Nagle's
 * algorithm keeps its second answer back until then: with a rest of 40 ms, 1 to 7 of 13,800 messages got it, with 60 or 100 ms none of 41,400.
 * The remaining 60 ms are for the way there and back.
 */
const REST_MS = 100
/** With less time left a call is not sent: it would be given up before its answer, and sent again. */
const LEAST_MS = 10
/** After this time the name is resolved and its addresses are checked again. */
const AGE_MS = 300_000
/** A connection is closed after this time without a message: below the five seconds after which many servers close theirs. */
const IDLE_MS = 4_000
const KEPT = {
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MS,
  // The receiver's own limit counts from when it sent its answer, not from when we read it.
  keepAliveTimeoutThreshold: 1_000,
}

/**
 * The connections to one origin for one owner, each a Client of undici with one message at a time. While connections rest others are opened, so
 * that the rest delays no message.
 */
export class Origin {
  lastUsedMs = performance.now()
  readonly #url: string
  readonly #connector: GuardedConnector
  readonly #limits: OriginLimits
  readonly #connections = new Set<Connection>()
  /** The last one was used last and is used first, so that the others grow old and are closed. */
  readonly #free: Connection[] = []
  readonly #exchanges = new Set<Exchange>()
  /** Those of `#exchanges` that wait for a connection. */
  readonly #waiting = new Set<Exchange>()
  #isClosed = false

  constructor(url: string, connector: GuardedConnector, limits: OriginLimits) {
    this.#url = url
    this.#connector = connector
    this.#limits = limits
  }

  isActive(): boolean {
    return this.#exchanges.size > 0
  }

  async post(path: string, headers: string[], body: Buffer): Promise<PooledAnswer> {
    const { answerBytes, timeoutMs } = this.#limits
    const exchange = new Exchange({ method: 'POST', path, headers, body }, answerBytes, performance.now() + timeoutMs)
    const late = setTimeout(() => exchange.end(new OutboundError('timeout')), timeoutMs)
    this.#exchanges.add(exchange)
    this.#waiting.add(exchange)
    this.#sendWaiting()
    try {
      return await exchange.answered
    } finally {
      clearTimeout(late)
      this.#waiting.delete(exchange)
      this.#exchanges.delete(exchange)
      this.lastUsedMs = performance.now()
    }
  }

  /** Ends all calls and closes all connections. */
  close(): void {
    this.#isClosed = true
    for (const exchange of this.#exchanges) exchange.end(new OutboundError('refused', { code: 'ENDED' }))
    for (const connection of this.#connections) connection.close()
  }

  #sendWaiting(): void {
    const sendBeforeMs = performance.now() + LEAST_MS
    for (const exchange of this.#waiting) {
      if (exchange.deadlineMs < sendBeforeMs) continue
      const connection = this.#free.pop() ?? this.#open()
      if (!connection) return
      this.#waiting.delete(exchange)
      connection.send(exchange)
    }
  }

  #open(): Connection | undefined {
    if (this.#isClosed || this.#connections.size >= this.#limits.connections) return undefined
    const connection = new Connection(this.#url, this.#connector, {
      onFree: () => {
        this.#free.push(connection)
        this.#sendWaiting()
      },
      onClosed: () => {
        this.#connections.delete(connection)
        const place = this.#free.indexOf(connection)
        if (place >= 0) this.#free.splice(place, 1)
        this.#sendWaiting()
      },
    })
    this.#connections.add(connection)
    return connection
  }
}

interface ConnectionEvents {
  /** It can carry another message. */
  onFree(): void
  onClosed(): void
}

class Connection {
  readonly #client: Client
  readonly #events: ConnectionEvents
  #socket: Socket | undefined
  #openedMs = 0
  #isSending = false
  #isClosed = false

  constructor(url: string, connector: GuardedConnector, events: ConnectionEvents) {
    const connect = connector((socket) => {
      this.#socket = socket
      this.#openedMs = performance.now()
    })
    this.#client = new Client(url, { ...CLIENT_LIMITS, ...KEPT, connect })
    this.#events = events
    // undici opens another connection for a message that it has not written yet.
    this.#client.on('disconnect', () => {
      if (!this.#isSending) this.close()
    })
  }

  send(exchange: Exchange): void {
    this.#isSending = true
    exchange.wasReset = () => this.#socket?.errored != null
    exchange.onEnd = (isWhole) => {
      this.#isSending = false
      if (isWhole && this.#isReusable()) setTimeout(() => this.#endRest(), REST_MS)
      else this.close()
    }
    this.#client.dispatch(exchange.request, exchange)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#client.destroy().catch(() => {})
    // undici does not end a connection that is still being opened.
    this.#socket?.destroy()
    this.#events.onClosed()
  }

  /** An answer that came before the whole message was sent: the receiver may take the rest for another message. */
  #isReusable(): boolean {
    return this.#socket?.writableLength === 0 && performance.now() - this.#openedMs < AGE_MS
  }

  #endRest(): void {
    if (!this.#isClosed) this.#events.onFree()
  }
}

/** One message and its answer, as undici reports it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly request: Dispatcher.DispatchOptions
  readonly answered: Promise<PooledAnswer>
  readonly deadlineMs: number
  /** Called when a connection carries it. `isWhole`: the answer has arrived to its end. */
  onEnd: (isWhole: boolean) => void = () => {}
  /** Whether the receiver has broken off the connection. */
  wasReset: () => boolean = () => false
  readonly #resolve: (answer: PooledAnswer) => void
  readonly #reject: (error: OutboundError) => void
  #answer: PooledAnswer | undefined
  #bytesLeft: number
  #isEnded = false

  constructor(request: Dispatcher.DispatchOptions, answerBytes: number, deadlineMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<PooledAnswer>()
    this.request = request
    this.answered = promise
    this.deadlineMs = deadlineMs
    this.#resolve = resolve
    this.#reject = reject
    this.#bytesLeft = answerBytes
  }

  /** Ends it before the end of its answer. A status that is no success is still the answer. */
  end(error: OutboundError): void {
    this.#settle(false, error)
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A status from 100 to 199 precedes the answer.
    if (status < 200) return
    const retryAfter = headers['retry-after']
    // Of two, none is obeyed.
    this.#answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytesLeft -= chunk.length
    if (this.#bytesLeft < 0) this.end(new OutboundError('too_large'))
  }

  /** undici takes a reset for the end of an answer that only the end of the connection ends. */
  onResponseEnd(): void {
    this.#settle(!this.wasReset())
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end(toOutboundError(error))
  }

  /** The error is made only where it is needed: an error with its stack costs a third of a delivered message. */
  #settle(isWhole: boolean, error?: OutboundError): void {
    if (this.#isEnded) return
    this.#isEnded = true
    // A receiver that has not said all of its answer may have stored nothing: the message is better sent twice than lost.
    if (this.#answer && (isWhole || this.#answer.status >= 300)) this.#resolve(this.#answer)
    else this.#reject(error ?? new OutboundError('refused'))
    this.onEnd(isWhole)
  }
}
