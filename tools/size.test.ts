import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupOf, placeOf } from './size.ts'

test('a file counts in one group, and texts, generated files and archives in none', () => {
  const groups = {
    'apps/server/src/platform/db.ts': 'product',
    'apps/server/migrations/0005_faces.sql': 'product',
    'clients/python/src/ostiary/client.py': 'product',
    'measures/drills/kill-api.measure.ts': 'product',
    'apps/server/src/platform/db.api.test.ts': 'tests',
    'apps/server/src/testing/harness.ts': 'tests',
    'clients/python/tests/test_client.py': 'tests',
    'tests/puppet/face.ts': 'tests',
    'docs/operations.md': 'words',
    'docs/decisions/0015-what-stays.md': 'words',
    'docs/decisions/archive/0001-spec-gaps.md': undefined,
    'docs/languages/ar.md': undefined,
    'apps/launch/src/texts/ar.md': undefined,
    'apps/launch/src/texts/ar.json': undefined,
    'docs/openapi.json': undefined,
  }
  for (const [path, group] of Object.entries(groups)) assert.equal(groupOf(path), group, path)
})

test('a file belongs to its workspace, or to its folder', () => {
  assert.equal(placeOf('apps/server/src/app.ts'), 'apps/server')
  assert.equal(placeOf('tools/size.ts'), 'tools')
  assert.equal(placeOf('README.md'), 'README.md')
})
