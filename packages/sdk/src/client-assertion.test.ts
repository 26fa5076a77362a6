import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from './index.ts'

const BASE = 'https://ostiary.example'
const KEYS = {
  ES256: { make: { name: 'ECDSA', namedCurve: 'P-256' }, verify: { name: 'ECDSA', hash: 'SHA-256' } },
  EdDSA: { make: { name: 'Ed25519' }, verify: { name: 'Ed25519' } },
  RS256: {
    make: {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    },
    verify: { name: 'RSASSA-PKCS1-v1_5' },
  },
} as const

/** A service whose token endpoint stores the forms it gets, and is away at the first call. */
function service() {
  const forms: URLSearchParams[] = []
  const bearers: (string | null)[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (!String(url).endsWith('/oauth/token')) {
      bearers.push(new Headers(init?.headers).get('authorization'))
      return Response.json({ sessionId: 'x' })
    }
    forms.push(new URLSearchParams(String(init?.body)))
    return forms.length === 1
      ? new Response('', { status: 503 })
      : Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 600 })
  }
  return { fetch, forms, bearers }
}

const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString())

for (const [alg, { make, verify }] of Object.entries(KEYS)) {
  test(`a client with a private key gets its token by an assertion signed with ${alg}, a new one for each attempt`, async () => {
    const pair = await crypto.subtle.generateKey(make, true, ['sign', 'verify'])
    assert.ok('privateKey' in pair)
    const jwk = { ...(await crypto.subtle.exportKey('jwk', pair.privateKey)), kty: alg === 'ES256' ? 'EC' : '' }
    const clientKey = alg === 'ES256' ? { ...jwk, kid: 'key-1' } : pair.privateKey
    const { fetch, forms, bearers } = service()
    await createClient({ baseUrl: `${BASE}/`, clientId: 'ostc_test_a', clientKey, fetch }).verification.get('x')
    assert.deepEqual(bearers, ['Bearer token-1'])
    const ids = new Set<string>()
    for (const form of forms) {
      assert.equal(form.get('client_assertion_type'), 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      const [head, claims, signature = ''] = String(form.get('client_assertion')).split('.')
      assert.deepEqual(decoded(head), { alg, typ: 'JWT', ...(alg === 'ES256' && { kid: 'key-1' }) })
      const { iss, sub, aud, exp, iat, jti } = decoded(claims)
      assert.deepEqual([iss, sub, aud, exp - iat], ['ostc_test_a', 'ostc_test_a', `${BASE}/oauth/token`, 60])
      ids.add(jti)
      const bytes = Buffer.from(signature, 'base64url')
      assert.ok(await crypto.subtle.verify(verify, pair.publicKey, bytes, Buffer.from(`${head}.${claims}`)))
    }
    assert.equal(ids.size, 2)
  })
}

test('a public key, two credentials at once and a part of them are refused when the client is created', () => {
  const publicJwk = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }
  const refused = [
    { clientId: 'a', clientKey: publicJwk },
    { clientId: 'a', clientKey: { ...publicJwk, d: 'c' }, clientSecret: 'd' },
    { clientKey: { ...publicJwk, d: 'c' } },
    { clientId: 'a' },
    { clientId: 'a', clientKey: { kty: 'EC', crv: 'P-521', d: 'c' } },
  ]
  for (const credentials of refused) {
    assert.throws(() => createClient({ baseUrl: BASE, ...credentials }), { code: 'INVALID_OPTION' })
  }
})
