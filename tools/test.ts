/**
 * Runs test suites: `node tools/test.ts pure api acceptance launch screens abilities browsers documents languages packages [FILE...] [--with-ids] [-- <node --test options>]`.
 * FILE is a path or a part of one (`npm run test:api -- strings/store`): only files whose path contains it run.
 * `--with-ids` leaves out files without the id of a specification row.
 * Starts what they need (acceptance, launch, abilities, browsers and documents: a whole installation, unless OSTIARY_URL names one; with the page in LAUNCH_DIR
 * if that is set), prints the results as they come, and keeps each test's outcome in .reports/<suite>.ndjson, which
 * `npm run spec` reads.
 */
import { spawn } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { provideLaunchPage } from '@ostiary/testkit/launch-page'
import { COMPILED, ROOT, startServices } from '@ostiary/testkit/run'
import { startSystem } from '@ostiary/testkit/system'

const SUITES = {
  pure: {
    files: [
      '{apps,packages}/*/src/**/*.test.ts',
      '{models,measures,tools}/**/*.test.ts',
      'tests/{testkit,puppet,conformance}/**/*.test.ts',
    ],
    without: /\.api\.test\.ts$/,
    atOnce: 2,
  },
  // These wait for the database half of the time.
  api: { files: ['apps/*/src/**/*.api.test.ts'], without: /$^/, atOnce: 3 },
  acceptance: { files: ['tests/acceptance/*.test.ts'], without: /$^/, atOnce: 2 },
  // Real browsers with a camera and models: two at once on two cores would wait for each other.
  launch: { files: ['tests/acceptance/launch/*.test.ts'], without: /$^/, atOnce: 1 },
  // Too long for the gate, which has the shortest of them in the suite above.
  documents: { files: ['tests/acceptance/documents/*.test.ts'], without: /$^/, atOnce: 1 },
  // More people who cannot make every movement. The launch suite has one.
  abilities: { files: ['tests/acceptance/abilities/*.test.ts'], without: /$^/, atOnce: 1 },
  // The whole face check in Firefox beside Chromium, with the times of both. The gate has Chromium in the launch suite.
  browsers: { files: ['tests/acceptance/browsers/*.test.ts'], without: /$^/, atOnce: 1 },
  // Every screen by itself, without a service and without a camera.
  screens: { files: ['tests/acceptance/screens/*.test.ts'], without: /$^/, atOnce: 2 },
  // All 44 languages, and two that are none. The gate has six of them in the suite above.
  languages: { files: ['tests/acceptance/languages/*.test.ts'], without: /$^/, atOnce: 1 },
  // Fetches other Nodes, Deno and Bun. The gate has the short form among the acceptance tests.
  packages: { files: ['tests/acceptance/packages/*.test.ts'], without: /$^/, atOnce: 1 },
} as const
type Suite = keyof typeof SUITES
/** A test that takes so long hangs: none takes a tenth of it, and a busy machine must fail none. */
const HANGS_MS = 300_000
const WHOLE_SYSTEM: readonly Suite[] = ['acceptance', 'launch', 'abilities', 'browsers', 'documents']
/** `npm run acceptance -- documents` names the part of the acceptance tests that it wants. */
const PARTS: readonly Suite[] = ['abilities', 'browsers', 'documents', 'languages', 'packages', 'screens']
const WITH_PAGE: readonly Suite[] = ['launch', 'abilities', 'browsers', 'documents']

const ROW_ID = /\[[A-EX]-\d{3}\]/
const [suiteNames, wantedFiles, extra, withIds] = split(process.argv.slice(2))
let failed = false
for (const name of suiteNames) failed = !(await runSuite(name)) || failed
process.exitCode = failed ? 1 : 0

function split(args: readonly string[]): [Suite[], string[], string[], boolean] {
  const at = args.indexOf('--')
  const own = (at < 0 ? args : args.slice(0, at)).filter((name) => name !== '--with-ids')
  const isSuite = (name: string): name is Suite => name in SUITES
  const names = own.filter(isSuite)
  if (names.length === 0) throw new Error(`Name a suite: ${Object.keys(SUITES).join(', ')}`)
  const wanted = names.some((name) => PARTS.includes(name)) ? names.filter((name) => name !== 'acceptance') : names
  const files = own.filter((name) => !isSuite(name)).map((name) => name.replace(/^\.\//, ''))
  return [wanted, files, at < 0 ? [] : args.slice(at + 1), args.includes('--with-ids')]
}

async function runSuite(name: Suite): Promise<boolean> {
  const suite = SUITES[name]
  const files = globSync([...suite.files], { cwd: ROOT, exclude: (path) => path.includes('node_modules') })
    .filter((file) => !suite.without.test(file))
    .filter((file) => !withIds || ROW_ID.test(readFileSync(`${ROOT}${file}`, 'utf8')))
    .filter((file) => wantedFiles.length === 0 || wantedFiles.some((wanted) => file.includes(wanted)))
    .sort()
  if (files.length === 0) {
    console.error(`No file of the suite "${name}" has ${wantedFiles.join(' or ')} in its path`)
    return suiteNames.length > 1
  }
  console.log(`\n== ${name}: ${files.length} files`)
  mkdirSync(`${ROOT}.reports`, { recursive: true })
  if (WITH_PAGE.includes(name) && !process.env.LAUNCH_DIR) provideLaunchPage(console.log)
  const system = WHOLE_SYSTEM.includes(name) && !process.env.OSTIARY_URL ? await startSystem(name) : undefined
  const env = {
    ...process.env,
    ...COMPILED,
    TEST_SUITE: name,
    ...(name === 'api' && { OSTIARY_TEST_CLUSTER: startServices() }),
    ...system?.env,
  }
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./tests/testkit/outcome-reporter.ts',
    `--test-reporter-destination=.reports/${name}.ndjson`,
  ]
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${suite.atOnce}`,
      `--test-timeout=${HANGS_MS}`,
      ...(suite.atOnce === 1 ? ['--test-isolation=none'] : []),
      // A forced exit may lose output that is not read yet, and tests were missing from the count. Pure tests end without it.
      ...(name === 'pure' ? [] : ['--test-force-exit']),
      ...reporters,
      ...extra,
      ...files,
    ],
    {
      cwd: ROOT,
      env,
      stdio: 'inherit',
    },
  )
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  await system?.stop()
  return code === 0
}
