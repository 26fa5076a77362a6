import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLanes, type LaneLimits, type Task } from './lanes.ts'

let made = 0
function task(endpointId: string, tenantId = 't'): Task {
  made++
  return {
    db: {} as Task['db'],
    recorder: { add: () => assert.fail() },
    claim: {
      tenantId,
      deliveryId: `d${made}`,
      livemode: false,
      endpointId,
      attempts: 0,
      tries: 0,
      restarts: 0,
      failNext: 0,
      hasOnce: false,
    },
    payload: {
      area: 'age',
      event: 'e',
      subjectId: 's',
      sequence: 1,
      keyId: 'k',
      blob: Buffer.of(),
      masterKeyId: 'm',
      purgeAtMs: 0,
    },
    takenMs: 0,
    leaseUntil: new Date(0),
    probe: false,
  }
}
const tasks = (endpointId: string, count: number, tenantId?: string) =>
  Array.from({ length: count }, () => task(endpointId, tenantId))

function setUp(limits: Partial<LaneLimits> = {}) {
  const started: Task[] = []
  const running = new Map<Task, () => void>()
  let asked = 0
  let nowMs = 0
  const made = createLanes(
    { perEndpoint: 2, inFlight: 100, slow: 100, claimed: 150, ahead: 8, tenantShare: 1, ...limits },
    {
      clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
      run(one) {
        started.push(one)
        return new Promise((resolve) => running.set(one, resolve))
      },
      onCapacity: () => asked++,
    },
  )
  const at = <T>(ms: number, act: () => T): T => {
    nowMs = ms
    return act()
  }
  const lanes = {
    ...made,
    add: (some: Task[], ms: number) => at(ms, () => made.add(some)),
    sweep: (ms: number) => at(ms, made.sweep),
    async done(one: Task, ms: number) {
      at(ms, running.get(one) ?? assert.fail)
      await turn()
    },
  }
  const of = (endpointId: string) => started.filter(({ claim }) => claim.endpointId === endpointId)
  return { lanes, started, of, timesAsked: () => asked }
}

describe('lanes', () => {
  test('each receiver has a limit of running attempts; the end of one starts the next', async () => {
    const { lanes, of } = setUp()
    lanes.add([...tasks('a', 5), ...tasks('b', 1)], 0)
    assert.deepEqual([of('a').length, of('b').length, lanes.inFlight(), lanes.held()], [2, 1, 3, 6])
    const [first] = of('a')
    assert.ok(first)
    await lanes.done(first, 10)
    assert.deepEqual([of('a').length, lanes.inFlight(), lanes.held()], [3, 3, 5])
  })

  test('receivers take turns when not all deliveries can run at once', () => {
    const { lanes, started } = setUp({ inFlight: 3, perEndpoint: 3 })
    lanes.add([...tasks('a', 3), ...tasks('b', 3), ...tasks('c', 3)], 0)
    assert.deepEqual(started.map(({ claim }) => claim.endpointId).sort(), ['a', 'b', 'c'])
  })

  test('an attempt that hangs for a second no longer counts against other receivers, but still fills its own lane', () => {
    const { lanes, of } = setUp({ inFlight: 2, claimed: 3, tenantShare: 2 })
    const hanging = tasks('hanging', 4)
    lanes.add(hanging, 0)
    lanes.add(tasks('healthy', 1), 0)
    assert.deepEqual([of('hanging').length, of('healthy').length, lanes.isStocked()], [2, 0, true])
    assert.deepEqual(lanes.sweep(999), [])
    assert.equal(of('healthy').length, 0)
    assert.deepEqual(lanes.sweep(1_000), hanging.slice(2), 'the tasks that waited behind it are returned')
    assert.deepEqual([of('hanging').length, of('healthy').length], [2, 1])
    assert.deepEqual([lanes.inFlight(), lanes.held(), lanes.isStocked()], [3, 3, false])
    assert.deepEqual(lanes.capacities(1000), { hanging: 0, healthy: 1 })
  })

  test('the number of slow attempts is limited; further ones count as running', async () => {
    const { lanes, started } = setUp({ inFlight: 2, slow: 3, perEndpoint: 1 })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      lanes.add(tasks(name, 1), 0)
      lanes.sweep(1_000)
    }
    assert.deepEqual([started.length, lanes.inFlight(), lanes.held()], [5, 5, 6])
    const [first] = started
    assert.ok(first)
    await lanes.done(first, 2_000)
    assert.deepEqual([started.length, lanes.inFlight()], [5, 4], 'another attempt may count as slow')
    lanes.sweep(2_000)
    assert.deepEqual([started.length, lanes.inFlight()], [6, 5])
  })

  test('capacity is what a lane can still take; a quick lane may take more in advance', async () => {
    const { lanes, of } = setUp()
    lanes.add(tasks('a', 2), 0)
    assert.deepEqual(lanes.capacities(1000), { a: 0 })
    const [first, second] = of('a')
    assert.ok(first && second)
    await lanes.done(first, 249)
    assert.deepEqual(lanes.capacities(1000), { a: 7 })
    await lanes.done(second, 250)
    assert.deepEqual(lanes.capacities(1000), { a: 2 }, 'not so quick any more')
    lanes.add(tasks('b', 1), 0)
    const quickOne = of('b')[0]
    assert.ok(quickOne)
    await lanes.done(quickOne, 1)
    lanes.add(tasks('b', 4), 1)
    assert.deepEqual(lanes.capacities(1000), { a: 2, b: 4 })
    lanes.add(tasks('b', 1), 1)
    assert.deepEqual(
      lanes.capacities(1000),
      { a: 2, b: 0 },
      'less than half of the lane is free: not worth a statement',
    )
    assert.equal(lanes.perEndpoint, 2)
  })

  test('an idle lane is deleted after a second', async () => {
    const { lanes, started } = setUp()
    lanes.add(tasks('a', 1), 0)
    lanes.sweep(5_000)
    assert.deepEqual(Object.keys(lanes.capacities(1000)), ['a'])
    const [one] = started
    assert.ok(one)
    await lanes.done(one, 5_000)
    lanes.sweep(6_000)
    assert.deepEqual(Object.keys(lanes.capacities(1000)), ['a'])
    lanes.sweep(6_001)
    assert.deepEqual(lanes.capacities(1000), {})
  })

  test('a lane that was full asks for more once when half of it is free; one that was not full does not ask', async () => {
    const { lanes, of, timesAsked } = setUp({ perEndpoint: 4 })
    lanes.add([...tasks('a', 4), ...tasks('b', 3)], 0)
    const [first, second, third] = of('a')
    assert.ok(first && second && third)
    await lanes.done(first, 1_000)
    assert.equal(timesAsked(), 0)
    await lanes.done(second, 1_000)
    assert.equal(timesAsked(), 1)
    await lanes.done(third, 1_000)
    for (const one of of('b')) await lanes.done(one, 1_000)
    assert.equal(timesAsked(), 1)
  })

  test('a lane that got its whole share of a claim asks for more, even if it is not full', async () => {
    const { lanes, of, timesAsked } = setUp()
    const end = (index: number) => lanes.done(of('a')[index] ?? assert.fail(), 1)
    lanes.add(tasks('a', 1), 0)
    await end(0)
    assert.deepEqual(lanes.capacities(3), { a: 3 })
    lanes.add(tasks('a', 2), 1)
    await end(1)
    await end(2)
    assert.equal(timesAsked(), 0, 'the queue had no more')
    assert.deepEqual(lanes.capacities(3), { a: 3 })
    lanes.add(tasks('a', 3), 1)
    await end(3)
    assert.equal(timesAsked(), 1)
  })

  test('no more is taken at the limit; held deliveries and running claims both count', () => {
    const { lanes } = setUp({ claimed: 10 })
    const unreserve = lanes.reserve(10)
    assert.equal(lanes.isStocked(), true)
    unreserve()
    lanes.add(tasks('a', 9), 0)
    assert.equal(lanes.isStocked(), false)
    lanes.add(tasks('b', 1), 0)
    assert.equal(lanes.isStocked(), true)
  })

  test('tasks that were not started can be taken back', async () => {
    const { lanes, started } = setUp()
    lanes.add(tasks('a', 5), 0)
    assert.equal(lanes.takeWaiting().length, 3)
    assert.equal(lanes.held(), 2)
    for (const one of started) await lanes.done(one, 1)
    assert.deepEqual([started.length, lanes.held()], [2, 0])
  })
})

describe('tenants', () => {
  const many = (tenantId: string, receivers: number) =>
    Array.from({ length: receivers }, (_, n) => task(`${tenantId}${n}`, tenantId))

  test('a tenant with many receivers runs only its share of attempts; the end of one starts its next', async () => {
    const { lanes, started } = setUp({ inFlight: 8, tenantShare: 1 / 4 })
    lanes.add(many('greedy', 20), 0)
    assert.equal(started.length, 2)
    lanes.add(many('other', 1), 0)
    assert.equal(started.at(-1)?.claim.tenantId, 'other')
    const [first] = started
    assert.ok(first)
    await lanes.done(first, 10)
    assert.deepEqual(
      started.map(({ claim }) => claim.endpointId),
      ['greedy0', 'greedy1', 'other0', 'greedy2'],
    )
  })

  test('attempts that hang stop counting against the share after a second, up to the tenant’s share of slow attempts', () => {
    const { lanes, started } = setUp({ inFlight: 8, slow: 16, tenantShare: 1 / 4 })
    lanes.add(many('greedy', 20), 0)
    for (const seconds of [1, 2, 3, 4]) lanes.sweep(seconds * 1_000)
    assert.equal(started.length, 6, 'four are slow, and two more run')
    assert.equal(lanes.held(), 20)
  })

  test('a tenant that holds its share gets no more until half of it is done', async () => {
    const { lanes, started, timesAsked } = setUp({ claimed: 16, tenantShare: 1 / 4 })
    const all = many('greedy', 6)
    assert.deepEqual(lanes.add(all, 0), all.slice(4))
    lanes.add(many('other', 1), 0)
    assert.deepEqual(lanes.fullTenants(), ['greedy'])
    const [first, second] = started
    assert.ok(first && second)
    await lanes.done(first, 10)
    assert.deepEqual([lanes.fullTenants(), timesAsked()], [['greedy'], 0])
    await lanes.done(second, 10)
    assert.deepEqual([lanes.fullTenants(), timesAsked()], [[], 1])
  })

  test('taking tasks back from a blocked lane does not block the other lanes', async () => {
    const { lanes, started } = setUp({ inFlight: 8, tenantShare: 1 / 4 })
    lanes.add(many('greedy', 5), 0)
    lanes.takeWaiting()
    const next = task('greedy9', 'greedy')
    lanes.add([next], 0)
    for (const one of [...started]) await lanes.done(one, 10)
    assert.equal(started.at(-1), next)
    assert.equal(lanes.held(), 1)
  })
})
