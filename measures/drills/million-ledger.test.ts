import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Balance, createLedger } from './million-ledger.ts'
import { slotAt, slotsFor } from './million-plan.ts'
import type { Arrival } from './million-records.ts'

const SLOTS = slotsFor(196)
const GOOD: Balance = {
  lost: 0,
  doubled: 0,
  changedIds: 0,
  changedEndings: 0,
  wrongSignatures: 0,
  misplaced: 0,
  strangers: 0,
  repeats: 0,
  refused: 0,
  notInLog: 0,
}
const EVENTFUL = Array.from({ length: SLOTS }, (_, slot) => slot).find((slot) => slotAt(slot).hasEvent) ?? 0

const bytes = (number: number) => Buffer.alloc(16, number + 1)
const arrivalOf = (slot: number, changes: Partial<Arrival> = {}): Arrival => ({
  id: bytes(slot),
  deliveryId: bytes(slot + 1),
  bodyHash: bytes(slot + 2),
  receiver: slotAt(slot).receiver,
  ending: slotAt(slot).ending,
  isGenuine: true,
  isTaken: true,
  ...changes,
})

/** All slots are acknowledged, and all but the first with an event have arrived. */
function nearlyBalanced() {
  const ledger = createLedger(SLOTS)
  for (let slot = 0; slot < SLOTS; slot++) {
    ledger.create({ slot, id: bytes(slot), secret: Buffer.alloc(32) })
    ledger.acknowledge({ slot, ending: slotAt(slot).ending, isRefused: false })
  }
  for (let slot = 0; slot < SLOTS; slot++) {
    if (!slotAt(slot).hasEvent) continue
    if (slot !== EVENTFUL) ledger.arrive(arrivalOf(slot))
    ledger.log(bytes(slot), bytes(slot + 1), slot !== EVENTFUL)
  }
  return ledger
}
function balanceWith(...arrivals: Arrival[]): Balance {
  const ledger = createLedger(SLOTS)
  for (let slot = 0; slot < SLOTS; slot++) {
    ledger.create({ slot, id: bytes(slot), secret: Buffer.alloc(32) })
    ledger.acknowledge({ slot, ending: slotAt(slot).ending, isRefused: false })
    if (slotAt(slot).hasEvent && slot !== EVENTFUL) ledger.arrive(arrivalOf(slot))
  }
  for (const arrival of arrivals) ledger.arrive(arrival)
  for (let slot = 0; slot < SLOTS; slot++) ledger.log(bytes(slot), bytes(slot + 1), true)
  return ledger.balance()
}

test('all events arrived: nothing is wrong, and silent slots count for nothing', () => {
  assert.deepEqual(balanceWith(arrivalOf(EVENTFUL)), GOOD)
})

test('an event that nobody took is lost and is named, and its log is wrong', () => {
  const ledger = nearlyBalanced()
  assert.deepEqual(ledger.balance(), { ...GOOD, lost: 1, notInLog: 1 })
  assert.deepEqual(ledger.examples(5), [EVENTFUL])
  assert.equal(ledger.acknowledged(), 196)
})

test('a refused request and a forged one do not count as taken', () => {
  assert.equal(balanceWith(arrivalOf(EVENTFUL, { isTaken: false })).lost, 1)
  const forged = balanceWith(arrivalOf(EVENTFUL, { isGenuine: false }))
  assert.deepEqual([forged.lost, forged.wrongSignatures], [1, 1])
})

test('the same again is a repeat; another body or another id under the session is a fault', () => {
  const first = arrivalOf(EVENTFUL)
  assert.deepEqual(balanceWith(first, first), { ...GOOD, repeats: 1 })
  assert.deepEqual(balanceWith(first, { ...first, bodyHash: bytes(99) }), { ...GOOD, repeats: 1, doubled: 1 })
  assert.deepEqual(balanceWith(first, { ...first, deliveryId: bytes(99) }), { ...GOOD, repeats: 1, changedIds: 1 })
})

test('another end than the acknowledged one, a wrong receiver and an unknown session are faults', () => {
  const { ending, receiver } = arrivalOf(EVENTFUL)
  const other = ending === 'EXPIRED' ? 'COMPLETED' : 'EXPIRED'
  assert.deepEqual(balanceWith(arrivalOf(EVENTFUL, { ending: other })), { ...GOOD, changedEndings: 1 })
  assert.deepEqual(balanceWith(arrivalOf(EVENTFUL, { receiver: receiver + 1 })), { ...GOOD, misplaced: 1 })
  const stranger = arrivalOf(EVENTFUL, { id: bytes(230) })
  assert.deepEqual(balanceWith(arrivalOf(EVENTFUL), stranger, stranger), { ...GOOD, strangers: 1 })
})

test('a delivery that is in the log twice, undelivered or under another id is a fault', () => {
  for (const [deliveryId, isDelivered, times] of [
    [bytes(EVENTFUL + 1), true, 2],
    [bytes(EVENTFUL + 1), false, 1],
    [bytes(99), true, 1],
  ] as const) {
    const ledger = nearlyBalanced()
    ledger.arrive(arrivalOf(EVENTFUL))
    const before = ledger.balance()
    assert.equal(before.notInLog, 1)
    for (let time = 0; time < times; time++) ledger.log(bytes(EVENTFUL), deliveryId, isDelivered)
    assert.equal(ledger.balance().notInLog, 1)
  }
})

test('a slot that is acknowledged again counts once, and a refused one is counted', () => {
  const ledger = createLedger(SLOTS)
  ledger.acknowledge({ slot: EVENTFUL, ending: 'COMPLETED', isRefused: false })
  ledger.acknowledge({ slot: EVENTFUL, ending: 'COMPLETED', isRefused: true })
  assert.equal(ledger.acknowledged(), 1)
  assert.equal(ledger.balance().refused, 1)
})
