/** The interval that holds the true share in 95 of 100 such measurements. */
export function wilsonInterval(hits: number, count: number): { low: number; high: number } {
  if (count === 0) return { low: 0, high: 1 }
  const z = 1.96
  const share = hits / count
  const middle = (share + (z * z) / (2 * count)) / (1 + (z * z) / count)
  const half = (z / (1 + (z * z) / count)) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count))
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

/** `99.2 % [98.1, 99.7] of 600`. */
export function formatShare(hits: number, count: number): string {
  const { low, high } = wilsonInterval(hits, count)
  const [share, least, most] = [hits / Math.max(1, count), low, high].map((value) => (value * 100).toFixed(2))
  return `${share} % [${least}, ${most}], ${hits} of ${count}`
}
