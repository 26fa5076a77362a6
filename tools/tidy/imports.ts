/** Who may import whom, checked by dependency-cruiser. */
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ROOT } from '@ostiary/testkit/run'
import { cruise, getAvailableTranspilers, type IRegularForbiddenRuleType } from 'dependency-cruiser'
import type { Violation } from './rules.ts'

/** Packages of which every module may be imported. */
const OPEN = ['contract', 'models', 'service-kit']
/** What has no entry of its own name. All others may be imported by it. */
const WITHOUT_NAME = ['cli', 'key-holder', 'launch', 'models', 'server', 'service-kit', 'testkit']

/** Further entries, and the workspaces that may import them, or their tests. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'crypto/sealed-payload': ['packages/device'],
  'device/simulated': ['apps/cli', 'tests of apps/server', 'measures', 'tests'],
  'key-holder/conformance': ['tests/conformance'],
  'key-holder/testing': ['measures'],
  'launch/browser-conformance': ['tests/conformance'],
  'launch/conformance': ['tests/conformance', 'tools'],
  'sdk/fixtures': ['apps/cli', 'tests/acceptance'],
  'sdk/embed': ['tests/acceptance'],
  'sdk/webhooks': ['tests of apps/cli', 'tests/acceptance'],
  'server/capture-checks': ['tests/conformance'],
  'server/conformance': ['tests/conformance', 'tools'],
  'server/measure': ['measures', 'tests/testkit'],
  'server/operate': ['apps/cli', 'measures', 'tools'],
  'testkit/.+': ['measures', 'tests', 'tools'],
  'testkit/(eventually|key-holder)': ['tests of apps/cli', 'tests of apps/key-holder', 'tests of apps/server'],
  'testkit/limits': ['tests of apps/key-holder', 'tests of apps/server'],
  'testkit/databases': ['tests of apps/key-holder'],
  'testkit/temporary-folder': ['tests of apps/cli', 'tests of apps/server'],
  'testkit/(key-holder-relay|measuring/test-figure|missing|pgbouncer|ports|postgres-server|run)': [
    'tests of apps/server',
  ],
  'token/testing': ['tests of apps/key-holder', 'measures', 'tests'],
}

/** The packages of ours that a workspace has, and its tests. */
const WORKSPACES = globSync(['{apps,packages,tests,measures}/*/package.json', '{models,tools}/package.json'], {
  cwd: ROOT,
}).map((path) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8'))
  const ours = (list: object) => Object.keys(list).flatMap((name) => /^@ostiary\/(.+)/.exec(name)?.[1] ?? [])
  return {
    folder: dirname(path),
    has: ours({ ...dependencies }),
    testsHave: ours({ ...dependencies, ...devDependencies }),
  }
})

/** What a workspace, or its tests, may import of ours. */
function allowedTo(users: readonly string[], has: readonly string[]): string[] {
  const isFor = (who: string) => users.some((user) => user === who || user.startsWith(`${who}/`))
  const entries = Object.keys(ENTRIES).filter((entry) => ENTRIES[entry]?.some(isFor) && has.includes(nameOf(entry)))
  const names = has.filter((name) => !WITHOUT_NAME.includes(name))
  const modules = has.filter((name) => OPEN.includes(name)).map((name) => `${name}/.+`)
  return [...names, ...modules, ...entries].map((entry) => `^@ostiary/${entry}$`)
}

const nameOf = (entry: string) => entry.split('/')[0] ?? ''

/** Packages that also run in browsers. */
const PORTABLE = ['contract', 'crypto', 'device', 'documents', 'faces', 'sdk', 'token'].map(
  (name) => `packages/${name}`,
)

/** Rooms of the server, top row first. Imports go down; never up, never within a row. */
const ROWS: readonly (readonly string[])[] = [
  ['launch', 'admin', 'retention', 'sandbox'],
  ['age', 'verification', 'strings', 'sanctions'],
  ['biometrics', 'passkeys', 'documents', 'matcher', 'sessions', 'webhooks'],
  ['capture-checks', 'risk'],
  ['keys', 'settings'],
  ['platform'],
]

const TEST = /\.test\.tsx?$|\/testing\//.source
const anyOf = (names: readonly string[]) => `(${names.join('|')})`
const forbid = (
  name: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType => ({
  name,
  severity: 'error',
  from,
  to,
})

const BETWEEN_WORKSPACES = [
  ...WORKSPACES.flatMap(({ folder, has, testsHave }) => [
    forbid(
      `${folder} may not import`,
      { path: `^${folder}/`, pathNot: TEST },
      { path: '^@ostiary/', pathNot: allowedTo([folder], has) },
    ),
    forbid(
      `tests of ${folder} may not import`,
      { path: `^${folder}/.*(${TEST})` },
      { path: '^@ostiary/', pathNot: allowedTo([folder, `tests of ${folder}`], testsHave) },
    ),
  ]),
  forbid(
    'runs in browsers too, and may not import',
    { path: `^${anyOf(PORTABLE)}/`, pathNot: TEST },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'reaches out of its workspace (import the package by its name):',
    { path: `^${anyOf(WORKSPACES.map(({ folder }) => folder))}/` },
    { dependencyTypes: ['local'], pathNot: '^$1/' },
  ),
]

const SERVER = '^apps/server/src/'
const ROOM = `${SERVER}${anyOf(ROWS.flat())}/`
const BESIDE_ROOMS = `${SERVER}[^/]+$`
const ENTERED_FREELY = [`${SERVER}(platform|testing)/`, `${SERVER}[^/]+/index[.]ts$`]

/** The rows of the server's rooms, and that a room is entered through its index only. */
const BETWEEN_ROOMS = [
  ...ROWS.map((row, index) =>
    forbid(
      'may not import upwards or sideways (imports go down only):',
      { path: `${SERVER}${anyOf(row)}/`, pathNot: TEST },
      { path: `${SERVER}${anyOf(ROWS.slice(0, index + 1).flat())}/`, pathNot: `${SERVER}$1/` },
    ),
  ),
  forbid('stands in a room and may not import', { path: ROOM, pathNot: TEST }, { path: BESIDE_ROOMS }),
  forbid(
    'stands in no row of tools/tidy/imports.ts and may not import',
    { path: `${SERVER}.+/`, pathNot: [ROOM, TEST] },
    { path: SERVER },
  ),
  forbid(
    'may not import from a room that stands in no row of tools/tidy/imports.ts:',
    { path: ROOM, pathNot: TEST },
    { path: `${SERVER}.+/`, pathNot: ROOM },
  ),
  forbid(
    'enters a room past its index.ts:',
    { path: ROOM, pathNot: TEST },
    { path: `${SERVER}.+/`, pathNot: [...ENTERED_FREELY, `${SERVER}$1/`] },
  ),
  forbid(
    'enters a room past its index.ts:',
    { path: BESIDE_ROOMS, pathNot: TEST },
    { path: `${SERVER}.+/`, pathNot: ENTERED_FREELY },
  ),
]

const FORBIDDEN = [
  ...BETWEEN_WORKSPACES,
  ...BETWEEN_ROOMS,
  forbid('stands in an import circle with', {}, { circular: true }),
  forbid('cannot be checked, it imports a file that is not there:', {}, { path: '^\\.', couldNotResolve: true }),
]

/**
 * swc reads TypeScript: without it dependency-cruiser sees little of it and passes, so a run that sees nothing is a fault. Packages keep
 * their names, because nothing is looked up in node_modules.
 */
export async function checkImports(folder: string, paths: readonly string[]): Promise<Violation[]> {
  if (!getAvailableTranspilers().some(({ name, available }) => name === 'swc' && available))
    throw new Error('dependency-cruiser cannot read TypeScript: it needs @swc/core')
  const { output } = await cruise(
    [...paths],
    {
      baseDir: folder,
      parser: 'swc',
      tsPreCompilationDeps: true,
      skipAnalysisNotInRules: true,
      moduleSystems: ['es6'],
      validate: true,
      ruleSet: { forbidden: FORBIDDEN },
    },
    { modules: [] },
  )
  if (typeof output === 'string') throw new Error(output)
  const { totalDependenciesCruised, violations } = output.summary
  const seen = new Set(output.modules.map(({ source }) => source))
  const unseen = paths.filter((path) => !seen.has(path))
  if (totalDependenciesCruised === 0) throw new Error('dependency-cruiser saw no import')
  if (unseen.length > 0) throw new Error(`dependency-cruiser did not read ${unseen.join(', ')}`)
  return violations.map(({ from, to, rule }) => ({ path: from, line: 1, message: `${rule.name} ${to}` }))
}
