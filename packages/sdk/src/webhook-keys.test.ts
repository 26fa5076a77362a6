import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import type { WebhookPublicKey } from '@ostiary/contract'
import { signStandardWebhook, signWebhook, standardWebhookSecret } from '@ostiary/crypto'
import { createWebhookVerifier, fetchedWebhookKeys, OstiaryError } from './index.ts'

const BODY = '{"flowStatus":"COMPLETED"}'
const TENANT = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
const now = () => Math.floor(Date.now() / 1000)

interface Pair {
  jwk: WebhookPublicKey
  privateKey: KeyObject
}

function newPair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const kid = createHash('sha256').update(x).digest('base64url')
  return { jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }, privateKey }
}

/** What the service sends, signed by these pairs. */
async function webhook(pairs: readonly Pair[], { apiKey = 'ost_live_x', seconds = now() } = {}) {
  const [id, timestamp] = ['delivery-1', String(seconds)]
  const v1 = await signStandardWebhook(await standardWebhookSecret(apiKey), { id, timestamp, body: BODY })
  const message = Buffer.from(`${id}.${timestamp}.${BODY}`)
  const v1a = pairs.map(({ privateKey }) => `v1a,${sign(null, message, privateKey).toString('base64')}`)
  return {
    'x-service-timestamp': timestamp,
    'x-service-signature': await signWebhook(apiKey, timestamp, BODY),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': [v1, ...v1a].join(' '),
  }
}

describe('createWebhookVerifier', () => {
  const pair = newPair()
  const verifies = createWebhookVerifier({ keys: { keys: [pair.jwk] } })

  test('a webhook of the service is genuine, with headers of Node and of fetch', async () => {
    const headers = await webhook([pair])
    assert.equal(await verifies(headers, BODY), true)
    assert.equal(await verifies(new Headers(headers), new TextEncoder().encode(BODY)), true)
    assert.equal(await verifies(headers, `${BODY} `), false)
  })

  test('a forged webhook with valid signatures of a leaked API key is refused: v1a is demanded', async () => {
    assert.equal(await verifies(await webhook([]), BODY), false)
    assert.equal(await verifies(await webhook([newPair()]), BODY), false)
  })

  test('an old webhook, a header that came twice and a missing one are refused', async () => {
    assert.equal(await verifies(await webhook([pair], { seconds: now() - 400 }), BODY), false)
    const wide = createWebhookVerifier({ keys: { keys: [pair.jwk] }, toleranceSeconds: 600 })
    assert.equal(await wide(await webhook([pair], { seconds: now() - 400 }), BODY), true)
    const headers = await webhook([pair])
    assert.equal(await verifies({ ...headers, 'webhook-id': ['delivery-1', 'delivery-2'] }, BODY), false)
    assert.equal(await verifies({ ...headers, 'webhook-signature': undefined }, BODY), false)
  })
})

/** The service as `fetch` sees it. */
function service(pairs: readonly Pair[]) {
  const state = { pairs, isAway: false, asked: [] as string[], nowMs: 0 }
  const fetch = async (url: unknown) => {
    state.asked.push(String(url))
    if (state.isAway) throw new TypeError('fetch failed')
    const keys = state.pairs.map(({ jwk }) => jwk)
    return keys.length === 0 ? new Response('{}', { status: 404 }) : Response.json({ keys })
  }
  const source = fetchedWebhookKeys({
    baseUrl: 'https://ostiary.example/',
    tenantId: TENANT,
    fetch: fetch as typeof globalThis.fetch,
    clockMs: () => state.nowMs,
  })
  return { state, verifies: createWebhookVerifier({ keys: source }) }
}

describe('fetchedWebhookKeys', () => {
  test('reads the keys of the tenant once for five minutes, also for many webhooks at once', async () => {
    const pair = newPair()
    const { state, verifies } = service([pair])
    const headers = await webhook([pair])
    assert.deepEqual(await Promise.all([verifies(headers, BODY), verifies(headers, BODY)]), [true, true])
    state.nowMs = 299_999
    assert.equal(await verifies(headers, BODY), true)
    assert.deepEqual(state.asked, [`https://ostiary.example/.well-known/ostiary-webhook-keys/${TENANT}.json`])
    state.nowMs = 300_000
    await verifies(headers, BODY)
    assert.equal(state.asked.length, 2)
  })

  test('follows a rotation at once, and a retired key counts for five minutes at most', async () => {
    const [old, fresh] = [newPair(), newPair()]
    const { state, verifies } = service([old])
    assert.equal(await verifies(await webhook([old]), BODY), true)
    state.pairs = [fresh]
    state.nowMs = 30_000
    assert.equal(await verifies(await webhook([fresh]), BODY), true)
    assert.equal(await verifies(await webhook([old]), BODY), false)
  })

  test('a forger makes it ask at most twice a minute', async () => {
    const { state, verifies } = service([newPair()])
    const forged = await webhook([newPair()])
    for (state.nowMs = 0; state.nowMs < 60_000; state.nowMs += 1_000) assert.equal(await verifies(forged, BODY), false)
    assert.equal(state.asked.length, 2)
    const unsigned = await webhook([])
    state.nowMs = 600_000
    assert.equal(await verifies(unsigned, BODY), false)
    assert.equal(state.asked.length, 2, 'without v1a it asks for nothing')
  })

  test('while the service is away known keys count for an hour; without any the call rejects', async () => {
    const pair = newPair()
    const { state, verifies } = service([pair])
    const headers = await webhook([pair])
    state.isAway = true
    await assert.rejects(verifies(headers, BODY), OstiaryError)
    state.isAway = false
    assert.equal(await verifies(headers, BODY), true)
    state.isAway = true
    state.nowMs = 3_599_999
    assert.equal(await verifies(headers, BODY), true)
    state.nowMs = 3_600_000
    await assert.rejects(verifies(headers, BODY), OstiaryError)
  })

  test('a tenant without keys has no genuine webhook; keys are not read over http', async () => {
    const { verifies } = service([])
    assert.equal(await verifies(await webhook([newPair()]), BODY), false)
    for (const baseUrl of ['http://ostiary.example', 'ftp://localhost'])
      assert.throws(() => fetchedWebhookKeys({ baseUrl, tenantId: TENANT }), /https/)
  })
})
