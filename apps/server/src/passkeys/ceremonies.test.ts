import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type CBORType, encodeCBOR } from '@levischuck/tiny-cbor'
import { readAssertion, readRegistration } from './answer.ts'
import { type CredentialKey, checkAssertion, checkRegistration, hasGoneBack } from './ceremonies.ts'
import { creationOptions, requestOptions, userHandleOf } from './options.ts'
import { coseKeyOf, createAuthenticator, FLAG, type Kind, type Lies, newPair } from './testing/authenticator.ts'
import type { PasskeyRefusal } from './types.ts'

const party = { rpId: 'id.example', origin: 'https://id.example' }
const challenge = randomBytes(32).toString('base64url')
const creation = creationOptions({ rpId: party.rpId, challenge, rpName: 'Example', userName: 'Example' })
const last = (bytes: Buffer) => bytes.subarray(0, -1)
const more = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1)])

function flip(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

async function register(sent: unknown, expected = challenge) {
  const answer = readRegistration(sent)
  return answer ? checkRegistration(party, answer, expected) : ({ ok: false, reason: 'malformed' } as const)
}

async function signIn(sent: unknown, key: CredentialKey, expected = challenge) {
  const answer = readAssertion(sent)
  return answer
    ? checkAssertion(party, answer, { challenge: expected, key })
    : ({ ok: false, reason: 'malformed' } as const)
}

/** An authenticator with one registered passkey, and the options to sign in with it. */
async function registered(kind: Kind = 'ES256') {
  const authenticator = createAuthenticator({ ...party, kind })
  const verdict = await register(authenticator.create(creation))
  assert.ok(verdict.ok)
  const { credentialId, publicKey } = verdict.credential
  const key = { credentialId, publicKey: Buffer.from(publicKey, 'base64url') }
  return { authenticator, key, request: requestOptions(party.rpId, challenge, [{ credentialId, transports: [] }]) }
}

describe('a registration', () => {
  test('with each of the three algorithms is accepted, and the passkey then signs in', async () => {
    for (const kind of ['ES256', 'EdDSA', 'RS256'] as const) {
      const { authenticator, key, request } = await registered(kind)
      const shown = { counter: 0, deviceType: 'singleDevice', backedUp: false }
      assert.deepEqual(await signIn(authenticator.get(request), key), { ok: true, shown }, kind)
    }
  })

  test('returns what the authenticator sent', async () => {
    const authenticator = createAuthenticator({ ...party, counts: true, backup: FLAG.be | FLAG.bs })
    const verdict = await register(authenticator.create(creation))
    const [made] = authenticator.credentials
    assert.ok(verdict.ok && made)
    const { publicKey, ...rest } = verdict.credential
    assert.ok(Buffer.from(publicKey, 'base64url').length > 70)
    assert.deepEqual(rest, {
      credentialId: made.id.toString('base64url'),
      counter: 1,
      transports: ['hybrid', 'internal'],
      deviceType: 'multiDevice',
      backedUp: true,
      aaguid: '00000000-0000-0000-0000-000000000000',
      userHandle: made.userHandle,
    })
    assert.equal(made.userHandle, userHandleOf(challenge))
  })

  test('that the new key has signed itself is accepted, as some browsers send it', async () => {
    const statement = (sig: Buffer) => new Map<string, CBORType>([...ALG, ['sig', sig]])
    assert.ok((await register(createAuthenticator(party).create(creation, { format: 'packed', statement }))).ok)
  })

  for (const [what, lies, reason] of forgedRegistrations()) {
    test(`is refused: ${what}`, async () => {
      assert.deepEqual(await register(createAuthenticator(party).create(creation, lies)), { ok: false, reason })
    })
  }

  test('is refused: an algorithm that was not offered', async () => {
    const sent = createAuthenticator({ ...party, kind: 'ES384' }).create(creation)
    assert.deepEqual(await register(sent), { ok: false, reason: 'not_verified' })
  })

  test('is refused for another challenge than its own, also when it was good before', async () => {
    const sent = createAuthenticator(party).create(creation)
    assert.ok((await register(sent)).ok)
    const next = randomBytes(32).toString('base64url')
    assert.deepEqual(await register(sent, next), { ok: false, reason: 'wrong_challenge' })
    assert.deepEqual(await register(sent, ''), { ok: false, reason: 'wrong_challenge' })
  })

  test('is refused when it is an assertion, and the other way round', async () => {
    const { authenticator, key, request } = await registered()
    assert.deepEqual(await register(authenticator.get(request)), { ok: false, reason: 'malformed' })
    assert.deepEqual(await signIn(authenticator.create(creation), key), { ok: false, reason: 'malformed' })
  })

  test('is refused wherever it is cut off', async () => {
    const sent = createAuthenticator(party).create(creation)
    const whole = Buffer.from(sent.response.attestationObject, 'base64url')
    for (let length = 0; length < whole.length; length++) {
      const attestationObject = whole.subarray(0, length).toString('base64url')
      const verdict = await register({ ...sent, response: { ...sent.response, attestationObject } })
      assert.equal(verdict.ok, false, `${length} of ${whole.length} bytes`)
    }
  })

  test('with any bit of the client data changed is refused, or gives the same result', async () => {
    const honest = createAuthenticator(party).create(creation)
    const json = Buffer.from(honest.response.clientDataJSON, 'base64url')
    for (let bit = 0; bit < json.length * 8; bit++) {
      const clientDataJSON = flip(json, bit).toString('base64url')
      const verdict = await register({ ...honest, response: { ...honest.response, clientDataJSON } })
      // A registration is not signed: a letter of an unused field may change.
      const isSpare = json.subarray(bit >> 3).length <= '"crossOrigin":false}'.length
      assert.ok(!verdict.ok || isSpare, `bit ${bit}`)
    }
  })

  test('with a changed bit is refused, or has the same id and key for the same relying party', async () => {
    const authenticator = createAuthenticator(party)
    const sent = authenticator.create(creation)
    const [made] = authenticator.credentials
    assert.ok(made)
    const whole = Buffer.from(sent.response.attestationObject, 'base64url')
    const key = Buffer.from(encodeCBOR(coseKeyOf('ES256', made.publicKey)))
    const authDataBytes = 37 + 18 + made.id.length + key.length
    const accepted: number[] = []
    // Flags and counter bit by bit, then in each byte at least two.
    for (let bit = 0; bit < 8 * authDataBytes; bit += bit >= 8 * 32 && bit < 8 * 37 ? 1 : 3) {
      const attestationObject = flip(whole, 8 * (whole.length - authDataBytes) + bit).toString('base64url')
      const verdict = await register({ ...sent, response: { ...sent.response, attestationObject } })
      if (!verdict.ok) continue
      assert.equal(verdict.credential.credentialId, made.id.toString('base64url'), `bit ${bit}`)
      assert.equal(verdict.credential.publicKey, key.toString('base64url'), `bit ${bit}`)
      accepted.push(bit)
    }
    // Accepted changes: flags other than presence, the counter, the model. Without attestation they are not verified.
    assert.ok(accepted.length > 0 && accepted.every((bit) => bit >= 8 * 32 && ![256, 258, 262].includes(bit)))
  })
})

const ALG: [string, CBORType][] = [['alg', -7]]

function forgedRegistrations(): [string, Lies, PasskeyRefusal][] {
  const { publicKey } = newPair('ES256')
  const key = coseKeyOf('ES256', publicKey)
  const self = (sig: Buffer) => new Map<string, CBORType>([...ALG, ['sig', sig]])
  const withKey = (part: number, value: CBORType) => ({ publicKey: new Map(key).set(part, value) })
  return [
    ['the type of a sign-in', { type: 'webauthn.get' }, 'wrong_type'],
    ['no known type', { type: 'payment.create' }, 'wrong_type'],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }, 'wrong_challenge'],
    ['an empty challenge', { challenge: '' }, 'wrong_challenge'],
    ['its challenge with padding', { challenge: `${challenge}=` }, 'wrong_challenge'],
    ['another origin', { origin: 'https://evil.example' }, 'wrong_origin'],
    ['its origin without encryption', { origin: 'http://id.example' }, 'wrong_origin'],
    ['its origin at another port', { origin: 'https://id.example:444' }, 'wrong_origin'],
    ['its origin as a part of another', { origin: 'https://id.example.evil.example' }, 'wrong_origin'],
    ['a subdomain of its origin', { origin: 'https://a.id.example' }, 'wrong_origin'],
    ['an app instead of a page', { origin: 'android:apk-key-hash:abc' }, 'wrong_origin'],
    ['a frame in a foreign page', { clientData: { crossOrigin: true } }, 'wrong_origin'],
    ['a foreign page above it', { clientData: { topOrigin: 'https://evil.example' } }, 'wrong_origin'],
    ['another relying party', { rpId: 'evil.example' }, 'not_verified'],
    ['a subdomain as relying party', { rpId: 'a.id.example' }, 'not_verified'],
    ['nobody present', { flags: FLAG.uv | FLAG.at }, 'not_verified'],
    ['nobody verified', { flags: FLAG.up | FLAG.at }, 'not_verified'],
    ['no flags but the key', { flags: FLAG.at }, 'not_verified'],
    ['a key that the flags deny', { flags: FLAG.up | FLAG.uv }, 'not_verified'],
    ['extensions that are not there', { flags: FLAG.up | FLAG.uv | FLAG.at | FLAG.ed }, 'not_verified'],
    ['backed up and not eligible', { flags: FLAG.up | FLAG.uv | FLAG.at | FLAG.bs }, 'not_verified'],
    ['another id beside the answer', { outerId: randomBytes(32).toString('base64url') }, 'not_verified'],
    ['an id without bytes', { credentialId: Buffer.alloc(0) }, 'malformed'],
    ['an id that is too long', { credentialId: randomBytes(1024) }, 'malformed'],
    ['a byte too few', { authData: last }, 'not_verified'],
    ['a byte too many', { authData: more }, 'not_verified'],
    ['no authenticator data', { authData: () => Buffer.alloc(0) }, 'not_verified'],
    ['data that ends before the id', { authData: (bytes) => bytes.subarray(0, 60) }, 'not_verified'],
    ['a key for another algorithm', withKey(3, -35), 'not_verified'],
    ['an algorithm with SHA-1', withKey(3, -65535), 'not_verified'],
    ['no algorithm', { publicKey: new Map([...key].filter(([part]) => part !== 3)) }, 'not_verified'],
    ['an algorithm as text', withKey(3, 'ES256'), 'not_verified'],
    ['a key of another kind', withKey(1, 3), 'not_verified'],
    ['a key on another curve', withKey(-1, 2), 'not_verified'],
    ['a point that is not on the curve', withKey(-2, randomBytes(32)), 'not_verified'],
    ['the point at nowhere', withKey(-3, Buffer.alloc(32)), 'not_verified'],
    ['half a point', { publicKey: new Map([...key].filter(([part]) => part !== -3)) }, 'not_verified'],
    ['a key that is no key', { publicKey: 'key' }, 'not_verified'],
    ['no attestation, with a statement', { statement: self }, 'not_verified'],
    ['an unknown attestation', { format: 'compound', statement: self }, 'not_verified'],
    ['its own attestation without signature', { format: 'packed', statement: () => new Map(ALG) }, 'not_verified'],
    ['its own attestation by another key', { format: 'packed', statement: self, publicKey: key }, 'not_verified'],
    [
      'its own attestation, changed',
      { format: 'packed', statement: (sig) => self(flip(sig, 8 * sig.length - 1)) },
      'not_verified',
    ],
    [
      'a certificate that was not asked for',
      { format: 'packed', statement: (sig) => self(sig).set('x5c', [randomBytes(300)]) },
      'not_verified',
    ],
    ...['tpm', 'apple', 'android-key', 'android-safetynet', 'fido-u2f'].map(
      (format): [string, Lies, PasskeyRefusal] => [
        `${format} attestation`,
        { format, statement: self },
        'not_verified',
      ],
    ),
  ]
}

describe('an assertion', () => {
  test('is accepted with and without a counter, and its values are returned', async () => {
    const { authenticator, key, request } = await registered()
    const flags = FLAG.up | FLAG.uv | FLAG.be | FLAG.bs
    assert.deepEqual(await signIn(authenticator.get(request, { counter: 4_294_967_295, flags }), key), {
      ok: true,
      shown: { counter: 4_294_967_295, deviceType: 'multiDevice', backedUp: true },
    })
  })

  for (const [what, lies, reason] of forgedAssertions()) {
    test(`is refused: ${what}`, async () => {
      const { authenticator, key, request } = await registered()
      assert.deepEqual(await signIn(authenticator.get(request, lies), key), { ok: false, reason })
    })
  }

  test('is refused for another challenge than its own, also when it was good before', async () => {
    const { authenticator, key, request } = await registered()
    const sent = authenticator.get(request)
    assert.ok((await signIn(sent, key)).ok)
    for (const next of [randomBytes(32).toString('base64url'), ''])
      assert.deepEqual(await signIn(sent, key, next), { ok: false, reason: 'wrong_challenge' })
  })

  test('is refused with the key of another passkey', async () => {
    const [first, second] = [await registered(), await registered()]
    const sent = first.authenticator.get(first.request)
    assert.deepEqual(await signIn(sent, second.key), { ok: false, reason: 'unknown_credential' })
    const mixed = { ...first.key, publicKey: second.key.publicKey }
    assert.deepEqual(await signIn(sent, mixed), { ok: false, reason: 'not_verified' })
  })

  test('is refused with a changed bit, in each byte of its three parts and for every algorithm', async () => {
    for (const [kind, step] of [
      ['ES256', 3],
      ['EdDSA', 7],
      ['RS256', 7],
    ] as const) {
      const { authenticator, key, request } = await registered(kind)
      const sent = authenticator.get(request)
      assert.ok((await signIn(sent, key)).ok)
      for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
        const bytes = Buffer.from(sent.response[part], 'base64url')
        for (let bit = 0; bit < bytes.length * 8; bit += step) {
          const response = { ...sent.response, [part]: flip(bytes, bit).toString('base64url') }
          assert.equal((await signIn({ ...sent, response }, key)).ok, false, `${kind} ${part} bit ${bit}`)
        }
      }
    }
  })

  test('is refused wherever one of its parts is cut off', async () => {
    const { authenticator, key, request } = await registered()
    const sent = authenticator.get(request)
    for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
      const bytes = Buffer.from(sent.response[part], 'base64url')
      for (let length = 0; length < bytes.length; length++) {
        const response = { ...sent.response, [part]: bytes.subarray(0, length).toString('base64url') }
        assert.equal((await signIn({ ...sent, response }, key)).ok, false, `${part}: ${length} bytes`)
      }
    }
  })

  test('is refused when the stored key cannot be parsed', async () => {
    const { authenticator, key, request } = await registered()
    const damaged = { ...key, publicKey: key.publicKey.subarray(0, 40) }
    assert.deepEqual(await signIn(authenticator.get(request), damaged), { ok: false, reason: 'not_verified' })
  })
})

function forgedAssertions(): [string, Lies, PasskeyRefusal][] {
  return [
    ['the type of a registration', { type: 'webauthn.create' }, 'wrong_type'],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }, 'wrong_challenge'],
    ['another origin', { origin: 'https://evil.example' }, 'wrong_origin'],
    ['its origin without encryption', { origin: 'http://id.example' }, 'wrong_origin'],
    ['its origin with a slash', { origin: 'https://id.example/' }, 'wrong_origin'],
    ['a frame in a foreign page', { clientData: { crossOrigin: true } }, 'wrong_origin'],
    [
      'a frame in a foreign page that says its name',
      { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } },
      'wrong_origin',
    ],
    ['a page above it', { clientData: { topOrigin: 'https://id.example' } }, 'wrong_origin'],
    ['another relying party', { rpId: 'evil.example' }, 'not_verified'],
    ['its origin as relying party', { rpId: 'https://id.example' }, 'not_verified'],
    ['nobody present', { flags: FLAG.uv }, 'not_verified'],
    ['nobody verified', { flags: FLAG.up }, 'not_verified'],
    ['no flags', { flags: 0 }, 'not_verified'],
    ['backed up and not eligible', { flags: FLAG.up | FLAG.uv | FLAG.bs }, 'not_verified'],
    ['a key that is not there', { flags: FLAG.up | FLAG.uv | FLAG.at }, 'not_verified'],
    ['another id beside the answer', { outerId: randomBytes(32).toString('base64url') }, 'unknown_credential'],
    ['the signature of another key', { signer: newPair('ES256').privateKey }, 'not_verified'],
    ['no signature', { signature: () => Buffer.alloc(0) }, 'malformed'],
    ['a signature of zeros', { signature: (sig) => Buffer.alloc(sig.length) }, 'not_verified'],
    ['r and s of zero', { signature: () => Buffer.from([0x30, 6, 2, 1, 0, 2, 1, 0]) }, 'not_verified'],
    ['a byte more of the signature', { signature: more }, 'not_verified'],
    ['a byte more of the data', { sentAuthData: more }, 'not_verified'],
    ['a byte more of the data, signed', { authData: more }, 'not_verified'],
    ['a byte less of the data, signed', { authData: last }, 'not_verified'],
    ['verified, said on the way', { flags: FLAG.up, sentAuthData: (bytes) => flip(bytes, 8 * 32 + 2) }, 'not_verified'],
    ['its counter changed on the way', { sentAuthData: (bytes) => flip(bytes, 8 * 36) }, 'not_verified'],
    [
      'its challenge changed on the way',
      {
        challenge: 'A'.repeat(43),
        sentClientData: (bytes) => Buffer.from(bytes.toString().replace('A'.repeat(43), challenge)),
      },
      'not_verified',
    ],
    [
      'its origin changed on the way',
      {
        origin: 'https://evil.example',
        sentClientData: (bytes) => Buffer.from(bytes.toString().replace('evil.example', 'id.example')),
      },
      'not_verified',
    ],
    ['its client data written again', { sentClientData: (bytes) => Buffer.from(` ${bytes}`) }, 'not_verified'],
  ]
}

test('a counter must grow, unless it is always 0', () => {
  for (const [known, shown, gone] of [
    [0, 0, false],
    [0, 1, false],
    [1, 2, false],
    [7, 4_294_967_295, false],
    [1, 1, true],
    [2, 1, true],
    [1, 0, true],
  ] as const)
    assert.equal(hasGoneBack(known, shown), gone, `${known} then ${shown}`)
})
