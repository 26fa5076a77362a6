import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAll } from './main.ts'
import { checkErrorDocs, checkPackages, checkRooms, checkSizes, checkSources, checkStatementNames } from './rules.ts'

const file = (path: string, text: string) => ({ path, text })
const importing = (path: string, target: string) => [file(path, `import { x } from '${target}'\n`)]

test('this tree is tidy', () => {
  assert.deepEqual(checkAll(), [])
})

test('a planted import against the ladder between packages is found', () => {
  const planted: [string, string][] = [
    ['packages/contract/src/a.ts', '@ostiary/crypto'],
    ['packages/crypto/src/a.ts', 'node:crypto'],
    ['packages/sdk/src/a.ts', 'node:fs'],
    ['packages/sdk/src/a.ts', '@ostiary/server/operate'],
    ['apps/server/src/strings/a.ts', '@ostiary/sdk'],
    ['apps/cli/src/a.ts', '@ostiary/server'],
    ['apps/cli/src/a.ts', '../../server/src/wire.ts'],
    ['tests/acceptance/a.test.ts', '@ostiary/contract'],
    ['tests/acceptance/a.test.ts', '../../apps/server/src/app.ts'],
    ['tests/acceptance/a.test.ts', '@ostiary/server/measure'],
    ['tests/testkit/a.ts', '../../apps/server/src/wire.ts'],
    ['tests/testkit/a.ts', '@ostiary/server/conformance'],
    ['tests/puppet/a.ts', '../../models/node-nets.ts'],
    ['tests/conformance/a.test.ts', '../../apps/launch/src/signals/platform.ts'],
    ['tests/conformance/a.test.ts', '@ostiary/server/measure'],
    ['measures/bench/a.ts', '../drills/enrols.ts'],
    ['measures/drills/a.ts', '@ostiary/bench/session-rows'],
    ['measures/accuracy/a.ts', '../../apps/server/src/sanctions/engine/pair.ts'],
    ['measures/accuracy/a.ts', '@ostiary/server'],
    ['models/a.ts', '@ostiary/testkit/root'],
    ['models/a.ts', '../tests/testkit/root.ts'],
    ['tools/a.ts', '../apps/server/src/config.ts'],
    ['apps/server/src/strings/a.ts', '@ostiary/testkit/ports'],
    ['apps/server/src/strings/a.api.test.ts', '@ostiary/testkit/system'],
  ]
  for (const [path, target] of planted)
    assert.equal(checkPackages(importing(path, target)).length, 1, `${path} -> ${target}`)
  for (const [path, target] of [
    ['packages/sdk/src/a.ts', '@ostiary/contract'],
    ['apps/cli/src/a.ts', '@ostiary/server/operate'],
    ['packages/crypto/src/a.test.ts', 'node:test'],
    ['tests/acceptance/a.test.ts', '@ostiary/sdk'],
    ['tests/acceptance/a.test.ts', '@ostiary/testkit/browser/visit'],
    ['tests/testkit/measuring/a.ts', '@ostiary/server/measure'],
    ['tests/puppet/a.ts', '@ostiary/models/node-nets'],
    ['tests/conformance/a.test.ts', '@ostiary/launch/conformance'],
    ['measures/bench/a.ts', '@ostiary/server/measure'],
    ['measures/drills/a.ts', '@ostiary/testkit/measuring/figure'],
    ['models/a.ts', '@ostiary/faces'],
    ['models/a.ts', 'node:fs'],
    ['tools/a.ts', '@ostiary/server/conformance'],
    ['apps/server/src/strings/a.api.test.ts', '@ostiary/testkit/ports'],
  ] as const) {
    assert.deepEqual(checkPackages(importing(path, target)), [])
  }
})

test('a planted import up, sideways or past an index is found in the server, however it is written', () => {
  const planted: [string, string][] = [
    ['apps/server/src/platform/a.ts', '../keys/index.ts'],
    ['apps/server/src/keys/a.ts', '../strings/index.ts'],
    ['apps/server/src/strings/a.ts', '../sanctions/index.ts'],
    ['apps/server/src/strings/a.ts', '../keys/store.ts'],
    ['apps/server/src/strings/a.ts', '../wire.ts'],
    ['apps/server/src/platform/a.ts', '../config.ts'],
    ['apps/server/src/app.ts', './strings/routes.ts'],
    ['apps/server/src/newroom/a.ts', '../platform/db.ts'],
  ]
  for (const [path, target] of planted)
    assert.equal(checkRooms(importing(path, target)).length, 1, `${path} -> ${target}`)
  for (const text of [
    `export * from '../keys/store.ts'`,
    `const k = await import('../keys/store.ts')`,
    `import type {\n  A,\n  B,\n} from '../keys/store.ts'`,
    `import '../keys/store.ts'`,
  ]) {
    assert.equal(checkRooms([file('apps/server/src/strings/a.ts', text)]).length, 1, text)
  }
  for (const [path, target] of [
    ['apps/server/src/strings/a.ts', '../keys/index.ts'],
    ['apps/server/src/strings/a.ts', '../platform/db.ts'],
    ['apps/server/src/strings/a.ts', './store.ts'],
    ['apps/server/src/app.ts', './strings/index.ts'],
  ] as const) {
    assert.deepEqual(checkRooms(importing(path, target)), [])
  }
})

test('planted uses of time, randomness and the environment are found, tests and platform excepted', () => {
  for (const text of [
    'const t = Date.now()',
    'const d = new Date()',
    'Math.random()',
    'performance.now()',
    'process.env.HOME',
  ]) {
    assert.equal(checkSources([file('apps/server/src/strings/a.ts', `\n${text}`)]).length, 1, text)
    assert.equal(checkSources([file('packages/sdk/src/a.ts', text)]).length, 1, text)
    assert.deepEqual(checkSources([file('apps/server/src/strings/a.test.ts', text)]), [])
  }
  for (const text of [`import { createHmac, randomBytes } from 'node:crypto'`, 'const id = crypto.randomUUID()']) {
    assert.equal(checkSources([file('apps/server/src/strings/a.ts', text)]).length, 1, text)
    assert.deepEqual(checkSources([file('apps/server/src/platform/random.ts', text)]), [])
  }
  assert.deepEqual(checkSources([file('apps/server/src/platform/clock.ts', 'new Date()')]), [])
  assert.deepEqual(checkSources([file('apps/server/src/strings/a.ts', 'new Date(ms)')]), [])
  assert.deepEqual(checkSources([file('apps/server/src/main-api.ts', 'process.env')]), [])
})

test('a file that is too long and a statement name used twice are found', () => {
  assert.equal(checkSizes([file('apps/server/src/a.ts', 'x\n'.repeat(401))]).length, 1)
  assert.deepEqual(checkSizes([file('apps/server/src/a.ts', 'x\n'.repeat(400))]), [])
  const twice = [
    file('apps/server/src/keys/store.ts', `sql('keys.find', 'select 1')`),
    file('apps/server/src/strings/store.ts', `sql(\n  'keys.find',\n  'select 2')`),
  ]
  assert.equal(checkStatementNames(twice).length, 1)
})

test('an undocumented error code, and a documented one that does not exist, are found', () => {
  const document = file('docs/errors.md', '| `NOT_FOUND` | 404 | x | y |\n| `OLD_CODE` | 400 | x | y |\n')
  assert.deepEqual(
    checkErrorDocs(['NOT_FOUND', 'NEW_CODE'], document).map(({ message }) => message),
    ['does not name the error code NEW_CODE', 'names OLD_CODE, which no code of ours answers with'],
  )
})
