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

test('a seat is left when its connection closes', () => {
  const watchers = createWatchers()
  const [one, other] = [connection(), connection()]
  const seat = watchers.take('a', one.raw)
  watchers.take('b', other.raw)
  assert.deepEqual([watchers.count(), seat.isTaken()], [2, false])
  one.close()
  assert.equal(watchers.count(), 1)
  other.close()
  assert.equal(watchers.count(), 0)
})

test('whoever has gone before there was a seat gets none', () => {
  const watchers = createWatchers(1)
  for (let n = 0; n < 5; n++) {
    const gone = connection()
    gone.close()
    assert.equal(watchers.take(`gone ${n}`, gone.raw).isTaken(), true)
  }
  assert.equal(watchers.count(), 0)
  assert.equal(watchers.take('here', connection().raw).isTaken(), false)
})

test('a page that comes again has the seat of its earlier self, which may go without taking it along', () => {
  const watchers = createWatchers(1)
  const [before, now] = [connection(), connection()]
  const first = watchers.take('a', before.raw)
  const second = watchers.take('a', now.raw)
  assert.deepEqual([first.isTaken(), second.isTaken(), watchers.count()], [true, false, 1])
  before.close()
  assert.deepEqual([second.isTaken(), watchers.count()], [false, 1])
  assert.throws(() => watchers.take('b', connection().raw), { code: 'DEPENDENCY_DOWN' })
  now.close()
  watchers.take('b', connection().raw)
})
