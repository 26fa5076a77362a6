/** What a forge reads, checked without one: workflows, templates, owners, updates and changesets name only what is there. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { parse } from 'yaml'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}

interface Workflow {
  on: Record<string, unknown>
  permissions: Record<string, string>
  jobs: Record<string, { steps: Step[]; permissions?: Record<string, string> }>
}

const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8')
const inRoot = (pattern: string) => globSync(pattern, { cwd: ROOT })
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const workflows = inRoot('.github/workflows/*.yml').map((path) => ({ path, ...(parse(read(path)) as Workflow) }))
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps)
const named = (name: string) => {
  const found = workflows.find(({ path }) => path.endsWith(`/${name}.yml`))
  assert.ok(found, name)
  return found
}

/** The files and the npm scripts that the commands of a step call. */
function calledBy(run: string): { files: string[]; scripts: string[] } {
  const words = (pattern: RegExp) => [...run.matchAll(pattern)].map(([, word = '']) => word)
  return {
    files: words(/(?<![\w/$"-])((?:\.ci|tools|deploy|apps|models|\.)\/[\w./-]+)/g),
    scripts: words(/npm run (?:-s )?([\w:-]+)/g),
  }
}

test('workflows call files and npm scripts that exist', () => {
  assert.deepEqual(workflows.map(({ path }) => path).sort(), [
    '.github/workflows/ci.yml',
    '.github/workflows/nightly.yml',
    '.github/workflows/release.yml',
  ])
  const called = workflows.flatMap((workflow) => stepsOf(workflow).map(({ run = '' }) => calledBy(run)))
  const files = called.flatMap((one) => one.files)
  const npm = called.flatMap((one) => one.scripts)
  for (const file of ['.ci/run', '.ci/full', 'tools/bootstrap', 'deploy/Dockerfile'])
    assert.ok(files.includes(file), file)
  assert.deepEqual(
    files.filter((file) => !existsSync(`${ROOT}${file}`)),
    [],
  )
  assert.ok(npm.includes('release'))
  assert.deepEqual(
    npm.filter((script) => !(script in scripts)),
    [],
  )
})

test('a merge knows its base, the night runs everything, and a release does before it builds', () => {
  const [checkout, ...others] = stepsOf(named('ci'))
  assert.equal(checkout?.with?.['fetch-depth'], 0)
  assert.match(
    others.map(({ run }) => run).join('\n'),
    /CI_BASE=\$\(git merge-base "\$BASE" HEAD\)[\s\S]*bash \.ci\/run/,
  )
  assert.ok('schedule' in named('nightly').on && 'workflow_dispatch' in named('nightly').on)
  for (const name of ['nightly', 'release'])
    assert.ok(named(name).jobs.full?.steps.some(({ run }) => run === 'bash .ci/full'))
  assert.match(JSON.stringify(named('release').jobs.image), /"needs":"full"/)
})

test('foreign actions are pinned by commit, and a workflow may only read unless a job says more', () => {
  for (const workflow of workflows) {
    for (const { uses } of stepsOf(workflow))
      if (uses) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, workflow.path)
    assert.deepEqual(workflow.permissions, { contents: 'read' }, workflow.path)
    const more = Object.entries(workflow.jobs).filter(([, { permissions }]) => permissions)
    assert.deepEqual(
      more.map(([name]) => name),
      workflow === named('release') ? ['draft'] : [],
    )
  }
})

test('templates and owners name paths that exist, and owners are marked as placeholders', () => {
  const owners = read('.github/CODEOWNERS')
  assert.match(owners, /^# REPLACE /)
  const paths = owners.split('\n').flatMap((line) => (/^[#]|^$/.test(line) ? [] : [line.split(/\s+/)[0] ?? '']))
  assert.ok(paths.length > 5)
  const templates = inRoot('.github/{ISSUE_TEMPLATE/*.yml,pull_request_template.md}')
  assert.equal(templates.length, 4)
  for (const path of templates)
    for (const [, file = ''] of read(path).matchAll(/(?<![\w/.-])(?:\S*blob\/main\/)?([\w/-]+\.md)/g)) paths.push(file)
  assert.ok(paths.includes('SECURITY.md'))
  assert.deepEqual(
    paths.filter((path) => path !== '*' && !existsSync(`${ROOT}${path}`)),
    [],
  )
  for (const path of templates.filter((one) => one.endsWith('.yml'))) assert.ok(parse(read(path)), path)
})

test('the update bot looks at npm and actions every week, in groups', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory: string; schedule: { interval: string }; groups: object }[]
  }
  assert.deepEqual(
    updates.map((one) => [one['package-ecosystem'], one.directory, one.schedule.interval]),
    [
      ['npm', '/', 'weekly'],
      ['github-actions', '/', 'weekly'],
    ],
  )
  for (const { groups } of updates) assert.ok(Object.keys(groups).length > 0)
})

test('all workspaces have the one version of the repository, and a changeset gives all of them the next', () => {
  const { workspaces, version } = JSON.parse(read('package.json')) as { workspaces: string[]; version: string }
  const manifests = workspaces
    .flatMap((pattern) => inRoot(`${pattern}/package.json`))
    .map((path) => JSON.parse(read(path)) as { name: string; version: string })
  assert.ok(manifests.length > 15)
  assert.deepEqual(
    manifests.filter((one) => one.version !== version || !one.name.startsWith('@ostiary/')),
    [],
  )
  const config = JSON.parse(read('.changeset/config.json')) as Record<string, unknown>
  assert.deepEqual(config.fixed, [['@ostiary/*']])
  assert.ok(existsSync(`${ROOT}.changeset/${config.$schema}`), 'the schema of the installed version')
  assert.match(scripts.changeset ?? '', /^changeset/)
})
