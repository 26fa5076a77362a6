import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf, newDataKey, openPart, sealPart, tagsOf } from './sealing.ts'

const ID = '0a1b2c00-1111-8abc-8def-0123456789ab'
const OTHER = '0a1b2c00-1111-8abc-8def-0123456789ac'
const CONTENT = Buffer.from('{"marked":"content"}')

test('sealed content opens with its key and in its row only', () => {
  const key = newDataKey()
  const sealed = sealPart(key, ID, 'request', CONTENT)
  assert.ok(!sealed.includes('marked'))
  assert.deepEqual(openPart(key, ID, 'request', sealed), CONTENT)
  assert.throws(() => openPart(newDataKey(), ID, 'request', sealed))
  assert.throws(() => openPart(key, OTHER, 'request', sealed), 'moved to another session')
  assert.throws(() => openPart(key, ID, 'result', sealed), 'moved to another column')
  assert.throws(() => openPart(key, ID, 'request', sealed.subarray(0, 20)))
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.throws(() => openPart(key, ID, 'request', changed), `byte ${at}`)
  }
})

test('the same content sealed twice looks different', () => {
  const key = newDataKey()
  assert.notDeepEqual(sealPart(key, ID, 'request', CONTENT), sealPart(key, ID, 'request', CONTENT))
})

test('tags: equal values have equal tags; other names, values, types, modes and tenants do not', () => {
  const key = newDataKey()
  const tag = (metadata: Record<string, unknown>, livemode = false, tagKey = key) =>
    tagsOf(tagKey, livemode, metadata).join()
  const base = tag({ order: '7' })
  assert.match(base, /^-?\d{1,19}$/)
  assert.equal(tag({ order: '7' }), base)
  const others = [
    tag({ order: 7 }),
    tag({ orders: '7' }),
    tag({ order: '8' }),
    tag({ order: '7' }, true),
    tag({ order: '7' }, false, newDataKey()),
  ]
  assert.equal(new Set([base, ...others]).size, 6)
})

test('tags: only plain values at the top level, sixteen at most', () => {
  const key = newDataKey()
  assert.deepEqual(tagsOf(key, false, { nested: { a: 1 }, list: ['x'], nothing: null }), [])
  assert.equal(tagsOf(key, false, Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, n]))).length, 16)
})

test('hashes: equal parts have equal hashes; other parts, orders, types and tenants do not', () => {
  const key = newDataKey()
  const base = hashOf(key, ['network', false, '192.0.2.7'])
  assert.match(base, /^[A-Za-z0-9_-]{43}$/)
  assert.equal(hashOf(key, ['network', false, '192.0.2.7']), base)
  const others = [
    hashOf(key, ['network', true, '192.0.2.7']),
    hashOf(key, ['network', 'false', '192.0.2.7']),
    hashOf(key, ['person', false, '192.0.2.7']),
    hashOf(key, [false, 'network', '192.0.2.7']),
    hashOf(newDataKey(), ['network', false, '192.0.2.7']),
  ]
  assert.equal(new Set([base, ...others]).size, 6)
})
