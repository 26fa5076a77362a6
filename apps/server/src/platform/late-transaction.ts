import type { Db, Queryable, Statement } from './db.ts'

/**
 * A transaction that begins with its first statement. A decision that takes time holds no connection meanwhile, and none at all
 * when it needs no transaction.
 */
export class LateTransaction implements Queryable {
  readonly #db: Db
  readonly #begin: (tx: Queryable) => Promise<void>
  #tx: Promise<{ tx: Queryable; begun: Promise<void> }> | undefined
  #isClosed = false
  #ended: Promise<void> = Promise.resolve()
  #commit: () => void = () => {}
  #rollBack: (reason: unknown) => void = () => {}

  /**
   * `begin` runs before the first statement, in the transaction. Its statement and the first ones share a round trip. When `begin` fails, they
   * are rolled back, and their callers get its error and no result.
   */
  constructor(db: Db, begin: (tx: Queryable) => Promise<void>) {
    this.#db = db
    this.#begin = begin
  }

  get hasBegun(): boolean {
    return this.#tx !== undefined
  }

  /** Nothing may follow: what this was for is done without a transaction. */
  close(): void {
    this.#isClosed = true
  }

  async rows<R extends object>(statement: Statement, values?: readonly unknown[]): Promise<R[]> {
    return this.#answered((tx) => tx.rows<R>(statement, values))
  }

  async run(statement: Statement, values?: readonly unknown[]): Promise<number> {
    return this.#answered((tx) => tx.run(statement, values))
  }

  async #answered<T>(send: (tx: Queryable) => Promise<T>): Promise<T> {
    const { tx, begun } = await this.#started()
    const answer = send(tx)
    // Why it could not begin comes before what the statement says: that was decided on what may no longer be true.
    answer.catch(() => {})
    await begun
    return answer
  }

  /** Runs `work`; then commits what it did, or rolls it back when it throws. */
  static async run<T>(
    db: Db,
    begin: (tx: Queryable) => Promise<void>,
    work: (tx: LateTransaction) => Promise<T>,
  ): Promise<T> {
    const late = new LateTransaction(db, begin)
    let result: T
    try {
      result = await work(late)
    } catch (error) {
      late.#rollBack(error)
      await late.#ended.catch(() => {})
      throw error
    }
    late.#commit()
    await late.#ended
    return result
  }

  #started(): Promise<{ tx: Queryable; begun: Promise<void> }> {
    if (this.#isClosed) throw new Error('The work of this transaction is done already')
    this.#tx ??= new Promise((resolve, reject) => {
      const work = new Promise<void>((commit, rollBack) => {
        this.#commit = commit
        this.#rollBack = rollBack
      })
      this.#ended = this.#db.transaction(async (tx) => {
        const begun = this.#begin(tx)
        resolve({ tx, begun })
        await begun
        await work
      })
      this.#ended.catch(reject)
      // When `begin` fails nobody waits for it.
      work.catch(() => {})
    })
    return this.#tx
  }
}
