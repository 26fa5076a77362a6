/**
 * Metrics that every request updates, kept as plain numbers and formatted only at a scrape. prom-client
 * hashes the labels on each use, which took 18 µs: a tenth of the whole request.
 */
export interface LabelledCounter {
  count(label: string, by?: number): void
  get(label: string): number
  text(): string
}

/** A counter with two labels. */
export interface PairCounter {
  count(first: string, second: string): void
  text(): string
}

export interface RequestTimer {
  /** The values of the two labels, and the duration. */
  observe(first: string, second: string | number, seconds: number): void
  text(): string
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createLabelledCounter(name: string, help: string, labelName: string): LabelledCounter {
  const counts = new Map<string, number>()
  return {
    count: (label, by = 1) => void counts.set(label, (counts.get(label) ?? 0) + by),
    get: (label) => counts.get(label) ?? 0,
    text() {
      const lines = [...counts].map(([label, count]) => `${name}{${labelName}="${label}"} ${count}\n`)
      return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${lines.join('')}`
    },
  }
}

/** Label values are our own constants, never values from a request. */
export function createPairCounter(name: string, help: string, labelNames: readonly [string, string]): PairCounter {
  const counts = new Map<string, number>()
  return {
    count(first, second) {
      const labels = `${labelNames[0]}="${first}",${labelNames[1]}="${second}"`
      counts.set(labels, (counts.get(labels) ?? 0) + 1)
    },
    text() {
      const lines = [...counts].map(([labels, count]) => `${name}{${labels}} ${count}\n`)
      return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${lines.join('')}`
    },
  }
}

/** A histogram with two labels. Label values are our own constants, never values from a request. */
export function createTimer(name: string, help: string, labelNames: readonly [string, string]): RequestTimer {
  const series = new Map<string, { labels: string; buckets: number[]; sum: number; count: number }>()

  return {
    observe(first, second, seconds) {
      const key = first + second
      let one = series.get(key)
      if (!one) {
        const labels = `${labelNames[0]}="${first}",${labelNames[1]}="${second}"`
        one = { labels, buckets: BUCKETS.map(() => 0), sum: 0, count: 0 }
        series.set(key, one)
      }
      one.sum += seconds
      one.count++
      const index = BUCKETS.findIndex((bound) => seconds <= bound)
      if (index >= 0) one.buckets[index] = (one.buckets[index] ?? 0) + 1
    },
    text() {
      let text = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`
      for (const { labels, buckets, sum, count } of series.values()) {
        let below = 0
        for (const [index, bound] of BUCKETS.entries()) {
          below += buckets[index] ?? 0
          text += `${name}_bucket{${labels},le="${bound}"} ${below}\n`
        }
        text += `${name}_bucket{${labels},le="+Inf"} ${count}\n${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`
      }
      return text
    },
  }
}
