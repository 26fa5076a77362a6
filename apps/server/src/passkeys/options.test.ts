import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creationOptions, requestOptions, userHandleOf } from './options.ts'

const request = { rpId: 'id.example', challenge: 'Y2hhbGxlbmdl', rpName: 'Example Shop', userName: 'Example Shop' }

test('the options ask for a discoverable passkey with user verification and without attestation', () => {
  assert.deepEqual(creationOptions(request), {
    challenge: 'Y2hhbGxlbmdl',
    rp: { id: 'id.example', name: 'Example Shop' },
    user: { id: userHandleOf('Y2hhbGxlbmdl'), name: 'Example Shop', displayName: 'Example Shop' },
    pubKeyCredParams: [
      { type: 'public-key', alg: -7 },
      { type: 'public-key', alg: -8 },
      { type: 'public-key', alg: -257 },
    ],
    timeout: 300_000,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  })
})

test('a sign-in asks for the passkeys of one person and for verification', () => {
  const credentials = [
    { credentialId: 'AQID', transports: ['internal', 'hybrid'] },
    { credentialId: 'BAUG', transports: [] },
  ]
  assert.deepEqual(requestOptions('id.example', 'Y2hhbGxlbmdl', credentials), {
    challenge: 'Y2hhbGxlbmdl',
    rpId: 'id.example',
    allowCredentials: [
      { type: 'public-key', id: 'AQID', transports: ['internal', 'hybrid'] },
      { type: 'public-key', id: 'BAUG' },
    ],
    timeout: 300_000,
    userVerification: 'required',
  })
})

test('the user handle has 32 bytes, is derived from the challenge and does not reveal it', () => {
  const handle = userHandleOf('Y2hhbGxlbmdl')
  assert.equal(Buffer.from(handle, 'base64url').length, 32)
  assert.equal(userHandleOf('Y2hhbGxlbmdl'), handle)
  assert.notEqual(userHandleOf('Y2hhbGxlbmdm'), handle)
})

test('names are truncated between characters before an authenticator would cut them anywhere', () => {
  const { rp, user } = creationOptions({ ...request, rpName: 'ä'.repeat(40), userName: `${'x'.repeat(63)}😀y` }) as {
    rp: { name: string }
    user: { name: string }
  }
  assert.equal(rp.name, 'ä'.repeat(32))
  assert.equal(user.name, 'x'.repeat(63))
})
