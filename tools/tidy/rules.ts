/**
 * The house rules a machine can check. Each takes the files and returns what breaks it; none reads the disk, so that
 * the test can plant violations.
 */
export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string
  text: string
}

export interface Violation {
  path: string
  line: number
  message: string
}

/** The contract, and its entries without the validator: the launch page imports values only from those. */
const CONTRACT = ['@ostiary/contract', '@ostiary/contract/*']
const PACKAGES = [
  ...CONTRACT,
  '@ostiary/crypto',
  '@ostiary/device',
  '@ostiary/device/last-release',
  '@ostiary/device/simulated',
  '@ostiary/documents',
  '@ostiary/faces',
  '@ostiary/sdk',
  '@ostiary/token',
  '@ostiary/token/testing',
]
const MEASURES = [
  ...PACKAGES,
  '@ostiary/models/*',
  '@ostiary/testkit/*',
  '@ostiary/key-holder/testing',
  '@ostiary/server/measure',
  '@ostiary/server/operate',
]

/**
 * Which workspace may import which. An app is entered through a named entry point only; `/*` stands for every module of a package.
 */
const PACKAGE_MAY_IMPORT: Record<string, readonly string[]> = {
  'packages/contract': [],
  'packages/crypto': [],
  'packages/device': [...CONTRACT, '@ostiary/crypto', '@ostiary/crypto/sealed-payload'],
  'packages/documents': [],
  'packages/faces': [],
  'packages/sdk': [...CONTRACT, '@ostiary/crypto'],
  'packages/token': [],
  'apps/server': [...CONTRACT, '@ostiary/crypto', '@ostiary/token'],
  'apps/key-holder': [...CONTRACT, '@ostiary/crypto', '@ostiary/token'],
  'apps/launch': [
    ...CONTRACT,
    '@ostiary/crypto',
    '@ostiary/device',
    '@ostiary/documents',
    '@ostiary/faces',
    '@ostiary/token',
  ],
  'apps/cli': [
    ...CONTRACT,
    '@ostiary/device',
    '@ostiary/device/simulated',
    '@ostiary/sdk',
    '@ostiary/sdk/fixtures',
    '@ostiary/server/operate',
    '@ostiary/token',
  ],
  models: ['@ostiary/contract', '@ostiary/documents', '@ostiary/faces'],
  'tests/testkit': [...PACKAGES, '@ostiary/server/measure'],
  'tests/puppet': [...PACKAGES, '@ostiary/models/*', '@ostiary/testkit/*', '@ostiary/server/capture-checks'],
  'tests/acceptance': [
    '@ostiary/device',
    '@ostiary/device/simulated',
    '@ostiary/sdk',
    '@ostiary/sdk/*',
    '@ostiary/testkit/*',
  ],
  'tests/conformance': [
    ...PACKAGES,
    '@ostiary/models/*',
    '@ostiary/testkit/*',
    '@ostiary/key-holder/conformance',
    '@ostiary/server/capture-checks',
    '@ostiary/server/conformance',
    '@ostiary/launch/conformance',
    '@ostiary/launch/browser-conformance',
  ],
  'measures/bench': MEASURES,
  'measures/drills': MEASURES,
  'measures/accuracy': MEASURES,
  tools: [
    ...PACKAGES,
    '@ostiary/testkit/*',
    '@ostiary/server/operate',
    '@ostiary/server/conformance',
    '@ostiary/launch/conformance',
  ],
}

/** What a workspace's tests may use beside that. The server is tested with the device's own code. */
const TESTS_MAY_IMPORT: Record<string, readonly string[]> = {
  'apps/cli': ['@ostiary/sdk/webhooks', '@ostiary/testkit/eventually', '@ostiary/testkit/key-holder'],
  'apps/server': [
    '@ostiary/device',
    '@ostiary/device/last-release',
    '@ostiary/device/simulated',
    '@ostiary/testkit/key-holder',
    '@ostiary/testkit/key-holder-relay',
    '@ostiary/testkit/ports',
    '@ostiary/testkit/limits',
    '@ostiary/testkit/missing',
    '@ostiary/testkit/pgbouncer',
    '@ostiary/testkit/run',
    '@ostiary/testkit/eventually',
    '@ostiary/testkit/measuring/test-figure',
  ],
  'apps/key-holder': [
    '@ostiary/testkit/databases',
    '@ostiary/testkit/eventually',
    '@ostiary/testkit/key-holder',
    '@ostiary/testkit/limits',
    '@ostiary/token/testing',
  ],
}

/** Packages that also run in browsers. */
const PORTABLE = [
  'packages/contract',
  'packages/crypto',
  'packages/device',
  'packages/documents',
  'packages/faces',
  'packages/sdk',
  'packages/token',
]

/** Rooms of the server, top row first. Imports go down; never up, never within a row. */
const ROWS: readonly (readonly string[])[] = [
  ['launch', 'admin', 'retention', 'sandbox'],
  ['age', 'verification', 'strings', 'sanctions'],
  ['biometrics', 'passkeys', 'documents', 'matcher', 'sessions', 'webhooks'],
  ['capture-checks', 'risk'],
  ['keys', 'settings'],
  ['platform'],
]

const MAX_LINES = 400
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

export const isTest = (path: string) => /\.test\.tsx?$/.test(path) || path.includes('/testing/')

interface Import {
  file: SourceFile
  target: string
  line: number
}

export function importsOf(file: SourceFile): Import[] {
  return [...file.text.matchAll(IMPORT)].map((match) => ({
    file,
    target: match[1] ?? match[2] ?? match[3] ?? '',
    line: file.text.slice(0, (match.index ?? 0) + match[0].length).split('\n').length,
  }))
}

function isAllowed(target: string, allowed: readonly string[]): boolean {
  return allowed.some((name) => (name.endsWith('/*') ? target.startsWith(name.slice(0, -1)) : target === name))
}

function workspaceOf(path: string): string | undefined {
  return Object.keys(PACKAGE_MAY_IMPORT).find((folder) => path.startsWith(`${folder}/`))
}

/** The import ladder between workspaces, and no `node:` modules where code also runs in browsers. */
export function checkPackages(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(importsOf).flatMap(({ file, target, line }) => {
    const workspace = workspaceOf(file.path)
    if (!workspace) return []
    const forTests = isTest(file.path) ? (TESTS_MAY_IMPORT[workspace] ?? []) : []
    if (target.startsWith('@ostiary/') && !isAllowed(target, [...(PACKAGE_MAY_IMPORT[workspace] ?? []), ...forTests])) {
      return [{ path: file.path, line, message: `${workspace} may not import ${target}` }]
    }
    if (target.startsWith('node:') && PORTABLE.includes(workspace) && !isTest(file.path)) {
      return [{ path: file.path, line, message: `${workspace} also runs in browsers: no ${target}` }]
    }
    if (target.startsWith('.') && workspaceOf(resolve(file.path, target)) !== workspace) {
      return [
        { path: file.path, line, message: `${target} reaches out of ${workspace}: import the package by its name` },
      ]
    }
    return []
  })
}

export const SERVER = 'apps/server/src/'
/** The apps with a database. */
export const APPS = [SERVER, 'apps/key-holder/src/']

/** The rows of the server's rooms, and that a room is entered through its index only. */
export function checkRooms(files: readonly SourceFile[]): Violation[] {
  return files
    .filter((file) => file.path.startsWith(SERVER) && !isTest(file.path))
    .flatMap(importsOf)
    .flatMap(({ file, target, line }) => {
      if (!target.startsWith('.')) return []
      const from = roomOf(file.path)
      const to = roomOf(resolve(file.path, target))
      if (from === to) return []
      const problem = roomProblem(from, to, resolve(file.path, target))
      return problem ? [{ path: file.path, line, message: problem }] : []
    })
}

function roomProblem(from: string, to: string, target: string): string | undefined {
  // The files beside the rooms (app, wire, jobs …) may use every room, through its index.
  if (from !== '' && to === '') return `${from} may not import ${target.slice(SERVER.length)}`
  if (from !== '') {
    const [fromRow, toRow] = [rowOf(from), rowOf(to)]
    if (fromRow < 0) return `the room "${from}" stands in no row: add it to tools/tidy/rules.ts`
    if (toRow < 0) return `the room "${to}" stands in no row: add it to tools/tidy/rules.ts`
    if (toRow === fromRow) return `${from} and ${to} stand in one row: neither may import the other`
    if (toRow < fromRow) return `${to} stands above ${from}: imports go down only`
  }
  if (to !== 'platform' && to !== 'testing' && !target.endsWith('/index.ts'))
    return `${to} is entered through its index.ts only`
  return undefined
}

/** The room a server file is in, or an empty text for the files beside the rooms. */
function roomOf(path: string): string {
  const rest = path.slice(SERVER.length)
  return rest.includes('/') ? (rest.split('/')[0] ?? '') : ''
}

function rowOf(room: string): number {
  return ROWS.findIndex((row) => row.includes(room))
}

const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(/
/** Node's own sources of randomness, by their imported names. */
const RANDOM =
  /\bimport \{[^}]*\brandom(Bytes|UUID|Int|FillSync|Fill)\b[^}]*\} from 'node:crypto'|\bcrypto\.(randomUUID|getRandomValues)\(/
const ENVIRONMENT = /\bprocess\.env\b/

/** Time and randomness come from platform/ (clock, ids, random), settings from config.ts: only so can tests control them. */
export function checkSources(files: readonly SourceFile[]): Violation[] {
  const product = files.filter(({ path }) => /^(apps|packages)\//.test(path) && !isTest(path))
  return product.flatMap((file) => {
    const mayReadTime =
      APPS.some((app) => file.path.startsWith(`${app}platform/`)) ||
      /^packages\/(sdk|device)\/src\/clock\.ts$/.test(file.path)
    const mayReadEnvironment = /\/(main(-[a-z]+)?|start)\.ts$/.test(file.path)
    return file.text.split('\n').flatMap((text, index) => {
      const at = { path: file.path, line: index + 1 }
      if (CLOCK.test(text) && !mayReadTime)
        return [{ ...at, message: 'time and randomness come from the clock and the ids of platform/' }]
      if (RANDOM.test(text) && file.path.startsWith(SERVER) && !mayReadTime)
        return [{ ...at, message: 'time and randomness come from the clock and the ids of platform/' }]
      if (ENVIRONMENT.test(text) && !mayReadEnvironment)
        return [
          { ...at, message: 'settings come from config.ts, the environment is read in main-*.ts and start.ts only' },
        ]
      return []
    })
  })
}

export function checkSizes(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1
    return lines > MAX_LINES && !isTest(path)
      ? [{ path, line: lines, message: `${lines} lines; ${MAX_LINES} are the limit: would two files read better?` }]
      : []
  })
}

/** Every error code is documented, and the document names no other. */
export function checkErrorDocs(codes: readonly string[], document: SourceFile): Violation[] {
  const named = [...document.text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] ?? '')
  const missing = codes.filter((code) => !named.includes(code)).map((code) => `does not name the error code ${code}`)
  const unknown = named
    .filter((code) => !codes.includes(code))
    .map((code) => `names ${code}, which no code of ours answers with`)
  return [...missing, ...unknown].map((message) => ({ path: document.path, line: 1, message }))
}

/** Statement names are unique in an app, because a connection keeps one plan per name. */
export function checkStatementNames(files: readonly SourceFile[]): Violation[] {
  return APPS.flatMap((app) => checkStatementNamesOf(files.filter(({ path }) => path.startsWith(app) && !isTest(path))))
}

function checkStatementNamesOf(files: readonly SourceFile[]): Violation[] {
  const seen = new Map<string, string>()
  return files.flatMap((file) =>
    [...file.text.matchAll(/\b(?:sql|dayStatement)\(\s*'([^']+)'/g)].flatMap((match) => {
      const name = match[1] ?? ''
      const earlier = seen.get(name)
      seen.set(name, file.path)
      return earlier
        ? [
            {
              path: file.path,
              line: file.text.slice(0, match.index).split('\n').length,
              message: `the statement name ${name} is also used in ${earlier}`,
            },
          ]
        : []
    }),
  )
}

export function resolve(from: string, target: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of target.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}
