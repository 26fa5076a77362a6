import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import {
  ACKNOWLEDGEMENT_BYTES,
  ARRIVAL_BYTES,
  type Arrival,
  CREATION_BYTES,
  openRecords,
  readAcknowledgement,
  readArrival,
  readCreation,
  readRecords,
  secretOf,
  toId,
  tokenOf,
  toUuid,
  writeAcknowledgement,
  writeArrival,
  writeCreation,
} from './million-records.ts'

const UUID = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-records-'))
  file = join(folder, 'records')
})
afterEach(() => rmSync(folder, { recursive: true }))

const ended = (slot: number) => writeAcknowledgement({ slot, ending: 'CANCELLED', isRefused: false })
const slotsIn = (from?: number) =>
  [...readRecords(file, ACKNOWLEDGEMENT_BYTES, from)].map((record) => readAcknowledgement(record).slot)
async function appendSlots(...slots: number[]): Promise<void> {
  const records = await openRecords(file, ACKNOWLEDGEMENT_BYTES)
  await Promise.all(slots.map((slot) => records.append(ended(slot))))
  await records.close()
}

test('records come back in order, also from a number on, and a file that is not there has none', async () => {
  assert.deepEqual(slotsIn(), [])
  const many = Array.from({ length: 10_000 }, (_, slot) => slot)
  await appendSlots(...many)
  await appendSlots(10_000)
  assert.deepEqual(slotsIn(), [...many, 10_000])
  assert.deepEqual(slotsIn(9_999), [9_999, 10_000])
})

test('a torn record is not read, and is cut off before the next one is written', async () => {
  await appendSlots(1, 2)
  appendFileSync(file, ended(3).subarray(0, 7))
  assert.deepEqual(slotsIn(), [1, 2])
  await appendSlots(4)
  assert.deepEqual(slotsIn(), [1, 2, 4])
})

test('zeros and wrong bytes at the end are cut off', async () => {
  await appendSlots(1)
  appendFileSync(file, Buffer.alloc(3 * ACKNOWLEDGEMENT_BYTES))
  await appendSlots(2)
  assert.deepEqual(slotsIn(), [1, 2])
  const wrong = ended(3)
  wrong[0] = 9
  appendFileSync(file, wrong)
  assert.deepEqual(slotsIn(), [1, 2])
  await appendSlots()
  assert.equal(statSync(file).size, 2 * ACKNOWLEDGEMENT_BYTES)
})

test('a damaged record in the middle is an error', async () => {
  await appendSlots(1, 2, 3)
  const bytes = readFileSync(file)
  bytes[ACKNOWLEDGEMENT_BYTES] = 77
  writeFileSync(file, bytes)
  assert.throws(() => slotsIn(), /record 1 is damaged/)
})

test('a record of another width is refused', async () => {
  const records = await openRecords(file, CREATION_BYTES)
  assert.throws(() => records.append(ended(1)), /16 bytes, not 64/)
  await records.close()
})

test('a creation, an acknowledgement and an arrival come back as they were written', () => {
  const token = `at_${Buffer.concat([toId(UUID), Buffer.alloc(32, 7)]).toString('base64url')}`
  const creation = { slot: 1_020_407, id: toId(UUID), secret: secretOf(token) }
  assert.deepEqual(readCreation(writeCreation(creation)), creation)
  assert.equal(tokenOf(creation), token)
  assert.equal(toUuid(creation.id), UUID)
  const acknowledgement = { slot: 5, ending: 'FAILED', isRefused: true } as const
  assert.deepEqual(readAcknowledgement(writeAcknowledgement(acknowledgement)), acknowledgement)
  const arrival: Arrival = {
    id: toId(UUID),
    deliveryId: Buffer.alloc(16, 1),
    bodyHash: Buffer.alloc(16, 2),
    receiver: 7,
    ending: 'EXPIRED',
    isGenuine: true,
    isTaken: false,
  }
  assert.equal(writeArrival(arrival).length, ARRIVAL_BYTES)
  assert.deepEqual(readArrival(writeArrival(arrival)), arrival)
})
