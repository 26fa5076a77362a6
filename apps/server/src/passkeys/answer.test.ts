import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientData, clientDataRefusal, readAssertion, readRegistration } from './answer.ts'

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
const said = { type: 'webauthn.create', challenge: 'asked', origin: 'https://id.example', crossOrigin: false }
const clientDataJSON = encode(JSON.stringify(said))
const registration = () => ({
  id: 'AQID',
  rawId: 'AQID',
  type: 'public-key',
  clientExtensionResults: {},
  response: { clientDataJSON, attestationObject: 'oA', transports: ['internal', 'telepathy', 'hybrid', 'internal'] },
})
const assertion = () => ({
  id: 'AQID',
  rawId: 'AQID',
  type: 'public-key',
  response: { clientDataJSON, authenticatorData: 'AAAA', signature: 'AQ', userHandle: 'AQ' },
})

test('an answer is parsed as the page sends it; known transports are kept, each once', () => {
  assert.deepEqual(readRegistration(registration()), {
    credentialId: 'AQID',
    clientDataJson: clientDataJSON,
    clientData: said,
    attestationObject: 'oA',
    transports: ['hybrid', 'internal'],
  })
  assert.deepEqual(readAssertion(assertion()), {
    credentialId: 'AQID',
    clientDataJson: clientDataJSON,
    clientData: said,
    authenticatorData: 'AAAA',
    signature: 'AQ',
    userHandle: 'AQ',
  })
})

test('transports and the user handle may be missing', () => {
  const { transports: _, ...withoutTransports } = registration().response
  assert.deepEqual(readRegistration({ ...registration(), response: withoutTransports })?.transports, [])
  const { userHandle: __, ...withoutHandle } = assertion().response
  assert.equal(readAssertion({ ...assertion(), response: withoutHandle })?.userHandle, null)
  assert.equal(readAssertion({ ...assertion(), response: { ...withoutHandle, userHandle: null } })?.userHandle, null)
})

test('anything that is not an answer gives undefined, and nothing throws', () => {
  for (const [read, honest] of [
    [readRegistration, registration()],
    [readAssertion, assertion()],
  ] as const) {
    const { response } = honest
    const wrong: unknown[] = [
      undefined,
      null,
      'text',
      7,
      [],
      {},
      { ...honest, id: undefined },
      { ...honest, rawId: 'AQIE' },
      { ...honest, id: 'AQID=', rawId: 'AQID=' },
      { ...honest, id: 'AQ+D', rawId: 'AQ+D' },
      { ...honest, id: 'A'.repeat(1365), rawId: 'A'.repeat(1365) },
      { ...honest, type: 'password' },
      { ...honest, response: null },
      { ...honest, response: { ...response, clientDataJSON: 5 } },
      { ...honest, response: { ...response, clientDataJSON: '' } },
      { ...honest, response: { ...response, clientDataJSON: 'A'.repeat(4100) } },
    ]
    for (const sent of wrong) assert.equal(read(sent), undefined, JSON.stringify(sent)?.slice(0, 200))
  }
  const { response } = assertion()
  for (const part of ['authenticatorData', 'signature'])
    for (const value of [undefined, '', 'A?', 'A'.repeat(2052), 3])
      assert.equal(readAssertion({ ...assertion(), response: { ...response, [part]: value } }), undefined)
  const made = registration().response
  for (const attestationObject of [undefined, '', 'A?', 'A'.repeat(8196)])
    assert.equal(readRegistration({ ...registration(), response: { ...made, attestationObject } }), undefined)
})

test('only canonical base64url is accepted: its unused bits are zero', () => {
  const { response } = assertion()
  assert.equal(readAssertion({ ...assertion(), response: { ...response, signature: 'AR' } }), undefined)
  assert.equal(readAssertion({ ...assertion(), id: 'AQIDBB', rawId: 'AQIDBB' }), undefined)
})

test('client data that is not JSON, not UTF-8 or lacks a field gives undefined', () => {
  for (const text of [
    encode('{'),
    encode('[]'),
    encode('null'),
    encode('"webauthn.create"'),
    encode(JSON.stringify({ ...said, challenge: undefined })),
    encode(JSON.stringify({ ...said, origin: ['https://id.example'] })),
    encode(JSON.stringify({ ...said, crossOrigin: 'false' })),
    encode(JSON.stringify({ ...said, topOrigin: 1 })),
    encode(Buffer.concat([Buffer.from(JSON.stringify(said)), Buffer.from([0xff])])),
  ]) {
    const { response } = registration()
    assert.equal(readRegistration({ ...registration(), response: { ...response, clientDataJSON: text } }), undefined)
  }
})

test('client data is refused for another type, challenge or origin, and from a frame in a page of another origin', () => {
  const expected = { type: 'webauthn.create', challenge: 'asked', origin: 'https://id.example' } as const
  const reasonOf = (other: Partial<ClientData>) => clientDataRefusal({ ...said, ...other }, expected)?.reason
  assert.equal(reasonOf({}), undefined)
  assert.equal(reasonOf({ type: 'webauthn.get' }), 'wrong_type')
  assert.equal(reasonOf({ challenge: 'other' }), 'wrong_challenge')
  assert.equal(reasonOf({ challenge: '' }), 'wrong_challenge')
  for (const origin of [
    'http://id.example',
    'https://id.example:8443',
    'https://id.example.evil.example',
    'https://ID.example',
  ])
    assert.equal(reasonOf({ origin }), 'wrong_origin')
  assert.equal(reasonOf({ crossOrigin: true }), 'wrong_origin')
  assert.equal(reasonOf({ topOrigin: 'https://id.example' }), 'wrong_origin')
})

test('every answer is refused when no challenge is open', () => {
  const expected = { type: 'webauthn.create', challenge: '', origin: 'https://id.example' } as const
  assert.equal(clientDataRefusal({ ...said, challenge: '' }, expected)?.reason, 'wrong_challenge')
})
