import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creationOptions, requestOptions, userHandleOf } from './options.ts'

/** COSE numbers of signature algorithms. */
const [ES256, EDDSA, RS256] = [-7, -8, -257]
/** WebAuthn lets an authenticator cut a name after so many bytes, even in the middle of a character. */
const NAME_BYTES_MAX = 64
const request = { rpId: 'id.example', challenge: 'Y2hhbGxlbmdl', rpName: 'Example Shop', userName: 'Example Shop' }

test('registration asks for a discoverable passkey with user verification and without attestation', () => {
  assert.deepEqual(creationOptions(request), {
    challenge: 'Y2hhbGxlbmdl',
    rp: { id: 'id.example', name: 'Example Shop' },
    user: { id: userHandleOf('Y2hhbGxlbmdl'), name: 'Example Shop', displayName: 'Example Shop' },
    pubKeyCredParams: [
      { type: 'public-key', alg: ES256 },
      { type: 'public-key', alg: EDDSA },
      { type: 'public-key', alg: RS256 },
    ],
    timeout: 300_000,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  })
})

test('sign-in lists the passkeys of the person, with their transports where they are known, and requires user verification', () => {
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

test('the user handle has 32 bytes and depends only on the challenge', () => {
  const handle = userHandleOf('Y2hhbGxlbmdl')
  assert.equal(Buffer.from(handle, 'base64url').length, 32)
  assert.equal(userHandleOf('Y2hhbGxlbmdl'), handle)
  assert.notEqual(userHandleOf('Y2hhbGxlbmdm'), handle)
})

test('names are truncated to 64 bytes between characters, so that no authenticator cuts a character in two', () => {
  const oneByteFree = 'x'.repeat(NAME_BYTES_MAX - 1)
  const { rp, user } = creationOptions({ ...request, rpName: 'ä'.repeat(40), userName: `${oneByteFree}😀y` }) as {
    rp: { name: string }
    user: { name: string }
  }
  assert.equal(rp.name, 'ä'.repeat(32))
  assert.equal(Buffer.byteLength(rp.name), NAME_BYTES_MAX)
  assert.equal(user.name, oneByteFree)
})
