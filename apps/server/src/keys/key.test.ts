import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../platform/errors.ts'
import { acceptKey, checkNewKey, isActive, isAddressAllowed, type KeyFacts } from './key.ts'

const NOW = new Date('2026-11-15T12:00:00Z')
const FACTS: KeyFacts = {
  tenantId: 't',
  keyId: 'k',
  livemode: true,
  scopes: ['strings:rw'],
  usagePlan: null,
  allowedIps: [],
  status: 'active',
  tenantStatus: 'active',
  endsAt: null,
}
const USE = { scope: 'strings:rw', address: '192.0.2.1' } as const

function refusal(facts: Partial<KeyFacts>): string {
  try {
    acceptKey({ ...FACTS, ...facts }, USE, NOW)
    return 'accepted'
  } catch (error) {
    assert.ok(error instanceof AppError && error.status === 403)
    return error.code
  }
}

test('a key is accepted only while all its conditions are met', () => {
  assert.deepEqual(acceptKey(FACTS, USE, NOW), { tenantId: 't', keyId: 'k', livemode: true, rateFactor: 1 })
  assert.equal(refusal({ status: 'revoked' }), 'KEY_INACTIVE')
  assert.equal(refusal({ status: 'anything else' }), 'KEY_INACTIVE')
  assert.equal(refusal({ endsAt: NOW }), 'KEY_INACTIVE')
  assert.equal(refusal({ endsAt: new Date(NOW.getTime() + 1) }), 'accepted')
  assert.equal(refusal({ tenantStatus: 'suspended' }), 'KEY_INACTIVE')
  assert.equal(refusal({ scopes: [] }), 'SCOPE_DENIED')
  assert.equal(refusal({ scopes: ['strings:r', 'strings:rw ', 'node:*', 'admin:*'] }), 'SCOPE_DENIED')
  assert.equal(refusal({ allowedIps: ['198.51.100.0/24'] }), 'ADDRESS_DENIED')
})

test('any one of several scopes of an operation is enough', () => {
  const use = { ...USE, scope: ['age:write', 'verify:write'] } as const
  for (const scopes of [['age:write'], ['verify:write', 'strings:rw']])
    assert.equal(acceptKey({ ...FACTS, scopes }, use, NOW).keyId, 'k')
  const message = 'This API key lacks the scope age:write or verify:write'
  assert.throws(() => acceptKey({ ...FACTS, scopes: ['age:read', 'verify:read'] }, use, NOW), { message })
})

test('plans change the rate; an unknown plan is the standard one', () => {
  const factor = (usagePlan: string | null) => acceptKey({ ...FACTS, usagePlan }, USE, NOW).rateFactor
  assert.deepEqual(
    [factor(null), factor('standard'), factor('plus'), factor('unmetered'), factor('toString')],
    [1, 1, 10, Number.POSITIVE_INFINITY, 1],
  )
})

test('allow-lists take addresses and networks of both families', () => {
  const list = ['192.0.2.0/24', '198.51.100.7', '2001:db8::/32']
  for (const address of ['192.0.2.255', '198.51.100.7', '2001:db8:1::1', '::ffff:192.0.2.9'])
    assert.equal(isAddressAllowed(list, address), true, address)
  for (const address of ['192.0.3.0', '198.51.100.8', '2001:db9::1', '', 'localhost', '::ffff:203.0.113.1'])
    assert.equal(isAddressAllowed(list, address), false, address)
  assert.equal(isAddressAllowed([], 'anything'), true)
})

test('a rotated key is active until its end', () => {
  assert.equal(isActive({ status: 'active', endsAt: new Date(NOW.getTime() + 1) }, NOW), true)
  assert.equal(isActive({ status: 'active', endsAt: NOW }, NOW), false)
  assert.equal(isActive({ status: 'revoked', endsAt: null }, NOW), false)
})

test('a key that could not work is not created', () => {
  const wanted = { livemode: true, name: 'n', scopes: ['strings:rw'], allowedIps: [] }
  checkNewKey(wanted)
  for (const wrong of [
    { name: '' },
    { name: 'x'.repeat(101) },
    { scopes: [] },
    { scopes: ['strings:*'] },
    { allowedIps: ['300.1.1.1'] },
    { allowedIps: ['192.0.2.0/99'] },
    { allowedIps: ['192.0.2.7/'] },
    { allowedIps: ['10.0.0.0/8/24'] },
    { allowedIps: [''] },
    { usagePlanId: 'gold' },
  ]) {
    assert.throws(() => checkNewKey({ ...wanted, ...wrong }), AppError, JSON.stringify(wrong))
  }
})
