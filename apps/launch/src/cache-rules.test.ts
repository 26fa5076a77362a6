import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cacheRuleFor, isForEverySession, outdatedCaches } from './cache-rules.ts'

const SCOPE = 'https://check.example/launch/'
const RELEASES = { page: 'p2', models: 'm1', runtime: '1.30.0' }
const get = (path: string, isNavigation = false) =>
  cacheRuleFor({ method: 'GET', url: new URL(path, SCOPE).href, isNavigation }, SCOPE, RELEASES)

describe('files that never change are served from the cache:', () => {
  const cases = [
    ['models/facemesh/0123456789ab/facemesh.onnx', 'ostiary-models-m1'],
    ['ort/1.30.0/ort-wasm-simd-threaded.wasm', 'ostiary-runtime-1.30.0'],
    ['assets/index-DkX9a_1b.js', 'ostiary-page-p2'],
  ] as const
  for (const [path, cache] of cases)
    test(path, () => assert.deepEqual(get(path), { rule: 'keep', cache, key: SCOPE + path }))
})

test('the page and the manifest of models come from the network, and from the cache only without a network', () => {
  assert.deepEqual(get('?sessionId=0d4f1c52', true), { rule: 'refresh', cache: 'ostiary-page-p2', key: SCOPE })
  assert.deepEqual(get('models/manifest.json'), {
    rule: 'refresh',
    cache: 'ostiary-models-m1',
    key: `${SCOPE}models/manifest.json`,
  })
})

test('calls of the flow are never cached', () => {
  for (const path of ['api/open', 'api/status?sessionId=0d4f1c52', 'api/assets/x.js'])
    assert.deepEqual(get(path), { rule: 'pass' })
  const url = `${SCOPE}assets/index.js`
  assert.deepEqual(cacheRuleFor({ method: 'POST', url, isNavigation: false }, SCOPE, RELEASES), { rule: 'pass' })
})

test('other origins, other folders and files without a version are not cached', () => {
  for (const path of ['https://else.example/launch/assets/a.js', '/v2/age', 'service-worker.js', 'models/x/y.onnx'])
    assert.deepEqual(get(path), { rule: 'pass' })
  assert.deepEqual(get('screen-catalog.html', true), { rule: 'pass' })
})

test('caches of earlier releases are deleted; caches of other applications stay', () => {
  const names = ['ostiary-page-p1', 'ostiary-page-p2', 'ostiary-models-m0', 'ostiary-models-m1', 'someone-else']
  assert.deepEqual(outdatedCaches(names, RELEASES), ['ostiary-page-p1', 'ostiary-models-m0'])
})

test('only a document that nobody may frame is kept, because it is shown to every session when the network fails', () => {
  for (const policy of [
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "frame-ancestors 'none'",
    "a;frame-ancestors 'none' ;",
  ])
    assert.equal(isForEverySession(policy), true, policy)
  for (const policy of [
    null,
    '',
    "default-src 'self'",
    "frame-ancestors https://shop.example; default-src 'none'",
    "frame-ancestors 'self'",
    "x-frame-ancestors 'none'",
    "frame-ancestors 'none' https://shop.example",
  ])
    assert.equal(isForEverySession(policy), false, String(policy))
})
