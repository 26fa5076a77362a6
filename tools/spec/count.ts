/** Decides which rows of the specification are proven. Pure: main.ts reads the files and prints. */

export const KINDS = ['page', 'http', 'webhook', 'limit', 'docs'] as const
/** Where a row can be observed: the last column of spec-rows.md. */
export type Kind = (typeof KINDS)[number]

/** What a test can observe because of the suite that it runs in. `page` is a browser, so no other suite proves it. */
export const SUITE_KINDS = {
  pure: [],
  api: ['http', 'limit'],
  acceptance: ['http', 'limit'],
  launch: ['page'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>
export type Suite = keyof typeof SUITE_KINDS
export const SUITES = Object.keys(SUITE_KINDS) as Suite[]

/** What a test file may add with a line `// spec-kind: webhook, docs`, because it reads what a host receives, or a document. */
const MARK_SUITES: Readonly<Partial<Record<string, readonly Suite[]>>> = {
  webhook: ['api', 'acceptance'],
  docs: ['pure', 'api'],
}

/** The kinds of rows that the tests of a file can prove. Throws for a mark that its suite cannot carry. */
export function kindsOfFile(suite: Suite, source: string): ReadonlySet<Kind> {
  const marked = [...source.matchAll(/^\/\/ spec-kind: (.+)$/gm)].flatMap((match) => (match[1] ?? '').split(/,\s*/))
  for (const mark of marked)
    if (!MARK_SUITES[mark]?.includes(suite)) throw new Error(`A test of the suite ${suite} cannot prove "${mark}" rows`)
  return new Set([...SUITE_KINDS[suite], ...KINDS.filter((kind) => marked.includes(kind))])
}

export interface SpecRow {
  id: string
  statement: string
  kind: Kind
}

export function readRows(document: string): SpecRow[] {
  return [...document.matchAll(/^\| ([A-EX]-\d{3}) \| (.+) \| (\w+) \|$/gm)].map(
    ([, id = '', statement = '', where]) => {
      const kind = KINDS.find((known) => known === where)
      if (!kind) throw new Error(`${id} has the unknown kind "${where}"`)
      return { id, statement, kind }
    },
  )
}

export const idsIn = (testName: string): string[] =>
  [...testName.matchAll(/\[([A-EX]-\d{3})\]/g)].map(([, id = '']) => id)

/** One test that carries the id of a row. */
export interface Evidence {
  id: string
  outcome: 'pass' | 'fail' | 'skip'
  kinds: ReadonlySet<Kind>
}

export interface Lists {
  waiting: Readonly<Record<string, string>>
  ruleOnly: Readonly<Record<string, string>>
}

export type Standing = 'proven' | 'rule only' | 'waiting' | 'gap'
export interface JudgedRow extends SpecRow {
  standing: Standing
  /** Why the row is not proven as written; empty where it is. */
  reason: string
}

export function judgeRow(row: SpecRow, evidence: readonly Evidence[], { waiting, ruleOnly }: Lists): JudgedRow {
  const own = evidence.filter(({ id }) => id === row.id)
  const judged = (standing: Standing, reason = ''): JudgedRow => ({ ...row, standing, reason })
  if (own.some(({ outcome }) => outcome === 'fail')) return judged('gap', 'a test of it fails')
  const passing = own.filter(({ outcome }) => outcome === 'pass')
  const waits = waiting[row.id]
  if (waits !== undefined) return judged('waiting', waits)
  const narrower = ruleOnly[row.id]
  if (narrower !== undefined)
    return passing.length > 0 ? judged('rule only', narrower) : judged('gap', 'no passing test of its rule')
  if (passing.some(({ kinds }) => kinds.has(row.kind))) return judged('proven')
  return judged('gap', `no passing ${row.kind} test${passing.length > 0 ? ', only tests of other kinds' : ''}`)
}

/** What is wrong with the tests' ids and with the lists, one sentence each. */
export function findMistakes(rows: readonly SpecRow[], evidence: readonly Evidence[], lists: Lists): string[] {
  const known = new Set(rows.map(({ id }) => id))
  const claimed = new Set(evidence.map(({ id }) => id))
  const listed = [...Object.keys(lists.waiting), ...Object.keys(lists.ruleOnly)]
  return [
    ...[...claimed].filter((id) => !known.has(id)).map((id) => `A test carries ${id}, which is no row`),
    ...[...new Set(listed)].filter((id) => !known.has(id)).map((id) => `A list names ${id}, which is no row`),
    ...Object.keys(lists.waiting)
      .filter((id) => id in lists.ruleOnly)
      .map((id) => `${id} is both waiting and rule only`),
    // An id in a test's name says that the test proves the row: either the test says too much, or the list is out of date.
    ...Object.keys(lists.waiting)
      .filter((id) => claimed.has(id))
      .map((id) => `${id} is listed as waiting, but a test carries it`),
  ]
}
