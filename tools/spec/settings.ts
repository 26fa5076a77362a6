/** Under which setting a row holds, and which rows are not proven. Every other row is proven by tests that run with the default settings. */

/** A setting that turns a row's statement on or off, and the words by which a test turns it on. */
interface ListedSetting {
  rows: readonly string[]
  turnedOnBy: RegExp
}

export const LISTED_SETTINGS: Readonly<Record<string, ListedSetting>> = {
  'templates=token': {
    rows: ['D-004', 'D-043', 'D-044', 'D-045', 'D-046', 'D-047', 'D-048'],
    turnedOnBy: /\btemplates: ?'token|startTokenSystem\(|docs\/token\.md/,
  },
  'a bound host name': { rows: ['E-001'], turnedOnBy: /\bkeys\.hosts\.add\(/ },
  'a declared model': { rows: ['E-003'], turnedOnBy: /\bmodels\.declare\(/ },
  EVENTS_LIVE: { rows: [], turnedOnBy: /\bEVENTS_LIVE: 'true'/ },
}

/** The reasons stand in docs/decisions/0001-spec-gaps.md, under "Rows that do not hold by default". */
export const NOT_PROVEN: readonly string[] = ['C-060', 'D-054']

export const settingOfRow = (id: string): string | undefined =>
  Object.keys(LISTED_SETTINGS).find((name) => LISTED_SETTINGS[name]?.rows.includes(id))

/**
 * The listed settings that the tests of a row in this file turn on. What stands outside of every test is for all of them, and so is a
 * name that no test has as it is written, because it is put together when the file runs.
 */
export function settingsTurnedOn(source: string, id: string): string[] {
  const { tests, shared } = testsIn(source)
  const own = tests.filter((text) => titleOf(text).includes(`[${id}]`))
  const read = [shared, ...(own.length > 0 ? own : tests)].join('\n')
  return Object.keys(LISTED_SETTINGS).filter((name) => LISTED_SETTINGS[name]?.turnedOnBy.test(read))
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
