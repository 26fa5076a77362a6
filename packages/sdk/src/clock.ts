/** The clock of the customer's machine. Envelopes carry the time of their creation. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** For durations: never goes back. */
export function monotonicMs(): number {
  return performance.now()
}
