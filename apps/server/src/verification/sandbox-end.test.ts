import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TENANT_SETTINGS_DEFAULTS, VERIFICATION_TEST_OUTCOMES } from '@ostiary/contract'
import { toRequest } from './request.ts'
import { sandboxEnd } from './sandbox-end.ts'

const wanted = { livemode: false, settings: TENANT_SETTINGS_DEFAULTS, now: new Date('2026-03-01T10:00:00Z') }
const least = { redirectURL: 'https://shop.example/back', callback: { url: 'https://shop.example/hook' } }
const asked = (tenantId: string, body: object = {}) => ({
  tenantId,
  request: toRequest({ ...least, type: 'ENROLL', ...body }, wanted).request,
})
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/

function personOf(tenantId: string, body: object = {}) {
  const end = sandboxEnd('success', asked(tenantId, body))
  assert.ok(end.state === 'SUCCESS')
  return end.person
}

describe('a success without a person', () => {
  test('has the same person in every session of a tenant, and another person for every name that the host gives', () => {
    const person = personOf('tenant-a')
    assert.match(person.puid, UUID)
    assert.match(person.guid, UUID)
    assert.deepEqual(personOf('tenant-a', { type: 'SIGN-IN' }), person)
    const named = personOf('tenant-a', { customerId: 'customer-1' })
    assert.notEqual(named.puid, person.puid)
    assert.equal(named.guid, person.guid)
    assert.deepEqual(personOf('tenant-a', { type: 'VERIFY', customerId: 'customer-1' }), named)
    assert.equal(personOf('tenant-a', { type: 'VERIFY', puid: named.puid }).puid, named.puid)
  })

  test('has a person that only test sessions can name', () => {
    const { puid } = personOf('tenant-a')
    const body = { ...least, type: 'VERIFY', puid } as const
    assert.throws(() => toRequest(body, { ...wanted, livemode: true }), /is not the id of a person/)
  })

  test('has people and a group of its own for every tenant', () => {
    const [a, b] = [personOf('tenant-a'), personOf('tenant-b')]
    assert.notEqual(a.puid, b.puid)
    assert.notEqual(a.guid, b.guid)
  })

  test('has an age and a picture if the host asked for them', () => {
    const plain = sandboxEnd('success', asked('tenant-a'))
    assert.deepEqual(Object.keys(plain), ['state', 'person', 'matchedBy'])
    const full = sandboxEnd('success', asked('tenant-a', { estimateAge: true, sendImages: true }))
    assert.ok(full.state === 'SUCCESS')
    assert.equal(full.estimatedAge, 35)
    const picture = Buffer.from(full.selfie ?? '', 'base64')
    assert.deepEqual([picture.readUInt32BE(0), picture.readUInt16BE(picture.length - 2)], [0xffd8ffe0, 0xffd9])
  })
})

test('the other outcomes have the codes of their names', () => {
  assert.deepEqual(
    VERIFICATION_TEST_OUTCOMES.slice(1).map((outcome) => sandboxEnd(outcome, asked('tenant-a'))),
    [
      { state: 'FAILED', failures: ['SPOOF'] },
      { state: 'EXPIRED' },
      { state: 'FAILED', failures: ['USER_NOT_ENROLLED'] },
      { state: 'FAILED', failures: ['TEMPORARILY_LOCKED'], retryAfterSeconds: 30 },
    ],
  )
})
