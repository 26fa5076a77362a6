/** The rate of the last moments counts: connections change. */
const WINDOW_MS = 15_000
/** With less than one of these a rate says nothing. */
const KNOWN_FROM = { ms: 1_000, bytes: 400_000 }

/** A connection that was silent for so long has no rate any more. */
const STALLED_MS = 5_000

interface Sample {
  atMs: number
  bytes: number
}

/** Estimates how long downloads will take, from the bytes that have come so far. */
export function createLoadEstimate(nowMs: () => number) {
  let samples: Sample[] = []

  return {
    /** So many bytes have come since the beginning. */
    note(bytes: number): void {
      const atMs = nowMs()
      // A failed file is fetched again from its start.
      if (bytes < (samples.at(-1)?.bytes ?? 0)) samples = []
      samples.push({ atMs, bytes })
      while (samples.length > 2 && (samples[1]?.atMs ?? atMs) <= atMs - WINDOW_MS) samples.shift()
    },
    /** Undefined while nothing is known of the rate, or when nothing comes any more. */
    secondsFor(bytes: number): number | undefined {
      if (bytes <= 0) return 0
      const [first, last] = [samples[0], samples.at(-1)]
      if (!first || !last) return undefined
      const [ms, came] = [nowMs() - first.atMs, last.bytes - first.bytes]
      if (nowMs() - last.atMs > STALLED_MS) return undefined
      if (came === 0 || (ms < KNOWN_FROM.ms && came < KNOWN_FROM.bytes)) return undefined
      return (bytes * ms) / came / 1000
    },
  }
}
