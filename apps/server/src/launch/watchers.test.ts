import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createWatchers } from './watchers.ts'

const TENANT = 'tenant'

function connection() {
  const emitter = Object.assign(new EventEmitter(), { destroyed: false })
  const close = () => {
    emitter.destroyed = true
    emitter.emit('close')
  }
  return { raw: emitter as unknown as Parameters<ReturnType<typeof createWatchers>['take']>[2], close }
}

test('a slot is free again when its connection closes', () => {
  const watchers = createWatchers()
  const [one, other] = [connection(), connection()]
  const slot = watchers.take(TENANT, 'a', one.raw)
  watchers.take(TENANT, 'b', other.raw)
  assert.deepEqual([watchers.count(), slot.isLost()], [2, false])
  one.close()
  assert.equal(watchers.count(), 1)
  other.close()
  assert.equal(watchers.count(), 0)
})

test('a connection that has closed already gets no slot', () => {
  const watchers = createWatchers(1)
  for (let n = 0; n < 5; n++) {
    const gone = connection()
    gone.close()
    assert.equal(watchers.take(TENANT, `gone ${n}`, gone.raw).isLost(), true)
  }
  assert.equal(watchers.count(), 0)
  assert.equal(watchers.take(TENANT, 'here', connection().raw).isLost(), false)
})

test('a page that connects again takes over its earlier slot, and the end of the earlier connection does not free it', () => {
  const watchers = createWatchers(1)
  const [before, now] = [connection(), connection()]
  const first = watchers.take(TENANT, 'a', before.raw)
  const second = watchers.take(TENANT, 'a', now.raw)
  assert.deepEqual([first.isLost(), second.isLost(), watchers.count()], [true, false, 1])
  before.close()
  assert.deepEqual([second.isLost(), watchers.count()], [false, 1])
  assert.throws(() => watchers.take(TENANT, 'b', connection().raw), { code: 'DEPENDENCY_DOWN' })
  now.close()
  watchers.take(TENANT, 'b', connection().raw)
})

test('one tenant gets a quarter of the slots, and all of it again when its connections close', () => {
  const watchers = createWatchers(16)
  const full = { fault: 'unavailable', code: 'DEPENDENCY_DOWN', extra: { retryAfterSeconds: 5 } }
  const connections = Array.from({ length: 4 }, connection)
  for (const [n, { raw }] of connections.entries()) watchers.take('greedy', `session ${n}`, raw)
  assert.throws(() => watchers.take('greedy', 'session 4', connection().raw), full)
  watchers.take('other', 'session 5', connection().raw)
  // A page of a full tenant connects again, before the service hears of the end of its earlier connection.
  const again = connection()
  assert.equal(watchers.take('greedy', 'session 0', again.raw).isLost(), false)
  assert.throws(() => watchers.take('greedy', 'session 4', connection().raw), full)
  connections[0]?.close()
  assert.throws(() => watchers.take('greedy', 'session 4', connection().raw), full)
  again.close()
  watchers.take('greedy', 'session 4', connection().raw)
  assert.throws(() => watchers.take('greedy', 'session 6', connection().raw), full)
})

test('all tenants together get no more than all slots', () => {
  const watchers = createWatchers(4)
  for (const tenant of ['a', 'b', 'c', 'd']) watchers.take(tenant, `session of ${tenant}`, connection().raw)
  assert.throws(() => watchers.take('e', 'session of e', connection().raw), { code: 'DEPENDENCY_DOWN' })
})
