import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerToJson, creationOf, requestOf } from './passkey-json.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

test('options to create a passkey get buffers where the browser wants buffers', () => {
  const made = creationOf({
    challenge: '-_8',
    rp: { id: 'id.example', name: 'Shop' },
    user: { id: 'AQI', name: 'shop user', displayName: '' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [{ id: 'BQ', type: 'public-key', transports: ['internal'] }],
    extensions: { credProps: true },
    timeout: 60_000,
  })
  assert.deepEqual(made, {
    challenge: bytes(0xfb, 0xff),
    rp: { id: 'id.example', name: 'Shop' },
    user: { id: bytes(1, 2), name: 'shop user', displayName: '' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [{ id: bytes(5), type: 'public-key', transports: ['internal'] }],
    timeout: 60_000,
  })
})

test('options to use a passkey get buffers too, also without a list of allowed credentials', () => {
  assert.deepEqual(requestOf({ challenge: 'AA', rpId: 'id.example', userVerification: 'required' }), {
    challenge: bytes(0),
    rpId: 'id.example',
    userVerification: 'required',
    allowCredentials: [],
  })
  const { allowCredentials } = requestOf({ challenge: 'AA', allowCredentials: [{ id: 'Bw', type: 'public-key' }] })
  assert.deepEqual(allowCredentials, [{ id: bytes(7), type: 'public-key' }])
})

test('an answer gets text for every buffer, and includes the transports', () => {
  const answer = {
    id: 'AQI',
    rawId: bytes(1, 2).buffer,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    getClientExtensionResults: () => ({}),
  }
  const made = { clientDataJSON: bytes(3).buffer, attestationObject: bytes(0xfb, 0xff).buffer }
  assert.deepEqual(answerToJson({ ...answer, response: { ...made, getTransports: () => ['internal'] } }), {
    id: 'AQI',
    rawId: 'AQI',
    type: 'public-key',
    response: { clientDataJSON: 'Aw', attestationObject: '-_8', transports: ['internal'] },
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  })
  const used = {
    clientDataJSON: bytes(3).buffer,
    authenticatorData: bytes(4).buffer,
    signature: bytes(5).buffer,
    userHandle: null,
  }
  assert.deepEqual(answerToJson({ ...answer, authenticatorAttachment: null, response: used }), {
    id: 'AQI',
    rawId: 'AQI',
    type: 'public-key',
    response: { clientDataJSON: 'Aw', authenticatorData: 'BA', signature: 'BQ' },
    clientExtensionResults: {},
  })
})
