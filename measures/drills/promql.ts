/** What a PromQL expression reads. promtool checks that the expression is one. */

interface Selector {
  name: string
  /** The labels of its matchers. */
  labels: string[]
}

/** Metrics and labels that Prometheus adds itself. */
const OF_PROMETHEUS = new Set(['up', 'ALERTS', 'job', 'instance', 'alertname', 'alertstate'])
const SELECTOR = /\b(up|ALERTS|(?:ostiary|nodejs|process)_\w+)(?:\{([^}]*)\})?/g

export function selectorsOf(expression: string): Selector[] {
  return [...expression.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=|!)/g)].map(([, label = '']) => label),
  }))
}

/** The labels that an expression groups by. */
export function groupsOf(expression: string): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, */))
}

/** The names of the samples of a scrape, each with the labels that some sample of it has. */
export function samplesOf(scrape: string): Map<string, Set<string>> {
  const samples = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of scrape.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = samples.get(name) ?? new Set()
    samples.set(name, known)
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
  }
  return samples
}

/** What an expression reads that no scrape has; undefined when it has all. */
export function findMissing(expression: string, samples: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const selectors = selectorsOf(expression).filter(({ name }) => !OF_PROMETHEUS.has(name))
  for (const { name, labels } of selectors) {
    const known = samples.get(name)
    if (!known) return name
    const unknown = labels.find((label) => !known.has(label) && !OF_PROMETHEUS.has(label))
    if (unknown) return `${name}{${unknown}}`
  }
  const all = selectors.flatMap(({ name }) => [...(samples.get(name) ?? [])])
  return selectors.length === 0
    ? undefined
    : groupsOf(expression).find((label) => !all.includes(label) && !OF_PROMETHEUS.has(label))
}
