import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DocumentType, TENANT_SETTINGS_DEFAULTS, VERIFICATION_TEST_OUTCOMES } from '@ostiary/contract'
import { toRequest } from './request.ts'
import { sandboxEnd } from './sandbox-end.ts'

const NOW = new Date('2026-03-01T10:00:00.000Z')
const wanted = { livemode: false, settings: TENANT_SETTINGS_DEFAULTS, now: NOW }
const least = { redirectURL: 'https://shop.example/back', callback: { url: 'https://shop.example/hook' } }
const asked = (tenantId: string, body: object = {}) => ({
  tenantId,
  request: toRequest({ ...least, type: 'ENROLL', ...body }, wanted).request,
})
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/

function personOf(tenantId: string, body: object = {}) {
  const end = sandboxEnd('success', asked(tenantId, body), NOW)
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
    const plain = sandboxEnd('success', asked('tenant-a'), NOW)
    assert.deepEqual(Object.keys(plain), ['state', 'person', 'matchedBy'])
    const full = sandboxEnd('success', asked('tenant-a', { estimateAge: true, sendImages: true }), NOW)
    assert.ok(full.state === 'SUCCESS')
    assert.equal(full.estimatedAge, 35)
    const picture = Buffer.from(full.selfie ?? '', 'base64')
    assert.deepEqual([picture.readUInt32BE(0), picture.readUInt16BE(picture.length - 2)], [0xffd8ffe0, 0xffd9])
  })

  test('has a document of a type that the tenant accepts, if the host asked for one', () => {
    const documentFor = (documentTypes: DocumentType[]) => {
      const settings = { ...TENANT_SETTINGS_DEFAULTS, documentTypes }
      const body: Parameters<typeof toRequest>[0] = {
        ...least,
        type: 'ENROLL',
        requirements: ['face', 'identity_document'],
      }
      const end = sandboxEnd(
        'success',
        { tenantId: 'a', request: toRequest(body, { ...wanted, settings }).request },
        NOW,
      )
      return end.state === 'SUCCESS' ? end.document : assert.fail(end.state)
    }
    assert.deepEqual(documentFor(['national_id', 'passport']), {
      type: 'passport',
      format: 'TD3',
      expiry: 'valid',
      checksHeld: ['number', 'birth', 'expiry', 'composite'],
      equalFrames: 2,
      confidence: 1,
      consent: { version: '1', language: 'en', at: NOW.toISOString() },
    })
    const card = documentFor(['drivers_license', 'national_id'])
    assert.deepEqual([card?.type, card?.format, card?.checksHeld], ['drivers_license', 'AAMVA', []])
  })
})

test('the other outcomes have the codes of their names', () => {
  assert.deepEqual(
    VERIFICATION_TEST_OUTCOMES.slice(1).map((outcome) => sandboxEnd(outcome, asked('tenant-a'), NOW)),
    [
      { state: 'FAILED', failures: ['SPOOF'] },
      { state: 'EXPIRED' },
      { state: 'FAILED', failures: ['USER_NOT_ENROLLED'] },
      { state: 'FAILED', failures: ['TEMPORARILY_LOCKED'], retryAfterSeconds: 30 },
    ],
  )
})
