import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CreateSessionBody, TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { readSimulatedOutcome, toRequest, type Wanted } from './request.ts'

const LEAST: CreateSessionBody = { redirectUrl: 'https://shop.example/back', ageThreshold: 30 }
const read = (body: Partial<CreateSessionBody>, wanted: Partial<Wanted> = {}) =>
  toRequest({ ...LEAST, ...body }, { livemode: false, settings: TENANT_SETTINGS_DEFAULTS, ...wanted })

describe('metadata', () => {
  const keptOf = (metadataText: string, subjectHash?: string) => {
    const { metadata, metadataText: kept } = read({ metadata: JSON.parse(metadataText) }, { metadataText, subjectHash })
    return { metadata, kept }
  }

  test('is kept as text only when serialising it again would change it', () => {
    assert.deepEqual(keptOf('{"a":1,"b":"é"}'), { metadata: { a: 1, b: 'é' }, kept: undefined })
    for (const text of ['{"a":1.0}', '{"b":1,"1":2}', '{ }', '{"a":"\\u00e9"}', '{"n":12345678901234567890}']) {
      assert.equal(keptOf(text).kept, text)
    }
    assert.equal(read({}).metadataText, undefined)
  })

  test('the hash of a subject is added after what the host sent', () => {
    assert.deepEqual(keptOf('{"a":1}', 'h'), { metadata: { a: 1, subjectHash: 'h' }, kept: undefined })
    assert.equal(keptOf('{"a":1.0 }', 'h').kept, '{"a":1.0 ,"subjectHash":"h"}')
    for (const text of ['{ }', '{"a":1.0,"subjectHash":"forged"}']) {
      const { metadata, kept } = keptOf(text, 'h')
      assert.equal(metadata.subjectHash, 'h')
      assert.equal(kept, undefined)
    }
  })
})

describe('a simulated outcome', () => {
  const codesOf = (outcome: object) => readSimulatedOutcome(outcome, '/body').errors

  test('without a verdict has a reason, like every flow that completes without one: the given codes, or ATTEMPTS_EXCEEDED', () => {
    assert.deepEqual(codesOf({ outcome: 'AGE_UNKNOWN' }), [-19])
    assert.deepEqual(codesOf({ outcome: 'AGE_UNKNOWN', errors: [1] }), [1])
    assert.deepEqual(codesOf({ outcome: 'AGE_ABOVE_THRESHOLD' }), [])
    assert.deepEqual(codesOf({ outcome: 'AGE_UNKNOWN', faceAge: 40 }), [], 'the rules decide over ages')
  })
})
