/**
 * Runs test suites: `node tools/test.ts pure api acceptance launch screens abilities browsers documents languages packages [FILE...] [--merge] [--with-ids] [-- <node --test options>]`.
 * FILE is a path or a part of one (`npm run test:api -- strings/store`): only files whose path contains it run.
 * `--merge` runs what every merge runs (.ci/run): see suites.ts.
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
import { isMarked, MERGE, SUITES, type Suite } from './suites.ts'

/** A test that takes so long hangs: none takes a tenth of it, and a busy machine must fail none. */
const HANGS_MS = 300_000
const WHOLE_SYSTEM: readonly Suite[] = ['acceptance', 'launch', 'abilities', 'browsers', 'documents']
/** `npm run acceptance -- documents` names the part of the acceptance tests that it wants. */
const PARTS: readonly Suite[] = ['abilities', 'browsers', 'documents', 'languages', 'packages', 'screens']
const WITH_PAGE: readonly Suite[] = ['launch', 'abilities', 'browsers', 'documents']

const ROW_ID = /\[[A-EX]-\d{3}\]/
const [withIds, forMerge] = ['--with-ids', '--merge'].map((flag) => process.argv.includes(flag))
const [suiteNames, wantedFiles, extra] = split(process.argv.slice(2))
let failed = false
for (const name of suiteNames) failed = !(await runSuite(name)) || failed
process.exitCode = failed ? 1 : 0

function split(args: readonly string[]): [Suite[], string[], string[]] {
  const at = args.indexOf('--')
  const own = (at < 0 ? args : args.slice(0, at)).filter((name) => name !== '--with-ids' && name !== '--merge')
  const isSuite = (name: string): name is Suite => name in SUITES
  const names = own.filter(isSuite)
  if (names.length === 0) throw new Error(`Name a suite: ${Object.keys(SUITES).join(', ')}`)
  const wanted = names.some((name) => PARTS.includes(name)) ? names.filter((name) => name !== 'acceptance') : names
  const files = own.filter((name) => !isSuite(name)).map((name) => name.replace(/^\.\//, ''))
  return [wanted, files, at < 0 ? [] : args.slice(at + 1)]
}

async function runSuite(name: Suite): Promise<boolean> {
  const suite = SUITES[name]
  const files = globSync([...suite.files], { cwd: ROOT, exclude: (path) => path.includes('node_modules') })
    .filter((file) => !suite.without.test(file))
    .filter((file) => !withIds || ROW_ID.test(readFileSync(`${ROOT}${file}`, 'utf8')))
    .filter((file) => !forMerge || (MERGE[name]?.(file) ?? true))
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
      ...(forMerge && MERGE[name] === isMarked
        ? ['--test-name-pattern=\\[merge\\]', '--test-skip-pattern=\\[full\\]']
        : []),
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
