import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkErrorDocs, checkSources, checkStatementNames } from './rules.ts'

const file = (path: string, text: string) => ({ path, text })

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

test('a statement name used twice is found', () => {
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
