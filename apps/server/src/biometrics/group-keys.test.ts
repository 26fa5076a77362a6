import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupKeys, newGroupKey } from './group-keys.ts'

const TENANT = { tenantId: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa', livemode: true }
const PLACE = { personId: 'p1', version: 'FACE3_3', seq: 1 }
const secret = newGroupKey()
const keys = createGroupKeys(TENANT, 'g', secret)

test('a template opens only with its person’s key and in its own row', () => {
  const mine = keys.newPersonKey('p1')
  const sealed = keys.sealTemplate(mine, PLACE, Buffer.from('a vector'))
  assert.equal(keys.openTemplate(mine, PLACE, sealed).toString(), 'a vector')
  assert.throws(() => keys.openTemplate(keys.newPersonKey('p1'), PLACE, sealed), 'another key of the same person')
  assert.throws(() => keys.openTemplate(mine, { ...PLACE, seq: 2 }, sealed))
  assert.throws(() => keys.openTemplate(mine, { ...PLACE, version: 'FACE3_1' }, sealed))
  assert.throws(() => keys.openTemplate(mine, { ...PLACE, personId: 'p2' }, sealed))
  assert.throws(() => keys.openTemplate(mine, PLACE, sealed.subarray(0, 10)))
})

test('test and live, two tenants, and two model versions have nothing in common', () => {
  const test = createGroupKeys({ ...TENANT, livemode: false }, 'g', secret)
  const other = createGroupKeys(TENANT, 'g', newGroupKey())
  const one = Float64Array.from({ length: 512 }, (_, i) => (i === 0 ? 1 : 0))
  const rotated = [keys, test, other].map((group) => group.rotation('FACE3_3')(one).join())
  assert.equal(new Set([...rotated, keys.rotation('FACE3_1')(one).join()]).size, 4)
  assert.equal(new Set([keys, test, other].map((group) => group.externalRef('u1').toString('hex'))).size, 3)
  const mine = keys.newPersonKey('p1')
  const sealed = keys.sealTemplate(mine, PLACE, Buffer.from('x'))
  assert.throws(() => test.openTemplate(mine, PLACE, sealed))
  assert.throws(() => other.openTemplate(mine, PLACE, sealed))
})

test('a name is always found under the same reference, and the reference does not show it', () => {
  assert.deepEqual(keys.externalRef('customer-17'), keys.externalRef('customer-17'))
  assert.ok(!keys.externalRef('customer-17').toString('latin1').includes('customer'))
})
