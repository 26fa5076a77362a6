/** The packages in empty projects: every Node that is still used, Deno, Bun, both compilers, and what judges packages. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, describe, type TestContext, test } from 'node:test'
import {
  addNodeTypes,
  askPublint,
  CLI,
  COMPILERS,
  compile,
  entriesOf,
  makePackages,
  newProject,
  type Project,
  program,
  SDK,
} from './project.ts'
import { ATTW, BUN, DENO, type Found, fetchPackage, findBun, findDeno, findNode, NODES } from './runtimes.ts'

before(makePackages)

/** The path of a program, or undefined when the test is skipped because it is not here. */
function need(t: TestContext, found: Found): string | undefined {
  if ('path' in found) return found.path
  t.skip(found.missing)
  return undefined
}

function withPrograms(t: TestContext, type: 'module' | 'commonjs'): Project {
  const project = newProject(t, type, SDK, CLI)
  const entries = entriesOf(project)
  project.write('with-import.mjs', program(entries, 'import'))
  project.write('with-require.cjs', program(entries, 'require'))
  return project
}

for (const version of NODES)
  describe(`Node ${version}`, () => {
    test('loads it by import and by require, and runs what TypeScript made of a project', (t) => {
      const node = need(t, findNode(version))
      if (!node) return
      const project = withPrograms(t, 'module')
      assert.equal(project.run(node, '--version'), `v${version}\n`)
      assert.equal(project.run(node, 'with-import.mjs'), 'works\n')
      assert.equal(project.run(node, 'with-require.cjs'), 'works\n')
      addNodeTypes(project)
      compile(project, { compiler: '5.9', resolution: 'nodenext', globals: 'node' })
      assert.equal(project.run(node, 'shop.js'), 'function\n')
    })

    test('runs the command line', (t) => {
      const node = need(t, findNode(version))
      if (!node) return
      const project = newProject(t, 'commonjs', CLI)
      assert.match(project.run(node, 'node_modules/.bin/ostiary', 'help'), /\bscreen\b/)
      assert.match(project.run(node, 'node_modules/.bin/ostiary', 'simulate', '--help'), /--spoof/)
      assert.throws(
        () => project.run(node, 'node_modules/.bin/ostiary', 'migrate'),
        /ended with 2\n.*installation’s machine/,
      )
    })
  })

describe('TypeScript', () => {
  for (const compiler of Object.keys(COMPILERS) as (keyof typeof COMPILERS)[])
    for (const type of ['module', 'commonjs'] as const)
      test(`${compiler}, strict, in a project of type ${type}, with the types of Node or of browsers`, (t) => {
        const project = newProject(t, type, SDK)
        addNodeTypes(project)
        for (const globals of ['node', 'dom'] as const) {
          compile(project, { compiler, resolution: 'nodenext', globals })
          assert.equal(project.run(process.execPath, 'shop.js'), 'function\n')
          compile(project, { compiler, resolution: 'bundler', globals })
        }
      })
})

test(`Deno ${DENO} loads it`, (t) => {
  const deno = need(t, findDeno())
  if (!deno) return
  const project = withPrograms(t, 'module')
  const flags = [
    'run',
    '--allow-read',
    '--allow-env',
    '--allow-net=127.0.0.1',
    '--no-prompt',
    '--node-modules-dir=manual',
    '--no-remote',
  ]
  assert.equal(project.run(deno, ...flags, 'with-import.mjs'), 'works\n')
  assert.equal(project.run(deno, ...flags, 'with-require.cjs'), 'works\n')
})

test(`Bun ${BUN} loads it`, (t) => {
  const bun = need(t, findBun())
  if (!bun) return
  const project = withPrograms(t, 'module')
  assert.equal(project.run(bun, 'run', 'with-import.mjs'), 'works\n')
  assert.equal(project.run(bun, 'run', 'with-require.cjs'), 'works\n')
})

test(`attw ${ATTW} finds nothing: every way to resolve the package gives code and types of one format`, (t) => {
  const attw = need(t, fetchPackage('@arethetypeswrong/cli', ATTW, 'dist/index.js'))
  if (!attw) return
  const { status, stdout } = spawnSync(process.execPath, [attw, SDK, '--no-color', '--no-emoji'], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /No problems found/)
})

test('publint finds nothing', () => {
  for (const archive of [SDK, CLI]) assert.match(askPublint(archive), /All good!/)
})
