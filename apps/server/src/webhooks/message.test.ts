import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiKeyHint, signStandardWebhook, signWebhook, standardWebhookSecret } from '@ostiary/crypto'
import { createIds, timeOfId } from '../platform/ids.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { endpointIdOf, firstIdOf, packCall, unpackCall } from './message.ts'
import { createSigner, createSigners } from './signer.ts'

test('a call comes out as it went in, to the byte', () => {
  const call = { url: 'https://host.example/ü?', headers: { a: 'b', 'x-é': '"' }, body: Buffer.from([0, 255, 10, 13]) }
  assert.deepEqual(unpackCall(packCall(call)), call)
  assert.deepEqual(unpackCall(packCall({ ...call, body: Buffer.of() })), { ...call, body: Buffer.of() })
})

test('a receiver is one origin of one tenant in one mode', () => {
  const one = endpointIdOf('t1', true, 'https://a.example')
  assert.match(one, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.equal(endpointIdOf('t1', true, 'https://a.example'), one)
  const others = [
    endpointIdOf('t2', true, 'https://a.example'),
    endpointIdOf('t1', false, 'https://a.example'),
    endpointIdOf('t1', true, 'https://b.example'),
    endpointIdOf('t1', true, 'https://a.example:8443'),
  ]
  assert.equal(new Set([one, ...others]).size, 5)
})

test('an id contains its time, and the first id of a moment comes before all ids of that moment', () => {
  const clock = createManualClock()
  const id = createIds(clock).next(1023)
  assert.deepEqual(timeOfId(id), clock.now())
  assert.ok(firstIdOf(clock.now()) < id)
  assert.ok(firstIdOf(new Date(clock.now().getTime() + 1)) > id)
  assert.equal(firstIdOf(new Date(-5)), '00000000-0000-0000-0000-000000000000')
})

test('signs as @ostiary/crypto does', async () => {
  const [key, timestamp, body] = ['ost_test_ü', '1794744000', Buffer.from('{"a":"ü"}')]
  const secret = await standardWebhookSecret(key)
  assert.deepEqual(createSigner(key)('id-1', timestamp, body), {
    own: await signWebhook(key, timestamp, body),
    standard: await signStandardWebhook(secret, { id: 'id-1', timestamp, body }),
    keys: apiKeyHint(key),
  })
})

test('signs bodies of any size with keys of any length, one after the other', async () => {
  const keys = ['k', 'ost_live_'.padEnd(64, 'a'), 'ost_live_'.padEnd(65, 'ü')]
  const signers = keys.map(createSigner)
  const timestamp = '1794744000'
  for (const size of [0, 1, 55, 56, 63, 64, 65, 600, 16_272, 16_273, 16_384, 100_000]) {
    const body = Buffer.alloc(size, `{"size":${size}}`)
    for (const [index, key] of keys.entries()) {
      const id = `0199b1c2-0000-7000-8000-${String(size).padStart(12, '0')}`
      const { own, standard } = signers[index]?.(id, timestamp, body) ?? {}
      assert.equal(own, await signWebhook(key, timestamp, body))
      const secret = await standardWebhookSecret(key)
      assert.equal(standard, await signStandardWebhook(secret, { id, timestamp, body }))
    }
  }
})

test('a key is opened once, and again if the first try failed', async () => {
  const opened: string[] = []
  let isAway = true
  const signerOf = createSigners({
    async openKey(tenantId, keyId) {
      opened.push(`${tenantId}/${keyId}`)
      if (isAway) throw new Error('away')
      return 'the key'
    },
  })
  await assert.rejects(async () => signerOf('t', 'k'), /away/)
  isAway = false
  const [one, two] = await Promise.all([signerOf('t', 'k'), signerOf('t', 'k')])
  assert.equal(one, two)
  assert.equal(await signerOf('t', 'k'), one)
  assert.deepEqual(opened, ['t/k', 't/k'])
})
