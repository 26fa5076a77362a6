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
    { perEndpoint: 2, inFlight: 100, held: 200, ahead: 8, ...limits },
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
    const { lanes, of } = setUp({ inFlight: 2 })
    lanes.add(tasks('hanging', 4), 0)
    lanes.add(tasks('healthy', 1), 0)
    assert.deepEqual([of('hanging').length, of('healthy').length], [2, 0])
    lanes.sweep(999)
    assert.equal(of('healthy').length, 0)
    lanes.sweep(1_000)
    assert.deepEqual([of('hanging').length, of('healthy').length], [2, 1])
    assert.deepEqual([lanes.inFlight(), lanes.held()], [3, 5])
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

  test('more is asked for before a full lane runs empty, and not for one that was not full', () => {
    const { lanes, timesAsked } = setUp()
    lanes.add(tasks('a', 1), 0)
    assert.equal(timesAsked(), 0)
    lanes.add(tasks('b', 2), 0)
    assert.equal(timesAsked(), 1)
  })

  test('places count what is held, and what is being taken', () => {
    const { lanes } = setUp({ held: 10 })
    assert.equal(lanes.free(), 10)
    const unreserve = lanes.reserve(4)
    assert.equal(lanes.free(), 6)
    lanes.add(tasks('a', 3), 0)
    unreserve()
    assert.equal(lanes.free(), 7)
    lanes.add(tasks('a', 9), 0)
    assert.equal(lanes.free(), 0)
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
