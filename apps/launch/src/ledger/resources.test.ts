import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestOf } from './resources.ts'

const SCRIPT = {
  entryType: 'resource',
  name: 'https://check.example/launch/assets/index-abc.js',
  initiatorType: 'script',
  startTime: 12.4,
  transferSize: 9000,
}

const AT = { timeOriginMs: 0, includeFetch: false }

test('a script that the browser fetched is a request without a body, at its own time', () => {
  assert.deepEqual(requestOf(SCRIPT, { timeOriginMs: 1_000_000, includeFetch: false }), {
    method: 'GET',
    url: SCRIPT.name,
    bytesOut: 0,
    atMs: 1_000_012,
  })
})

test('the page itself is a request too', () => {
  const page = { entryType: 'navigation', name: 'https://check.example/launch/?sessionId=x', startTime: 0 }
  assert.equal(requestOf(page, AT)?.url, page.name)
})

test('with `includeFetch`, requests by fetch are reported too', () => {
  const fetched = { ...SCRIPT, initiatorType: 'fetch' }
  assert.equal(requestOf(fetched, { ...AT, includeFetch: true })?.url, SCRIPT.name)
})

test('cache hits, requests by our own fetch and entries without network access are not requests', () => {
  assert.equal(requestOf({ ...SCRIPT, transferSize: 0 }, AT), undefined)
  assert.equal(requestOf({ ...SCRIPT, initiatorType: 'fetch' }, AT), undefined)
  assert.equal(requestOf({ ...SCRIPT, name: 'blob:https://check.example/1' }, AT), undefined)
  assert.equal(requestOf({ ...SCRIPT, name: 'data:image/png;base64,AA' }, AT), undefined)
  assert.equal(requestOf({ ...SCRIPT, entryType: 'mark' }, AT), undefined)
})
