import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairSlots } from './fair-slots.ts'

test('one owner gets a quarter of the slots, all owners together get all', () => {
  const slots = createFairSlots({ total: 8 })
  const owners = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e']
  assert.deepEqual(
    owners.map((owner) => slots.take(owner) !== undefined),
    [true, true, false, true, true, true, true, true, true, false],
  )
})

test('a slot is free again once, however often it is freed', () => {
  const slots = createFairSlots({ total: 4 })
  const free = slots.take('a') ?? assert.fail()
  assert.equal(slots.take('a'), undefined)
  free()
  free()
  assert.ok(slots.take('a'))
  assert.equal(slots.take('a'), undefined)
})

test('who waits too long, or behind too many, gets the refusal, and whoever comes later a slot', async () => {
  const slots = createFairSlots({ total: 1, mostWaiting: 1 })
  const limits = { waitMs: 50, refusal: () => new Error('full') }
  const run = () => slots.withSlotWithin('a', limits, async () => 'done')
  const free = slots.take('a') ?? assert.fail()
  const late = assert.rejects(run(), /full/)
  await assert.rejects(run(), /full/)
  await late
  assert.equal(slots.waiting(), 0)
  free()
  assert.equal(await run(), 'done')
  await assert.rejects(
    slots.withSlotWithin('a', limits, async () => {
      throw new Error('the work failed')
    }),
    /the work failed/,
  )
  assert.equal(await run(), 'done')
})

test('slots that become free go round between the owners that wait, and each gets them in order', async () => {
  const slots = createFairSlots({ total: 2, perOwner: 1 })
  const order: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const runs = ['a1', 'b1', 'a2', 'a3', 'b2', 'c1'].map((name) => {
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate)
    return slots.withSlot(name[0] as string, async () => {
      order.push(name)
      await gate.promise
    })
  })
  const end = async (name: string) => {
    gates.get(name)?.resolve()
    await runs[[...gates.keys()].indexOf(name)]
  }
  await end('a1')
  await end('b1')
  for (const name of ['a2', 'b2', 'c1', 'a3']) await end(name)
  await Promise.all(runs)
  assert.deepEqual(order.slice(0, 2), ['a1', 'b1'])
  assert.deepEqual(
    order.slice(2).filter((name) => name.startsWith('a')),
    ['a2', 'a3'],
  )
  assert.ok(order.indexOf('c1') < order.indexOf('a3'), order.join())
})

test('[U2] who waits for too long is sent away, and the slot goes to the next', async () => {
  const slots = createFairSlots({ total: 1 })
  const free = slots.take('a') ?? assert.fail()
  const [late, patient] = [slots.takeWithin('b', 1), slots.takeWithin('c', 60_000)]
  assert.equal(slots.waiting(), 2)
  assert.equal(await late, undefined)
  assert.equal(slots.waiting(), 1)
  free()
  const second = (await patient) ?? assert.fail()
  assert.equal(slots.take('a'), undefined)
  second()
  assert.ok(await slots.takeWithin('a', 60_000))
})

test('[U3] so many of one owner may wait, and another owner waits beside them', async () => {
  const slots = createFairSlots({ total: 1, mostWaiting: 1 })
  const free = slots.take('a') ?? assert.fail()
  const first = slots.takeWithin('a', 60_000)
  assert.equal(await slots.takeWithin('a', 60_000), undefined)
  const other = slots.takeWithin('b', 60_000)
  free()
  for (const each of [first, other]) (await each)?.()
})

test('work that fails frees its slot', async () => {
  const slots = createFairSlots({ total: 1 })
  await assert.rejects(
    slots.withSlot('a', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.equal(await slots.withSlot('b', async () => 'yes'), 'yes')
})
