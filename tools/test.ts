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
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { provideLaunchPage } from '@ostiary/testkit/launch-page'
import { COMPILED, ROOT, startServices } from '@ostiary/testkit/run'
import { startSystem } from '@ostiary/testkit/system'
import { isAlone, isMarked, MERGE, SUITES, type Suite, type SuiteShape } from './suites.ts'

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
  const runs = await inTurns(groupsOf(files, suite), suite.grouped ? suite.atOnce : 1, (group, index) =>
    runFiles(name, group, `${ROOT}.reports/${name}${suite.grouped ? `.${index}` : ''}.ndjson`, env),
  )
  if (suite.grouped) joinOutcomes(name, runs.length)
  await system?.stop()
  return runs.every((passed) => passed)
}

/** Files that share a process load what they test once. Neighbours in the alphabet go to different groups, because they take alike long. */
function groupsOf(files: readonly string[], { grouped, atOnce }: SuiteShape): string[][] {
  if (!grouped) return [[...files]]
  const [single, shared] = [files.filter(isAlone), files.filter((file) => !isAlone(file))]
  const count = Math.min(shared.length, Math.max(atOnce, Math.ceil(shared.length / grouped)))
  const groups = Array.from({ length: count }, (_, index) => shared.filter((_, place) => place % count === index))
  return [...single.map((file) => [file]), ...groups]
}

async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  run: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const entries = items.entries()
  const work = async () => {
    for (const [index, item] of entries) results[index] = await run(item, index)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

async function runFiles(name: Suite, files: string[], outcomes: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { atOnce, grouped } = SUITES[name]
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-timeout=${HANGS_MS}`,
      ...(grouped || atOnce === 1 ? ['--test-isolation=none'] : [`--test-concurrency=${atOnce}`]),
      // A forced exit may lose output that is not read yet, and tests were missing from the count. Pure tests end without it.
      ...(name === 'pure' ? [] : ['--test-force-exit']),
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./tests/testkit/outcome-reporter.ts',
      `--test-reporter-destination=${outcomes}`,
      ...(forMerge && MERGE[name] === isMarked
        ? ['--test-name-pattern=\\[merge\\]', '--test-skip-pattern=\\[full\\]']
        : []),
      ...extra,
      ...files,
    ],
    { cwd: ROOT, env, stdio: 'inherit' },
  )
  return (await new Promise<number | null>((resolve) => child.once('exit', resolve))) === 0
}

function joinOutcomes(name: Suite, count: number): void {
  const parts = Array.from({ length: count }, (_, index) => `${ROOT}.reports/${name}.${index}.ndjson`).filter(
    existsSync,
  )
  writeFileSync(`${ROOT}.reports/${name}.ndjson`, parts.map((part) => readFileSync(part, 'utf8')).join(''))
  for (const part of parts) rmSync(part)
}
