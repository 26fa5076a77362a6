/** The clock of the customer's machine. Envelopes carry the time of their creation. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** For durations: never goes back. */
export function monotonicMs(): number {
  return performance.now()
}

/** From 0 to 1, for waits. Nothing secret depends on it. */
export function randomFraction(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
}
