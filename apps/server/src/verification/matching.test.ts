import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CapturePayload, TenantSettings } from '@ostiary/contract'
import { encodeVector } from '@ostiary/crypto'
import { eventAfterCapture, factsOf, matchingOf, payloadFault } from './matching.ts'
import type { VerificationRequest } from './request.ts'

type Asked = Parameters<typeof payloadFault>[0]

const POLICY = { retentionSeconds: 1, enforceBlock: false, risk: {}, defaultLocale: 'en', brandName: null } as const
const asked = (type: VerificationRequest['type'], more: Partial<Asked> = {}): Asked => ({
  type,
  requirements: ['face'],
  sendImages: false,
  estimateAge: false,
  policy: { ...POLICY, signInMatching: 'local' },
  ...more,
})
const matching = (signInMatching: TenantSettings['signInMatching']) => ({ policy: { ...POLICY, signInMatching } })

const FACE = { version: 'FACE3_3' as const, vector: encodeVector(Array.from({ length: 512 }, (_, at) => at - 255)) }
const KEY = { key: { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43) } } as const
const NO_AGE = { age: 0, spread: 0, frames: 0 }
const FRAME = { t: 1, yaw: 0, pitch: 0, roll: 0, eyes: 800, size: 300, quality: 800, digest: 'd'.repeat(11) }
const payload = (more: Partial<CapturePayload> = {}): CapturePayload => ({
  v: 1,
  sessionId: 's',
  nonce: 'n',
  attempt: 1,
  model: { id: 'm', hash: 'h' },
  estimate: NO_AGE,
  live: 950,
  frames: [FRAME],
  log: { seq: 1, hash: 'h' },
  face: FACE,
  ...more,
})
const claim = (hit: boolean) => ({ local: { hit, proof: 'p' } })

describe('whether a match on the device can be enough', () => {
  test('is the tenant’s decision, and never for an ENROLL', () => {
    const both = { requirements: ['face', 'passkey'] as VerificationRequest['requirements'] }
    for (const [policy, alone, withPasskey] of [
      ['server', 'server', 'server'],
      ['local_with_passkey', 'server', 'local_first'],
      ['local', 'local_first', 'local_first'],
    ] as const) {
      for (const type of ['SIGN-IN', 'VERIFY'] as const) {
        assert.equal(matchingOf(asked(type, matching(policy))), alone)
        assert.equal(matchingOf(asked(type, { ...matching(policy), ...both })), withPasskey)
      }
      assert.equal(matchingOf(asked('ENROLL', { ...matching(policy), ...both })), 'server')
    }
  })
})

describe('what the page gets', () => {
  test('names a realm for each tenant and mode, and not the tenant', () => {
    const realms = [
      { tenantId: 'a', livemode: false },
      { tenantId: 'a', livemode: true },
      { tenantId: 'b', livemode: false },
    ].map((owner) => factsOf(asked('SIGN-IN'), owner).realm)
    assert.equal(new Set(realms).size, 3)
    assert.equal(factsOf(asked('ENROLL'), { tenantId: 'a', livemode: false }).realm, realms[0])
  })

  test('an age is estimated for an ENROLL that asks for it, and for nothing else', () => {
    const owner = { tenantId: 'a', livemode: false }
    const estimates = (['ENROLL', 'SIGN-IN', 'VERIFY'] as const).map(
      (type) => factsOf(asked(type, { estimateAge: true }), owner).estimateAge,
    )
    assert.deepEqual(estimates, [true, false, false])
  })
})

describe('a payload', () => {
  const fault = (request: Asked, more: Partial<CapturePayload> = {}, selfie = false) =>
    payloadFault(request, payload(more), { hasSelfie: selfie, begun: null, successor: null })
  const without = { face: undefined } as unknown as Partial<CapturePayload>

  test('of an ENROLL has a face, and may have a key', () => {
    assert.equal(fault(asked('ENROLL')), undefined)
    assert.equal(fault(asked('ENROLL'), { local: KEY }), undefined)
    assert.equal(fault(asked('ENROLL'), without), 'face')
    assert.equal(fault(asked('ENROLL'), claim(true)), 'local')
  })

  test('brings a new token only with the old one, or with the vector that it replaces, whatever the device claims', () => {
    const hash = 'h'.repeat(43)
    const begunOf = (tokenId: string) => ({
      ...{ tokenId, account: 'a', puid: null, nonce: payload({}).nonce, keyHolderNonce: 'k', matcherNonce: 'm' },
      probeHash: hash,
    })
    const [old, next] = [begunOf('old'), begunOf('new')]
    const { face = assert.fail('The payload has no face') } = payload({})
    const successor = { id: 'new', probeHash: hash }
    const token = { id: 'old', probeHash: hash }
    const faultOf = (policy: Partial<Asked['policy']>, more: Partial<CapturePayload>) => {
      const request = asked('SIGN-IN')
      const own = { ...request.policy, templates: 'token', signInMatching: 'local', ...policy } as const
      return payloadFault({ ...request, policy: own }, payload({ ...without, ...more }), {
        hasSelfie: false,
        begun: old,
        successor: next,
      })
    }
    assert.equal(faultOf({}, { ...claim(true) }), undefined)
    assert.equal(faultOf({}, { ...claim(true), successor }), 'successor')
    assert.equal(faultOf({}, { token, successor }), undefined)
    assert.equal(faultOf({ migrateVectors: true }, { ...claim(true), successor }), 'face')
    assert.equal(faultOf({}, { face, successor }), 'face')
    assert.equal(faultOf({ migrateVectors: true }, { face, successor }), undefined)
  })

  test('has no comparison with a document, which comes later or never', () => {
    const withDocument = asked('ENROLL', { requirements: ['face', 'identity_document'] })
    for (const request of [asked('ENROLL'), withDocument, asked('SIGN-IN'), asked('VERIFY')])
      assert.equal(fault(request, { match: { score: 900, document: 'step-1' } }), 'match')
  })

  test('of a SIGN-IN may omit the face only after a match that can be enough', () => {
    const server = asked('SIGN-IN', matching('server'))
    assert.equal(fault(asked('SIGN-IN'), { ...without, ...claim(true) }), undefined)
    assert.equal(fault(asked('SIGN-IN'), { ...without, ...claim(false) }), 'face')
    assert.equal(fault(asked('SIGN-IN'), without), 'face')
    assert.equal(fault(server, { ...without, ...claim(true) }), 'face')
    assert.equal(fault(server, claim(true)), undefined)
    assert.equal(fault(asked('SIGN-IN'), { local: KEY }), 'local')
  })

  test('has a vector that is not zero', () => {
    assert.equal(fault(asked('ENROLL'), { face: { ...FACE, vector: 'A'.repeat(683) } }), 'face')
  })

  test('has an age exactly when the session asks for one', () => {
    const aged = { estimate: { age: 400, spread: 5, frames: 1 }, frames: [{ ...FRAME, age: 400 }] }
    const wanting = asked('ENROLL', { estimateAge: true })
    assert.equal(fault(wanting, aged), undefined)
    assert.equal(fault(wanting), 'age')
    for (const request of [asked('ENROLL'), asked('SIGN-IN', { estimateAge: true })]) {
      assert.equal(fault(request, aged), 'age')
      assert.equal(fault(request, { frames: [{ ...FRAME, age: 400 }] }), 'age')
      assert.equal(fault(request, { estimate: { age: 1, spread: 0, frames: 0 } }), 'age')
    }
  })

  test('has a selfie exactly when the session asks for one', () => {
    const sharing = asked('ENROLL', { sendImages: true })
    assert.deepEqual([fault(sharing, {}, true), fault(sharing)], [undefined, 'selfie'])
    assert.equal(fault(asked('ENROLL'), {}, true), 'selfie')
  })
})

describe('a good capture leads', () => {
  const credential = {} as NonNullable<Parameters<typeof eventAfterCapture>[1]['credential']>
  const none = { claim: null, credential: null }
  const hit = { claim: { hit: true, proof: 'p' }, credential: null }

  test('in an ENROLL to the passkey step while there is none, and then to the enrolment', () => {
    const both = asked('ENROLL', { requirements: ['face', 'passkey'] })
    assert.equal(eventAfterCapture(asked('ENROLL'), none), 'finalize')
    assert.equal(eventAfterCapture(both, none), 'passkey_needed')
    assert.equal(eventAfterCapture(both, { claim: null, credential }), 'finalize')
  })

  test('in a SIGN-IN to the check of the device’s claim if that can be enough, and to the server otherwise', () => {
    assert.equal(eventAfterCapture(asked('SIGN-IN'), hit), 'compare_locally')
    assert.equal(eventAfterCapture(asked('SIGN-IN'), none), 'compare_on_server')
    assert.equal(eventAfterCapture(asked('VERIFY'), { ...hit, claim: { hit: false, proof: 'p' } }), 'compare_on_server')
    assert.equal(eventAfterCapture(asked('SIGN-IN', matching('server')), hit), 'compare_on_server')
  })
})
