import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  KINDS,
  killAt,
  lifetimesOfBursts,
  lifetimeUntilBurst,
  RECEIVERS,
  receiverDeaths,
  STEPS,
  slotAt,
  slotsFor,
  untilBurstMs,
} from './million-plan.ts'

const slots = (count: number) => Array.from({ length: count }, (_, number) => slotAt(number))
const eventsIn = (count: number) => slots(count).filter(({ hasEvent }) => hasEvent).length

test('the slots for a number of events give exactly that many, and the last one gives one', () => {
  for (const events of [1, 7, 195, 196, 197, 2_000, 20_000]) {
    assert.equal(eventsIn(slotsFor(events)), events)
    assert.equal(eventsIn(slotsFor(events) - 1), events - 1)
  }
  assert.equal(slotsFor(1_000_000), 1_020_408)
})

test('every receiver gets every kind of session within 1,600 slots', () => {
  const seen = new Set(slots(1_600).map(({ area, way, receiver }) => `${area} ${way} ${receiver}`))
  assert.equal(seen.size, 10 * RECEIVERS)
})

test('a receiver belongs to one tenant, whose key signs', () => {
  const pairs = new Set(slots(1_600).map(({ receiver, tenant }) => `${receiver} ${tenant}`))
  assert.equal(pairs.size, RECEIVERS)
})

test('a hundred kills are spread evenly and meet every step with every kind', () => {
  const plan = { kills: 100, events: 1_000_000 }
  const kills = Array.from({ length: 100 }, (_, number) => killAt(number, plan))
  assert.deepEqual(kills[0], { kind: 'worker', step: 'creation', atEvents: 5_000 })
  assert.deepEqual(kills[99], { kind: 'worker', step: 'sweep', atEvents: 995_000 })
  assert.equal(new Set(kills.map((kill) => `${kill?.kind} ${kill?.step}`)).size, KINDS.length * STEPS.length)
  assert.equal(killAt(100, plan), undefined)
  assert.equal(receiverDeaths(100), 40)
})

test('a lifetime ends in the first second of a burst and is at least a minute', () => {
  for (const nowMs of [0, 1, 999, 1_000, 12_345, 29_999, 30_000, 59_001]) {
    const lifetime = lifetimeUntilBurst(nowMs)
    assert.ok(lifetime >= 60 && lifetime < 90, `${lifetime} s at ${nowMs} ms`)
    assert.equal(Math.floor((nowMs + lifetime * 1000) / 1000) % 30, 0)
  }
  assert.equal(untilBurstMs(30_000), 0)
  assert.equal(untilBurstMs(30_001), 29_999)
})

test('pictures are asked for in area D only, and never of a simulated device', () => {
  const asked = slots(1_600).filter(({ sendsPicture }) => sendsPicture)
  assert.deepEqual(new Set(asked.map(({ area }) => area)), new Set(['D']))
  assert.deepEqual(new Set(asked.map(({ way }) => way)), new Set(['outcome', 'expire', 'cancel', 'spoof']))
})

test('a session of a burst has one of thirty lifetimes, and the one of this moment comes first', () => {
  const nowMs = 1_763_000_007_500
  const lifetimes = lifetimesOfBursts(nowMs)
  assert.equal(lifetimes[0], lifetimeUntilBurst(nowMs))
  assert.deepEqual([lifetimes.length, new Set(lifetimes).size], [30, 30])
})
