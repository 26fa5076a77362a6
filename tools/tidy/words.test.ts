import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkWords } from './words.ts'

const file = (path: string, text: string) => ({ path, text })
const found = (path: string, text: string) => checkWords([file(path, text)]).length

test('a planted word that a stranger has to guess is found in code, comments, log lines and docs', () => {
  assert.deepEqual(checkWords([file('apps/server/src/webhooks/a.ts', 'const x = 1\n/** The courier runs. */\n')]), [
    {
      path: 'apps/server/src/webhooks/a.ts',
      line: 2,
      message: '"courier" is a word that a stranger has to guess; write: attempt',
    },
  ])
  for (const text of [
    'const deviceShelf = open()',
    'function createShelves() {}',
    `log.warn('the session came to nothing')`,
    '// Whoever asks is told the state.',
    'interface Seen {}',
    'const crew = hire(3)',
    'const wished = wishOf(session)',
    'await withPatientClient(work)',
    '// what is none of ours is built anew by somebody who comes',
  ]) {
    assert.ok(found('apps/server/src/age/a.ts', text) > 0, text)
  }
  assert.ok(found('docs/operations.md', 'Whoever restarts the worker loses nothing.') > 0)
  assert.ok(found('apps/server/migrations/0018_new.sql', 'create table shelves ();') > 0)
})

test('history and stored names may stay', () => {
  for (const [path, text] of [
    ['docs/decisions/0008-one-index-per-large-space.md', 'A shelf holds one space.'],
    ['docs/glossary.md', '| vector partition | where vectors of a space are stored | shelf |'],
    ['apps/server/src/biometrics/store.ts', 'select shelf from face_spaces'],
    ['apps/server/src/biometrics/x.api.test.ts', 'select shelf from face_spaces'],
    ['CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- fine\n\n## 0.1.0\n\n- a shelf'],
    ['docs/languages/de.md', '| `number.sent` | ... | Whoever sent you this |'],
    ['docs/api/age.md', 'A third party may see it. There is none.'],
    ['apps/server/src/verification/provisional-persons.api.test.ts', 'delete from unmade_persons'],
  ] as const) {
    assert.equal(found(path, text), 0, path)
  }
  assert.equal(found('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- a shelf\n\n## 0.1.0\n\n- a shelf'), 1)
  assert.equal(found('apps/server/src/biometrics/service.ts', 'const shelf = 1'), 1)
})
