import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLanes, type LaneLimits, type Task } from './lanes.ts'

let made = 0
function task(endpointId: string): Task {
  made++
  return {
    claim: { tenantId: 't', deliveryId: `d${made}`, livemode: false, endpointId, attempts: 0, tries: 0, failNext: 0 },
    payload: {
      deliveryId: `d${made}`,
      event: 'e',
      subjectId: 's',
      sequence: 1,
      keyId: 'k',
      blob: Buffer.of(),
      masterKeyId: 'm',
      purgeAtMs: 0,
    },
    leaseUntil: new Date(0),
    probe: false,
  }
}
const tasks = (endpointId: string, count: number) => Array.from({ length: count }, () => task(endpointId))

function setUp(limits: Partial<LaneLimits> = {}) {
  const started: Task[] = []
  let asked = 0
  const lanes = createLanes(
    { perEndpoint: 2, inFlight: 100, open: 200, inHand: 150, ahead: 8, ...limits },
    async (one) => void started.push(one),
    () => asked++,
  )
  const of = (endpointId: string) => started.filter(({ claim }) => claim.endpointId === endpointId)
  return { lanes, started, of, timesAsked: () => asked }
}

describe('lanes', () => {
  test('each receiver has only so many under way; an end lets its next one start', () => {
    const { lanes, of } = setUp()
    lanes.add([...tasks('a', 5), ...tasks('b', 1)], 0)
    assert.deepEqual([of('a').length, of('b').length, lanes.inFlight(), lanes.held()], [2, 1, 3, 6])
    const [first] = of('a')
    assert.ok(first)
    lanes.done(first, 10)
    assert.deepEqual([of('a').length, lanes.inFlight(), lanes.held()], [3, 3, 5])
  })

  test('receivers take turns when there is not room for all', () => {
    const { lanes, started } = setUp({ inFlight: 3, perEndpoint: 3 })
    lanes.add([...tasks('a', 3), ...tasks('b', 3), ...tasks('c', 3)], 0)
    assert.deepEqual(started.map(({ claim }) => claim.endpointId).sort(), ['a', 'b', 'c'])
  })

  test('what hangs for a second no longer stands in the way of others, but still fills its own lane', () => {
    const { lanes, of } = setUp({ inFlight: 2, inHand: 3 })
    const hanging = tasks('hanging', 4)
    lanes.add(hanging, 0)
    lanes.add(tasks('healthy', 1), 0)
    assert.deepEqual([of('hanging').length, of('healthy').length, lanes.isStocked()], [2, 0, true])
    assert.deepEqual(lanes.sweep(999), [])
    assert.equal(of('healthy').length, 0)
    assert.deepEqual(lanes.sweep(1_000), hanging.slice(2), 'those behind it are given back')
    assert.deepEqual([of('hanging').length, of('healthy').length], [2, 1])
    assert.deepEqual([lanes.inFlight(), lanes.held(), lanes.isStocked()], [3, 3, false])
    assert.deepEqual(lanes.rooms(), { hanging: 0, healthy: 1 })
  })

  test('there is an end to how many may hang', () => {
    const { lanes, started } = setUp({ open: 3 })
    for (const name of ['a', 'b', 'c', 'd']) {
      lanes.add(tasks(name, 1), 0)
      lanes.sweep(1_000)
    }
    assert.deepEqual([started.length, lanes.held()], [3, 4])
    const [first] = started
    assert.ok(first)
    lanes.done(first, 2_000)
    assert.equal(started.length, 4)
  })

  test('room is what a lane can still take; quick ones may have more taken ahead', () => {
    const { lanes, of } = setUp()
    lanes.add(tasks('a', 2), 0)
    assert.deepEqual(lanes.rooms(), { a: 0 })
    const [first, second] = of('a')
    assert.ok(first && second)
    lanes.done(first, 249)
    assert.deepEqual(lanes.rooms(), { a: 7 })
    lanes.done(second, 250)
    assert.deepEqual(lanes.rooms(), { a: 2 }, 'not so quick any more')
    lanes.add(tasks('b', 1), 0)
    const quickOne = of('b')[0]
    assert.ok(quickOne)
    lanes.done(quickOne, 1)
    lanes.add(tasks('b', 4), 1)
    assert.deepEqual(lanes.rooms(), { a: 2, b: 4 })
    lanes.add(tasks('b', 1), 1)
    assert.deepEqual(lanes.rooms(), { a: 2, b: 0 }, 'less than half is not worth a statement')
    assert.equal(lanes.perEndpoint, 2)
  })

  test('a lane that nobody uses is forgotten after a second', () => {
    const { lanes, started } = setUp()
    lanes.add(tasks('a', 1), 0)
    lanes.sweep(5_000)
    assert.deepEqual(Object.keys(lanes.rooms()), ['a'])
    const [one] = started
    assert.ok(one)
    lanes.done(one, 5_000)
    lanes.sweep(6_000)
    assert.deepEqual(Object.keys(lanes.rooms()), ['a'])
    lanes.sweep(6_001)
    assert.deepEqual(lanes.rooms(), {})
  })

  test('more is asked for when half of a full lane is free, once, and not for one that was not full', () => {
    const { lanes, of, timesAsked } = setUp({ perEndpoint: 4 })
    lanes.add([...tasks('a', 4), ...tasks('b', 3)], 0)
    const [first, second, third] = of('a')
    assert.ok(first && second && third)
    lanes.done(first, 1_000)
    assert.equal(timesAsked(), 0)
    lanes.done(second, 1_000)
    assert.equal(timesAsked(), 1)
    lanes.done(third, 1_000)
    for (const one of of('b')) lanes.done(one, 1_000)
    assert.equal(timesAsked(), 1)
  })

  test('enough is enough: what is in hand counts, and what is being taken', () => {
    const { lanes } = setUp({ inHand: 10 })
    const unreserve = lanes.reserve(10)
    assert.equal(lanes.isStocked(), true)
    unreserve()
    lanes.add(tasks('a', 9), 0)
    assert.equal(lanes.isStocked(), false)
    lanes.add(tasks('b', 1), 0)
    assert.equal(lanes.isStocked(), true)
  })

  test('what was not started can be taken back', () => {
    const { lanes, started } = setUp()
    lanes.add(tasks('a', 5), 0)
    assert.equal(lanes.takeWaiting().length, 3)
    assert.equal(lanes.held(), 2)
    for (const one of started) lanes.done(one, 1)
    assert.deepEqual([started.length, lanes.held()], [2, 0])
  })
})
