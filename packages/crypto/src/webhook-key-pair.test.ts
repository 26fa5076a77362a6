import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { type ReceivedV1a, verifyWebhookV1a, type WebhookVerifyKey } from './webhook-key-pair.ts'
import { signStandardWebhook, standardWebhookSecret } from './webhook-signature.ts'

const TIME = '1794744000'
const ID = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
const BODY = '{"status":"ok","name":"Grüße 😀"}'

const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as unknown as WebhookVerifyKey
const pair = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519')
const signed = (key: KeyObject, text = `${ID}.${TIME}.${BODY}`) =>
  `v1a,${sign(null, Buffer.from(text), key).toString('base64')}`

const genuine: ReceivedV1a = {
  id: ID,
  timestamp: TIME,
  signature: signed(pair.privateKey),
  body: BODY,
  keys: [jwkOf(pair.publicKey)],
}

describe('verifyWebhookV1a', () => {
  test('accepts text and bytes, any of several keys, and any of several signatures', async () => {
    assert.equal(await verifyWebhookV1a(genuine), true)
    assert.equal(await verifyWebhookV1a({ ...genuine, body: new TextEncoder().encode(BODY) }), true)
    const keys = [jwkOf(other.publicKey), jwkOf(pair.publicKey)]
    assert.equal(await verifyWebhookV1a({ ...genuine, keys }), true)
    const signature = `v1,AAAA ${signed(other.privateKey)} ${genuine.signature}`
    assert.equal(await verifyWebhookV1a({ ...genuine, signature }), true)
  })

  test('refuses another id, time, body or key, and no key at all', async () => {
    const changes: Partial<ReceivedV1a>[] = [
      { id: `${ID.slice(0, -1)}b` },
      { id: null },
      { timestamp: '1794744001' },
      { timestamp: undefined },
      { body: `${BODY} ` },
      { body: '' },
      { keys: [jwkOf(other.publicKey)] },
      { keys: [] },
    ]
    for (const change of changes)
      assert.equal(await verifyWebhookV1a({ ...genuine, ...change }), false, JSON.stringify(change))
  })

  test('a valid HMAC by the API key is not enough: that is what a leaked key makes', async () => {
    const secret = await standardWebhookSecret('ost_live_leaked')
    const hmac = await signStandardWebhook(secret, { id: ID, timestamp: TIME, body: BODY })
    assert.equal(await verifyWebhookV1a({ ...genuine, signature: hmac }), false)
    assert.equal(await verifyWebhookV1a({ ...genuine, signature: hmac.replace('v1,', 'v1a,') }), false)
  })

  test('refuses a signature with any byte changed, cut, prolonged or of another form', async () => {
    const bytes = Buffer.from(String(genuine.signature).slice(4), 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      assert.equal(await verifyWebhookV1a({ ...genuine, signature: `v1a,${changed.toString('base64')}` }), false)
    }
    const text = String(genuine.signature)
    for (const signature of [text.slice(4), text.slice(0, -1), `${text}=`, `v1a${text}`, '', 'v1a,', null])
      assert.equal(await verifyWebhookV1a({ ...genuine, signature }), false, String(signature))
  })

  test('an id with a dot is refused: bytes could move between the parts of the signed text', async () => {
    const signature = signed(pair.privateKey, `a.${TIME}.${TIME}.${BODY}`)
    assert.equal(await verifyWebhookV1a({ ...genuine, id: `a.${TIME}`, signature }), false)
  })

  test('skips keys of other kinds, and tries a bounded number of keys and signatures', async () => {
    const rsa = { kty: 'RSA', crv: '', x: '' }
    assert.equal(await verifyWebhookV1a({ ...genuine, keys: [rsa, ...genuine.keys] }), true)
    const flood = Array.from({ length: 1_000 }, () => signed(other.privateKey)).join(' ')
    assert.equal(await verifyWebhookV1a({ ...genuine, signature: `${flood} ${genuine.signature}` }), false)
  })

  test('with the current time, accepts five minutes either way and not a second more', async () => {
    for (const [offset, expected] of [
      [300, true],
      [-300, true],
      [301, false],
      [-301, false],
    ] as const) {
      assert.equal(await verifyWebhookV1a({ ...genuine, nowSeconds: Number(TIME) + offset }), expected, String(offset))
    }
    assert.equal(await verifyWebhookV1a({ ...genuine, nowSeconds: Number.NaN }), false)
  })
})
