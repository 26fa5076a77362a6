import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../platform/errors.ts'
import { parseOverrides, storedOverrides } from './index.ts'

test('what a tenant may change is taken as it is', () => {
  const overrides = {
    flags: { BR_WEBGL: { weight: 59 }, BH_TOO_FAST: { weight: 0, floor: 100 } },
    highBlocks: true,
    sources: ['network', 'handoff'],
  }
  assert.deepEqual(parseOverrides(overrides), overrides)
  assert.deepEqual(parseOverrides({}), {})
})

const refused: Record<string, { value: unknown; pointers: string[] }> = {
  'a privacy-tool flag above MEDIUM by weight': {
    value: { flags: { NW_TOR: { weight: 60 } } },
    pointers: ['/flags/NW_TOR/weight'],
  },
  'a privacy-tool flag above MEDIUM by floor': {
    value: { flags: { BR_FINGERPRINT: { floor: 60 } } },
    pointers: ['/flags/BR_FINGERPRINT/floor'],
  },
  'a weight over 100': { value: { flags: { BR_TIMING: { weight: 101 } } }, pointers: ['/flags/BR_TIMING/weight'] },
  'a negative weight': { value: { flags: { BR_TIMING: { weight: -1 } } }, pointers: ['/flags/BR_TIMING/weight'] },
  'a weight that is not whole': {
    value: { flags: { BR_TIMING: { weight: 1.5 } } },
    pointers: ['/flags/BR_TIMING/weight'],
  },
  'an unknown flag': { value: { flags: { BR_NOTHING: { weight: 1 } } }, pointers: ['/flags/BR_NOTHING'] },
  'an unknown field': { value: { lowBlocks: true }, pointers: ['/lowBlocks'] },
  'an unknown source': { value: { sources: ['weather'] }, pointers: ['/sources/0'] },
  'a source named twice': { value: { sources: ['network', 'network'] }, pointers: ['/sources'] },
  'no object': { value: [], pointers: ['/'] },
  nothing: { value: null, pointers: ['/'] },
}

for (const [what, { value, pointers }] of Object.entries(refused)) {
  test(`overrides with ${what} are refused, with the place`, () => {
    assert.throws(
      () => parseOverrides(value),
      (error) => {
        assert.ok(error instanceof AppError)
        assert.deepEqual([error.fault, error.code], ['invalid_request', 'VALIDATION_FAILED'])
        assert.deepEqual(
          error.extra.details?.map(({ pointer }) => pointer),
          pointers,
        )
        return true
      },
    )
  })
}

test('stored overrides are used; if any part is unknown to this release, all of them are ignored', () => {
  const overrides = { flags: { BR_WEBGL: { weight: 59 } } }
  assert.deepEqual(storedOverrides(overrides), overrides)
  assert.deepEqual(storedOverrides({}), {})
  assert.deepEqual(storedOverrides({ flags: { BR_NOTHING: { weight: 1 } } }), {})
  assert.deepEqual(storedOverrides({ ...overrides, lowBlocks: true }), {})
})
