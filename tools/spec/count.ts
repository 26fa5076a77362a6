/** Decides which rows of the specification are proven. Pure: main.ts reads the files and prints. */
import { NOT_PROVEN, settingOfRow } from './settings.ts'

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
  /** What it turns on, except what the row's sentence speaks of. */
  settings: readonly string[]
}

export type Standing = 'by default' | 'under a setting' | 'not proven'

export interface JudgedRow extends SpecRow {
  /** The setting under which the row holds; undefined where it holds by default. */
  setting: string | undefined
  standing: Standing
  /** Why the row is not proven although it should be; undefined where it is, or where a decision says that it is not. */
  gap: string | undefined
}

export function judgeRow(row: SpecRow, evidence: readonly Evidence[]): JudgedRow {
  const own = evidence.filter(({ id }) => id === row.id)
  const setting = settingOfRow(row.id)
  const gap = gapOf(row, own, setting)
  const isProven = gap === undefined && !NOT_PROVEN.includes(row.id)
  const standing = isProven ? (setting === undefined ? 'by default' : 'under a setting') : 'not proven'
  return { ...row, setting, standing, gap }
}

function gapOf({ id, kind }: SpecRow, own: readonly Evidence[], setting: string | undefined): string | undefined {
  if (own.some(({ outcome }) => outcome === 'fail')) return 'a test of it fails'
  if (NOT_PROVEN.includes(id)) return undefined
  const passing = own.filter(({ outcome }) => outcome === 'pass')
  const ofKind = passing.filter(({ kinds }) => kinds.has(kind))
  if (ofKind.length === 0) return `no passing ${kind} test${passing.length > 0 ? ', only tests of other kinds' : ''}`
  const holds = ({ settings }: Evidence) => (setting === undefined ? settings.length === 0 : settings.includes(setting))
  return ofKind.some(holds) ? undefined : `no passing ${kind} test with ${setting ?? 'the default settings'}`
}

/** Ids that tests carry and that are no rows, and tests that turn on what their row does not name, one sentence each. */
export function findMistakes(rows: readonly SpecRow[], evidence: readonly Evidence[]): string[] {
  const known = new Set(rows.map(({ id }) => id))
  const sentences = evidence.flatMap(({ id, settings }) => {
    if (!known.has(id)) return [`A test carries ${id}, which is no row`]
    const others = settings.filter((name) => name !== settingOfRow(id))
    return others.map((name) => `A test of ${id} turns on ${name}, which its row does not name`)
  })
  return [...new Set(sentences)]
}
