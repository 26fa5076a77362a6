/** The customer's clock: envelopes carry the time at which they were made. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
