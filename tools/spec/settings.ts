/** Under which setting a row holds, and which rows are not proven. Every other row is proven by tests that run with the default settings. */
import { TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { Settings } from '@ostiary/server/conformance'

/** A setting that turns a row's statement on or off, and the words by which a test turns it on. */
interface ListedSetting {
  rows: readonly string[]
  turnedOnBy: RegExp
}

export const LISTED_SETTINGS: Readonly<Record<string, ListedSetting>> = {
  'templates=token': {
    rows: ['D-004', 'D-043', 'D-044', 'D-045', 'D-046', 'D-047', 'D-048'],
    turnedOnBy: /\btemplates: ?'token|startTokenSystem\(|matcher\/testing\/people|docs\/token\.md/,
  },
  'a bound host name': { rows: ['E-001'], turnedOnBy: /\bkeys\.hosts\.add\(/ },
  'a declared model': { rows: ['E-003'], turnedOnBy: /\bmodels\.declare\(/ },
  'the tenant whose page frames ours': { rows: [], turnedOnBy: /\bOSTIARY_(?:TEST_KEY_EMBED|EMBED_|BINDING_)/ },
}

/** Any other setting of a tenant or of the process is a mistake in the text of a row's test, except one of which the row's own sentence speaks: */
const SPOKEN_OF: Readonly<Record<string, string>> = {
  'C-008': 'retentionSeconds', // "The retention period is configurable"
  'C-055': 'issuers', // "with a token of a configured identity service"
  'D-052': 'signInMatching', // "when policy requires it"
  'D-055': 'clientCredentials', // "where they are required"
}
/** and what a process needs to run here: its places and secrets, time on a busy machine, and the key holder of `templates=token`. */
const SCENERY =
  /^(?:\w*PORT|PUBLIC_URL|LAUNCH_(?:URL|DIR)|TRUST_PROXY|OUTBOUND_ALLOW_NETWORKS|DATABASE_(?:URL|\w+_TIMEOUT_MS)|MASTER_KEY|SANCTIONS_(?:DIR|THREADS)|LOG_LEVEL|KEY_HOLDER_\w+)$/

/** The reasons stand in docs/decisions/0001-spec-gaps.md, under "Rows that do not hold by default". */
export const NOT_PROVEN: readonly string[] = ['C-060', 'D-054']

export const settingOfRow = (id: string): string | undefined =>
  Object.keys(LISTED_SETTINGS).find((name) => LISTED_SETTINGS[name]?.rows.includes(id))

/**
 * The settings that the tests of a row in this file turn on. What stands outside of every test is for all of them, and so is a name that
 * no test has as it is written, because it is put together when the file runs. Pure tests have no tenant: they only pass values.
 */
export function settingsTurnedOn(source: string, id: string, suite: string): string[] {
  const { tests, shared } = testsIn(source)
  const own = tests.filter((text) => titleOf(text).includes(`[${id}]`))
  const read = [shared, ...(own.length > 0 ? own : tests)].join('\n')
  const listed = Object.keys(LISTED_SETTINGS).filter((name) => LISTED_SETTINGS[name]?.turnedOnBy.test(read))
  const others = suite === 'pure' ? [] : namesSet(read).filter((name) => name !== SPOKEN_OF[id])
  return [...listed, ...others.filter((name) => !listed.some((known) => known.startsWith(`${name}=`)))]
}

const TENANT_NAMES = Object.keys(TENANT_SETTINGS_DEFAULTS).join('|')
/** `name: value` (no type), `'name=value'` as the command line takes it, and `settings: { name }`. */
const SET = new RegExp(
  `(?<![\\w?&.])(${TENANT_NAMES})(?:: (?![A-Z][a-z])|=(?! ))(?=([^\\n]*))|\\bsettings: \\{ (${TENANT_NAMES}) \\}|\\b(${Object.keys(Settings.properties).join('|')}): `,
  'g',
)
/** A way to set something whose name stands elsewhere. */
const SET_UNNAMED = /\bsettings\.service\.set\(|\bwithSettings\(|'--set'|\btenant_settings\b/

/** The settings of a tenant that get another value than their default in this text, and those of the process. */
export function namesSet(text: string): string[] {
  const found = [...text.matchAll(SET)]
  if (found.length === 0 && SET_UNNAMED.test(text)) return ['a setting without its name']
  const others = found.filter(([, name, value = '']) => name === undefined || !isDefault(name, value))
  const names = others.map(([, name, , short, variable]) => name ?? short ?? variable ?? '')
  return [...new Set(names)].filter((name) => !SCENERY.test(name))
}

function isDefault(name: string, text: string): boolean {
  const value = TENANT_SETTINGS_DEFAULTS[name as keyof typeof TENANT_SETTINGS_DEFAULTS]
  const written = JSON.stringify(value).replaceAll('"', "'")
  const read = text.replaceAll('_', '')
  return read.startsWith(written) && !/^\w/.test(read.slice(written.length))
}

/** Tests as the formatter leaves them: a call ends at a line that begins with its own indentation and a bracket. */
function testsIn(source: string): { tests: string[]; shared: string } {
  const tests: string[] = []
  const shared: string[] = []
  let open: { indent: string; lines: string[] } | undefined
  for (const line of source.split('\n')) {
    const begins = open ? null : /^( *)(?:await )?(?:t\.)?(?:test|flow)\(/.exec(line)
    if (begins) open = { indent: begins[1] ?? '', lines: [] }
    if (!open) {
      shared.push(line)
      continue
    }
    open.lines.push(line)
    const isEnd = new RegExp(`^${open.indent}(\\}?\\)|(await )?(t\\.)?(test|flow)\\(.*\\)$)`).test(line)
    if (!isEnd) continue
    tests.push(open.lines.join('\n'))
    open = undefined
  }
  return { tests, shared: [...shared, ...(open?.lines ?? [])].join('\n') }
}

/** The first string of a call: its name. */
const titleOf = (text: string): string => /(['`"])((?:(?!\1).)*)\1/s.exec(text)?.[2] ?? ''
