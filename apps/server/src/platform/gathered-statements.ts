import type { Outcome, Part } from './prepared-query.ts'

type Answered = (error: Error | null, outcome?: Outcome) => void

/**
 * The statements of one transaction. Those that are given without waiting for each other share a round trip, and the first ones bring the
 * beginning of the transaction along.
 */
export class GatheredStatements {
  readonly #begin: Part
  readonly #sendAll: (parts: readonly Part[]) => void
  #parts: Part[] = []
  #hasBegun = false
  #isOver = false
  /** Why the transaction did not begin: nothing may follow, because it would commit by itself. */
  #failure: Error | undefined

  constructor(begin: Part, sendAll: (parts: readonly Part[]) => void) {
    this.#begin = begin
    this.#sendAll = sendAll
  }

  /** Whether anything was sent: a transaction without statements has nothing to commit. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  add(statement: Part['statement'], values: readonly unknown[], answered: Answered): void {
    // The connection may be somebody else's by now.
    if (this.#isOver) {
      answered(new Error('The transaction is over'))
      return
    }
    if (this.#parts.length === 0) process.nextTick(() => this.#send())
    this.#parts.push({ statement, lists: [values], callback: (error, outcomes) => answered(error, outcomes?.[0]) })
  }

  /** Sends what was given and not waited for. Nothing may follow. */
  close(): void {
    this.#send()
    this.#isOver = true
  }

  /** Drops what was not sent yet. Nothing may follow. */
  drop(error: unknown): void {
    this.#isOver = true
    const dropped = this.#parts
    this.#parts = []
    for (const { callback } of dropped) callback(new Error('The transaction has failed', { cause: error }))
  }

  #send(): void {
    if (this.#parts.length === 0) return
    if (this.#failure) {
      this.drop(this.#failure)
      return
    }
    const parts = this.#hasBegun ? this.#parts : [this.#beginning(), ...this.#parts]
    this.#hasBegun = true
    this.#parts = []
    this.#sendAll(parts)
  }

  #beginning(): Part {
    return {
      ...this.#begin,
      callback: (error) => {
        if (!error) return
        this.#failure = error
        this.#isOver = true
      },
    }
  }
}
