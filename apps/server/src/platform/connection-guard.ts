import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Finds work inside a transaction that asks the pool for a second connection. Transactions that do so, as many as the pool has connections,
 * wait for each other until they fail. Tests use this; in a running service it would cost time.
 */
export interface ConnectionGuard {
  /** Runs the work of a transaction and marks all that it starts, until it has ended. */
  hold<T>(work: () => Promise<T>): Promise<T>
  isHeld(): boolean
}

export function createConnectionGuard(): ConnectionGuard {
  const holding = new AsyncLocalStorage<{ isOver: boolean }>()
  return {
    async hold(work) {
      const mark = { isOver: false }
      try {
        return await holding.run(mark, work)
      } finally {
        mark.isOver = true
      }
    },
    isHeld: () => holding.getStore()?.isOver === false,
  }
}

export const SECOND_CONNECTION =
  'Work inside a transaction asked the pool for a second connection: pass it the transaction'
