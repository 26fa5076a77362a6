/** The short form of `npm run acceptance -- packages`: the packages install without a network, load, compile and pass publint. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { before, test } from 'node:test'
import {
  addNodeTypes,
  askPublint,
  CLI,
  compile,
  entriesOf,
  makePackages,
  newProject,
  program,
  SDK,
} from './packages/project.ts'

before(makePackages)

/** The Node of the system, where it is another one than the checkout's. */
const SYSTEM_NODE = ['/usr/local/bin/node', '/usr/bin/node'].find((path) => existsSync(path))

test('the packages install off-line in an empty project; import and require work, on the system’s Node too', (t) => {
  const project = newProject(t, 'module', SDK, CLI)
  const entries = entriesOf(project)
  assert.ok(entries.includes('@ostiary/sdk/embed'))
  project.write('with-import.mjs', program(entries, 'import'))
  project.write('with-require.cjs', program(entries, 'require'))
  for (const node of [process.execPath, ...(SYSTEM_NODE ? [SYSTEM_NODE] : [])])
    for (const file of ['with-import.mjs', 'with-require.cjs'])
      assert.equal(project.run(node, file), 'works\n', `${node} ${file}`)
  assert.match(project.run(process.execPath, 'node_modules/.bin/ostiary', 'help'), /\bscreen\b/)
})

test('TypeScript 5.9 compiles a strict project with it', (t) => {
  const project = newProject(t, 'module', SDK)
  addNodeTypes(project)
  compile(project, { compiler: '5.9', resolution: 'nodenext', globals: 'node' })
  assert.equal(project.run(process.execPath, 'shop.js'), 'function\n')
})

test('publint finds nothing', () => {
  for (const archive of [SDK, CLI]) assert.match(askPublint(archive), /All good!/)
})
