/** The gate names only what is there: .ci/run, .ci/full and .ci/paths. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { SUITES } from './suites.ts'

const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const rows = read('.ci/paths')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [path = '', steps = ''] = line.split(/ {2,}/)
    return { path, steps: steps.split(', ') }
  })
const inQuotes = [
  ...`${read('.ci/run')}${read('.ci/full')}`.matchAll(/'((?:suite|blocks|release|drill|accuracy|bench)\b[^']*)'/g),
]
const named = new Set([...rows.flatMap(({ steps }) => steps), ...inQuotes.map(([, words = '']) => words)])

const MEASURES: Readonly<Record<string, string>> = { drill: 'drills', accuracy: 'accuracy', bench: 'bench' }

test('every path of .ci/paths matches a file', () => {
  assert.ok(rows.length > 20)
  const git = (path: string) =>
    execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', `:(glob)${path}`], { cwd: ROOT })
  assert.deepEqual(
    rows.filter(({ path }) => git(path).length === 0),
    [],
  )
})

test('every step that the gate names exists', () => {
  assert.ok(named.size > 40)
  assert.deepEqual(
    [...named].filter((words) => !exists(words.split(' '))),
    [],
  )
})

test('.ci/full has every suite and every measure', () => {
  const full = read('.ci/full')
  const measures = globSync('measures/*/*.measure.ts', { cwd: ROOT }).map((file) => {
    const [, folder = '', name = ''] = file.split(/[/.]/)
    return `'${Object.keys(MEASURES).find((word) => MEASURES[word] === folder)} ${name}`
  })
  assert.ok(measures.length > 20)
  assert.deepEqual(
    [...measures, ...Object.keys(SUITES)].filter((words) => !new RegExp(`${words}(?![\\w-])`).test(full)),
    [],
  )
})

function exists([what = '', name = '', ...files]: string[]): boolean {
  if (what in MEASURES) return existsSync(`${ROOT}measures/${MEASURES[what]}/${name}.measure.ts`)
  if (what !== 'suite') return what in scripts
  const suite = Object.entries(SUITES).find(([one]) => one === name)?.[1]
  const all = globSync([...(suite?.files ?? [])], { cwd: ROOT })
  return files.length === 0 ? all.length > 0 : files.every((file) => all.some((path) => path.includes(file)))
}

test('a change brings the steps of its paths, each once, and a commit that is not there is an error', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-gate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Gate', '-c', 'user.email=gate@example.com', ...args], { cwd: folder })
  const write = (file: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), file)
  }
  const added = (since: string) =>
    execFileSync('bash', ['-c', '. .ci/steps; choose_added "$0"', since], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('\n')
      .flatMap((line) => line.split(': ')[1] ?? [])
  mkdirSync(join(folder, '.ci'))
  cpSync(`${ROOT}.ci/steps`, join(folder, '.ci/steps'))
  writeFileSync(
    join(folder, '.ci/paths'),
    '# a comment\napps/page/**    suite launch, drill malformed\napps/**/names/**   accuracy names, drill malformed\n*.md   blocks\n',
  )
  git('init', '-q')
  write('apps/page/main.ts')
  git('add', '.')
  git('commit', '-qm', 'first')
  assert.deepEqual(added('HEAD'), [])
  write('docs/deep.md')
  write('apps/page/deep/file.ts')
  write('apps/server/names/list.ts')
  git('add', '.')
  git('commit', '-qm', 'second')
  assert.deepEqual(added('HEAD~1'), ['suite launch', 'drill malformed', 'accuracy names'])
  rmSync(join(folder, 'apps/page/main.ts'))
  assert.deepEqual(added('HEAD'), ['suite launch', 'drill malformed'], 'what is not committed counts too')
  assert.throws(() => added('0123456789'))
})
