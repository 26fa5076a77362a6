import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Envelope, EnvelopeError, type EnvelopeFault, openEnvelope, sealEnvelope } from './index.ts'

const KEY = 'ost_test_this-is-the-key-of-the-published-test-vectors'
const NOW = 1_794_700_800
const envelope: Envelope = {
  purpose: 'enroll',
  modelVersion: 'FACE3_1',
  issuedAt: NOW,
  id: 'vector-1',
  text: '[1,"ä"]',
}
const expected = { purposes: ['enroll'], modelVersion: 'FACE3_1', window: { nowSeconds: NOW, seconds: 300 } } as const

const fails = (fault: EnvelopeFault) => (error: unknown) => error instanceof EnvelopeError && error.fault === fault

test('a sealed text opens again, and two envelopes of the same text have nothing in common', async () => {
  const [one, two] = [await sealEnvelope(KEY, envelope), await sealEnvelope(KEY, envelope)]
  assert.deepEqual(await openEnvelope(KEY, one, expected), envelope)
  assert.deepEqual(await openEnvelope(KEY, two, expected), envelope)
  assert.notEqual(one.split('.')[0], two.split('.')[0])
  assert.notEqual(one.split('.')[3], two.split('.')[3])
})

test('another key, another purpose, another model version and another time do not open it', async () => {
  const compact = await sealEnvelope(KEY, envelope)
  const late = { nowSeconds: NOW + 301, seconds: 300 }
  const early = { nowSeconds: NOW - 301, seconds: 300 }
  await assert.rejects(openEnvelope(`${KEY}x`, compact, expected), fails('key'))
  await assert.rejects(openEnvelope(KEY, compact, { ...expected, purposes: ['predict'] }), fails('purpose'))
  await assert.rejects(openEnvelope(KEY, compact, { ...expected, modelVersion: 'FACE3_3' }), fails('model version'))
  await assert.rejects(openEnvelope(KEY, compact, { ...expected, window: late }), fails('time'))
  await assert.rejects(openEnvelope(KEY, compact, { ...expected, window: early }), fails('time'))
})

test('a changed header, nonce, text or tag does not open: all of them are authenticated', async () => {
  const parts = (await sealEnvelope(KEY, envelope)).split('.')
  for (const index of [2, 3, 4]) {
    const changed = parts.with(index, flip(parts[index] ?? ''))
    await assert.rejects(openEnvelope(KEY, changed.join('.'), expected), fails('key'))
  }
  const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
  const relabelled = Buffer.from(JSON.stringify({ ...header, jti: 'vector-2' })).toString('base64url')
  await assert.rejects(openEnvelope(KEY, parts.with(0, relabelled).join('.'), expected), fails('key'))
})

test('bits that decoders ignore at the end of a part do not open either', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const text of ['a', 'ab', 'abc']) {
    const parts = (await sealEnvelope(KEY, { ...envelope, text })).split('.')
    for (const [index, part] of parts.entries()) {
      const same = part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1) ?? '') + 1]
      const isSame = part !== '' && Buffer.from(same, 'base64url').equals(Buffer.from(part, 'base64url'))
      assert.equal(isSame, part.length % 4 !== 0, `${text} ${index}`)
      if (isSame) await assert.rejects(openEnvelope(KEY, parts.with(index, same).join('.'), expected), fails('format'))
    }
  }
})

test('headers that name other algorithms, compress, or lack a field are refused before any key is derived', async () => {
  const parts = (await sealEnvelope(KEY, envelope)).split('.')
  const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
  const changes = [
    { alg: 'none' },
    { alg: 'A256KW' },
    { enc: 'A128GCM' },
    { v: 2 },
    { v: '1' },
    { zip: 'DEF' },
    { crit: ['exp'] },
    { salt: 'AAAA' },
    { salt: '****' },
    { salt: 5 },
    { iat: 'now' },
    { iat: null },
    { jti: '' },
    { jti: 'x'.repeat(129) },
    { mv: undefined },
    { op: undefined },
  ]
  for (const change of changes) {
    const first = Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url')
    await assert.rejects(openEnvelope(KEY, parts.with(0, first).join('.'), expected), fails('header'))
  }
})

test('text that is not a compact JWE is refused', async () => {
  const compact = await sealEnvelope(KEY, envelope)
  const texts = [
    '',
    '.',
    '....',
    'a.b.c.d.e',
    compact.slice(0, -1),
    `${compact}.x`,
    compact.replace('..', '.AAAA.'),
    '{}',
  ]
  for (const text of [...texts, `${'A'.repeat(3000)}${compact.slice(compact.indexOf('.'))}`]) {
    await assert.rejects(openEnvelope(KEY, text, expected), fails('format'))
  }
})

function flip(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return bytes.toString('base64url')
}
