/** What a PromQL expression reads. promtool checks that the expression is one. */

interface Matcher {
  label: string
  /** What the label is compared with, where that is words and no other pattern. */
  values: string[]
}

interface Selector {
  name: string
  matchers: Matcher[]
}

/** The samples of a scrape by name, each with its labels and the values that they have. */
type Samples = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

/** Metrics and labels that Prometheus adds itself. */
const OF_PROMETHEUS = new Set(['up', 'ALERTS', 'job', 'instance', 'alertname', 'alertstate'])
const SELECTOR = /\b(up|ALERTS|(?:ostiary|nodejs|process)_\w+)(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)\s*(=~|!~|=|!=)\s*"([^"]*)"/g
const WORDS = /^[\w-]+(\|[\w-]+)*$/

export function selectorsOf(expression: string): Selector[] {
  return [...expression.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => ({
    name,
    matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      label,
      values: !operator.includes('~') ? [value] : WORDS.test(value) ? value.split('|') : [],
    })),
  }))
}

/** The labels that an expression groups by. */
export function groupsOf(expression: string): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, */))
}

export function samplesOf(scrape: string): Samples {
  const samples = new Map<string, Map<string, Set<string>>>()
  for (const [, name = '', labels = ''] of scrape.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = samples.get(name) ?? new Map<string, Set<string>>()
    samples.set(name, known)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value))
  }
  return samples
}

/** What an expression reads that no scrape has; undefined when it has all. Counters are born with all values of their labels. */
export function findMissing(expression: string, samples: Samples): string | undefined {
  const selectors = selectorsOf(expression).filter(({ name }) => !OF_PROMETHEUS.has(name))
  for (const { name, matchers } of selectors) {
    const known = samples.get(name)
    if (!known) return name
    for (const { label, values } of matchers.filter((one) => !OF_PROMETHEUS.has(one.label))) {
      const born = known.get(label)
      if (!born) return `${name}{${label}}`
      const unborn = values.find((value) => !born.has(value))
      if (unborn !== undefined) return `${name}{${label}="${unborn}"}`
    }
  }
  const all = selectors.flatMap(({ name }) => [...(samples.get(name)?.keys() ?? [])])
  return selectors.length === 0
    ? undefined
    : groupsOf(expression).find((label) => !all.includes(label) && !OF_PROMETHEUS.has(label))
}

/** The numbers of the incidents at whose end, five minutes after it began, at least one of the rules' pages fires. */
export function listPagingIncidents(tests: string, rules: string): string[] {
  const pages = rules
    .split(/^ *- alert: /m)
    .filter((rule) => rule.includes('severity: page'))
    .map((rule) => /^\w+/.exec(rule)?.[0])
  const paging = tests.split(/^ {2}- name: /m).flatMap((test) => {
    const fired = /eval_time: 15m\n +exp_samples:\n((?: +- \{ labels: .*\n?)+)/.exec(test)?.[1] ?? ''
    const names = [...fired.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name)
    return names.some((name) => pages.includes(name)) ? [/^\d+(?=\.)/.exec(test)?.[0]] : []
  })
  return [...new Set(paging.filter((number) => number !== undefined))]
}
