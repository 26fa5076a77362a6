import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { signStandardWebhook, signWebhook, standardWebhookSecret, verifyWebhook } from './webhook-signature.ts'

const KEY = 'ost_test_0a_example-key-for-tests'
const TIME = '1794744000'
const BODY = '{"status":"ok","name":"Grüße 😀"}'

/** Computes the signature with another library and assembles the parts in another way. */
const independent = (key: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(Buffer.from(text)).digest(encoding)

describe('signWebhook', () => {
  test('[C-058] [C-059] is sha256= and the hex of HMAC-SHA256 over timestamp, dot and raw body', async () => {
    const signature = await signWebhook(KEY, TIME, BODY)
    assert.equal(signature, `sha256=${independent(KEY, `${TIME}.${BODY}`, 'hex')}`)
    assert.match(signature, /^sha256=[0-9a-f]{64}$/)
  })

  test('a fixed value, so that other languages can check theirs', async () => {
    assert.equal(await signWebhook('key', '1700000000', '{}'), `sha256=${independent('key', '1700000000.{}', 'hex')}`)
    assert.equal(
      await signWebhook('key', '1700000000', '{}'),
      'sha256=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae',
    )
  })

  test('signs bytes unchanged, also bytes that are not text', async () => {
    const bytes = Uint8Array.of(0, 255, 254, 10, 13)
    const expected = createHmac('sha256', KEY).update(`${TIME}.`).update(bytes).digest('hex')
    assert.equal(await signWebhook(KEY, TIME, bytes), `sha256=${expected}`)
    assert.equal(await signWebhook(KEY, TIME, new TextEncoder().encode(BODY)), await signWebhook(KEY, TIME, BODY))
  })
})

describe('verifyWebhook', () => {
  const genuine = async () => ({
    apiKey: KEY,
    timestamp: TIME,
    signature: await signWebhook(KEY, TIME, BODY),
    body: BODY,
  })

  test('accepts a genuine signature, also in capital letters', async () => {
    const received = await genuine()
    assert.equal(await verifyWebhook(received), true)
    const [prefix = '', hex = ''] = received.signature.split('=')
    assert.equal(await verifyWebhook({ ...received, signature: `${prefix}=${hex.toUpperCase()}` }), true)
  })

  test('accepts a signature by any key of a list, and by none of an empty one', async () => {
    const received = await genuine()
    assert.equal(await verifyWebhook({ ...received, apiKey: ['ost_test_other', KEY] }), true)
    assert.equal(await verifyWebhook({ ...received, apiKey: ['ost_test_other', 'ost_test_third'] }), false)
    assert.equal(await verifyWebhook({ ...received, apiKey: [] }), false)
    assert.equal(
      await verifyWebhook({ ...received, apiKey: [KEY, ''] }),
      false,
      'an empty key is a mistake in the list',
    )
  })

  test('[C-061] refuses another body, timestamp or key', async () => {
    const received = await genuine()
    for (const change of [
      { body: `${BODY} ` },
      { body: BODY.replace('ok', 'ko') },
      { body: '' },
      { timestamp: '1794744001' },
      { apiKey: `${KEY}x` },
    ]) {
      assert.equal(await verifyWebhook({ ...received, ...change }), false, JSON.stringify(change))
    }
  })

  test('refuses a signature with any bit changed, cut, prolonged or of another form', async () => {
    const received = await genuine()
    const hex = received.signature.slice('sha256='.length)
    for (let at = 0; at < hex.length; at++) {
      const other = (Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16)
      const changed = `sha256=${hex.slice(0, at)}${other}${hex.slice(at + 1)}`
      assert.equal(await verifyWebhook({ ...received, signature: changed }), false, `digit ${at}`)
    }
    for (const signature of [
      hex,
      `sha256=${hex.slice(2)}`,
      `sha256=${hex}00`,
      `sha1=${hex}`,
      'sha256=',
      '',
      null,
      undefined,
    ]) {
      assert.equal(await verifyWebhook({ ...received, signature }), false, String(signature))
    }
  })

  test('refuses a missing or malformed timestamp or key, even where the signature matches', async () => {
    for (const timestamp of ['', 'soon', '-1', '1e9', ' 1794744000', '17947440001794744000']) {
      const signature = await signWebhook(KEY, timestamp, BODY)
      assert.equal(await verifyWebhook({ apiKey: KEY, timestamp, signature, body: BODY }), false, timestamp)
    }
    const received = await genuine()
    assert.equal(await verifyWebhook({ ...received, timestamp: null }), false)
    assert.equal(await verifyWebhook({ ...received, apiKey: '' }), false)
  })

  test('with the current time, accepts five minutes either way and not a second more', async () => {
    const received = await genuine()
    const at = Number(TIME)
    for (const [offset, expected] of [
      [300, true],
      [-300, true],
      [301, false],
      [-301, false],
    ] as const) {
      assert.equal(await verifyWebhook({ ...received, nowSeconds: at + offset }), expected, String(offset))
    }
    assert.equal(await verifyWebhook({ ...received, nowSeconds: at + 11, toleranceSeconds: 10 }), false)
    assert.equal(await verifyWebhook({ ...received, nowSeconds: at + 10, toleranceSeconds: 10 }), true)
  })
})

describe('Standard Webhooks', () => {
  test('the secret is derived from the API key and does not contain it', async () => {
    const secret = await standardWebhookSecret(KEY)
    assert.equal(secret, `whsec_${independent(KEY, 'ostiary/standard-webhooks/v1', 'base64')}`)
    assert.notEqual(await standardWebhookSecret(`${KEY}x`), secret)
  })

  test('signs id, timestamp and body as the standard says', async () => {
    const secret = await standardWebhookSecret(KEY)
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    assert.equal(key.length, 32)
    const expected = createHmac('sha256', key).update(`msg_1.${TIME}.${BODY}`).digest('base64')
    assert.equal(await signStandardWebhook(secret, { id: 'msg_1', timestamp: TIME, body: BODY }), `v1,${expected}`)
    await assert.rejects(signStandardWebhook('secret', { id: 'msg_1', timestamp: TIME, body: BODY }), TypeError)
  })

  test('agrees with the example of the standard’s own libraries', async () => {
    const signature = await signStandardWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: '1614265330',
      body: '{"test": 2432232314}',
    })
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})
