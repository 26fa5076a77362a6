import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createWatchers } from './watchers.ts'

function connection() {
  const emitter = Object.assign(new EventEmitter(), { destroyed: false })
  const close = () => {
    emitter.destroyed = true
    emitter.emit('close')
  }
  return { raw: emitter as unknown as Parameters<ReturnType<typeof createWatchers>['take']>[1], close }
}

test('a slot is free again when its connection closes', () => {
  const watchers = createWatchers()
  const [one, other] = [connection(), connection()]
  const slot = watchers.take('a', one.raw)
  watchers.take('b', other.raw)
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
    assert.equal(watchers.take(`gone ${n}`, gone.raw).isLost(), true)
  }
  assert.equal(watchers.count(), 0)
  assert.equal(watchers.take('here', connection().raw).isLost(), false)
})

test('a page that connects again takes over its earlier slot, and the end of the earlier connection does not free it', () => {
  const watchers = createWatchers(1)
  const [before, now] = [connection(), connection()]
  const first = watchers.take('a', before.raw)
  const second = watchers.take('a', now.raw)
  assert.deepEqual([first.isLost(), second.isLost(), watchers.count()], [true, false, 1])
  before.close()
  assert.deepEqual([second.isLost(), watchers.count()], [false, 1])
  assert.throws(() => watchers.take('b', connection().raw), { code: 'DEPENDENCY_DOWN' })
  now.close()
  watchers.take('b', connection().raw)
})
