/** Who may import whom, checked by dependency-cruiser. */
import { cruise, getAvailableTranspilers, type IRegularForbiddenRuleType } from 'dependency-cruiser'
import type { Violation } from './rules.ts'

/** The contract, and its entries without the validator: the launch page imports values only from those. */
const CONTRACT = ['contract', 'contract/*']
const SERVICE = [...CONTRACT, 'crypto', 'service-kit/*', 'token']
const PACKAGES = [
  ...CONTRACT,
  'crypto',
  'device',
  'device/simulated',
  'documents',
  'faces',
  'sdk',
  'token',
  'token/testing',
]
const MEASURES = [...PACKAGES, 'models/*', 'testkit/*', 'key-holder/testing', 'server/measure', 'server/operate']

/**
 * Which workspace may import which, without `@ostiary/`. An app is entered through a named entry point only; `/*` stands for every module
 * of a package.
 */
const WORKSPACES: Record<string, readonly string[]> = {
  'packages/contract': [],
  'packages/crypto': [],
  'packages/device': [...CONTRACT, 'crypto', 'crypto/sealed-payload'],
  'packages/documents': [],
  'packages/faces': [],
  'packages/sdk': [...CONTRACT, 'crypto'],
  'packages/service-kit': [],
  'packages/token': [],
  'apps/server': SERVICE,
  'apps/key-holder': SERVICE,
  'apps/launch': [...CONTRACT, 'crypto', 'device', 'documents', 'faces', 'token'],
  'apps/cli': [...CONTRACT, 'device', 'device/simulated', 'sdk', 'sdk/fixtures', 'server/operate', 'token'],
  models: ['contract', 'documents', 'faces'],
  'tests/testkit': [...PACKAGES, 'server/measure'],
  'tests/puppet': [...PACKAGES, 'models/*', 'testkit/*', 'server/capture-checks'],
  'tests/acceptance': ['device', 'device/simulated', 'sdk', 'sdk/*', 'testkit/*'],
  'tests/conformance': [
    ...PACKAGES,
    'models/*',
    'testkit/*',
    'key-holder/conformance',
    'server/capture-checks',
    'server/conformance',
    'launch/conformance',
    'launch/browser-conformance',
  ],
  'measures/bench': MEASURES,
  'measures/drills': MEASURES,
  'measures/accuracy': MEASURES,
  tools: [...PACKAGES, 'testkit/*', 'server/operate', 'server/conformance', 'launch/conformance'],
}

/** What a workspace's tests may use beside that. The server is tested with the device's own code. */
const TESTS: Record<string, readonly string[]> = {
  'apps/cli': ['sdk/webhooks', 'testkit/eventually', 'testkit/key-holder'],
  'apps/server': [
    'device',
    'device/simulated',
    'testkit/eventually',
    'testkit/key-holder',
    'testkit/key-holder-relay',
    'testkit/limits',
    'testkit/measuring/test-figure',
    'testkit/missing',
    'testkit/pgbouncer',
    'testkit/ports',
    'testkit/run',
  ],
  'apps/key-holder': [
    'testkit/databases',
    'testkit/eventually',
    'testkit/key-holder',
    'testkit/limits',
    'token/testing',
  ],
}

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
const exactly = (names: readonly string[]) =>
  names.map((name) => (name.endsWith('*') ? `^@ostiary/${name.slice(0, -1)}` : `^@ostiary/${name}$`))
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
  ...Object.entries(WORKSPACES).flatMap(([workspace, product]) => {
    const tests = [...product, ...(TESTS[workspace] ?? [])]
    return [
      forbid(
        `${workspace} may not import`,
        { path: `^${workspace}/`, pathNot: TEST },
        { path: '^@ostiary/', pathNot: exactly(product) },
      ),
      forbid(
        `tests of ${workspace} may not import`,
        { path: `^${workspace}/.*(${TEST})` },
        { path: '^@ostiary/', pathNot: exactly(tests) },
      ),
    ]
  }),
  forbid(
    'runs in browsers too, and may not import',
    { path: `^${anyOf(PORTABLE)}/`, pathNot: TEST },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'reaches out of its workspace (import the package by its name):',
    { path: `^${anyOf(Object.keys(WORKSPACES))}/` },
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
