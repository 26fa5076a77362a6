import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Lockfile, reach } from './lockfile.ts'

const LOCKFILE: Lockfile = {
  '': { devDependencies: { linter: '1.0.0' } },
  'apps/shop': {
    dependencies: { '@our/part': '1.0.0', old: '1.0.0' },
    devDependencies: { builder: '1.0.0' },
    optionalDependencies: { 'for-other-machines': '1.0.0' },
  },
  'packages/part': { name: '@our/part', dependencies: { shared: '2.0.0' }, devDependencies: { linter: '1.0.0' } },
  'node_modules/@our/part': { link: true, resolved: 'packages/part' },
  'node_modules/old': {
    dependencies: { shared: '1.0.0' },
    peerDependencies: { needed: '1.0.0', optional: '1.0.0' },
    peerDependenciesMeta: { optional: { optional: true } },
  },
  'node_modules/old/node_modules/shared': {},
  'node_modules/shared': {},
  'node_modules/needed': {},
  'node_modules/optional': {},
  'node_modules/builder': {},
  'node_modules/linter': {},
}

test('a workspace reaches what it runs with, each in the folder where Node finds it', () => {
  assert.deepEqual(reach(LOCKFILE, ['apps/shop']), [
    { path: 'apps/shop', needs: ['node_modules/old', 'packages/part'] },
    { path: 'node_modules/needed', needs: [] },
    { path: 'node_modules/old', needs: ['node_modules/needed', 'node_modules/old/node_modules/shared'] },
    { path: 'node_modules/old/node_modules/shared', needs: [] },
    { path: 'node_modules/shared', needs: [] },
    { path: 'packages/part', needs: ['node_modules/shared'] },
  ])
})

test('what a workspace is built with is its own, not that of the workspaces it uses', () => {
  const paths = reach(LOCKFILE, ['apps/shop'], { dev: true }).map(({ path }) => path)
  assert.ok(paths.includes('node_modules/builder') && !paths.includes('node_modules/linter'))
})

test('a package that is nowhere is an error', () => {
  const broken = { 'apps/shop': { dependencies: { gone: '1.0.0' } } }
  assert.throws(() => reach(broken, ['apps/shop']), /where apps\/shop finds gone/)
  assert.throws(() => reach(LOCKFILE, ['apps/none']), /no apps\/none/)
})
