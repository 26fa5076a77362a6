import assert from 'node:assert/strict'
import { createDecipheriv, createECDH, createHash } from 'node:crypto'
import { test } from 'node:test'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { CompactEncrypt, importJWK } from 'jose'
import { createSealKeyPair, openPayload, SealError, type SealFault, sealPayload } from './sealed-payload.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const LIMITS = { sessionId: SESSION, maxBytes: 4096, maxInflatedBytes: 16 * 1024 }
const HEADER = { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'ostiary-capture', sid: SESSION }
const payload = { v: 1, text: 'ä', frames: [{ t: 1 }, { t: 2 }] }

const keys = await createSealKeyPair()

const fails = (fault: SealFault) => (error: unknown) => error instanceof SealError && error.fault === fault

/** Seals any bytes under any header, as a client that we did not write might. */
async function sealed(content: Uint8Array, header: Record<string, unknown> = {}): Promise<string> {
  const key = await importJWK({ ...keys.publicJwk }, 'ECDH-ES')
  return new CompactEncrypt(content).setProtectedHeader({ ...HEADER, ...header }).encrypt(key)
}
const deflated = (text: string | Uint8Array) => new Uint8Array(deflateRawSync(text, { level: 9 }))

test('a sealed payload opens again, and two seals of the same payload have nothing in common', async () => {
  const [one, two] = await Promise.all([0, 1].map(() => sealPayload(keys.publicJwk, SESSION, payload)))
  assert.deepEqual(await openPayload(keys.privateJwk, one ?? '', LIMITS), payload)
  assert.deepEqual(await openPayload(keys.privateJwk, two ?? '', LIMITS), payload)
  for (const index of [0, 2, 3, 4]) assert.notEqual(one?.split('.')[index], two?.split('.')[index])
})

test('a sealed payload is a standard JWE: ECDH, Concat KDF, AES-256-GCM and inflate open it without our code', async () => {
  const compact = await sealPayload(keys.publicJwk, SESSION, payload)
  const [first = '', wrapped, nonce = '', content = '', tag = ''] = compact.split('.')
  const { epk, ...header } = JSON.parse(Buffer.from(first, 'base64url').toString())
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(keys.privateJwk.d, 'base64url')
  const point = Buffer.concat([Buffer.of(4), Buffer.from(epk.x, 'base64url'), Buffer.from(epk.y, 'base64url')])
  const number = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])
  // RFC 7518, 4.6.2: one round, the name of the content encryption, no party information, 256 bits.
  const info = Buffer.concat([number(7), Buffer.from('A256GCM'), number(0), number(0), number(256)])
  const key = createHash('sha256')
    .update(Buffer.concat([number(1), ecdh.computeSecret(point), info]))
    .digest()
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
    .setAAD(Buffer.from(first))
    .setAuthTag(Buffer.from(tag, 'base64url'))
  const plain = inflateRawSync(Buffer.concat([decipher.update(content, 'base64url'), decipher.final()]))
  assert.deepEqual([header, wrapped, JSON.parse(plain.toString())], [HEADER, '', payload])
})

test('a key pair is a new one each time, and only its private half has d', async () => {
  const other = await createSealKeyPair()
  assert.deepEqual(Object.keys(keys.publicJwk), ['kty', 'crv', 'x', 'y'])
  assert.deepEqual(Object.keys(keys.privateJwk), ['kty', 'crv', 'x', 'y', 'd'])
  assert.notEqual(other.privateJwk.d, keys.privateJwk.d)
})

test('another session’s payload is refused, whether it says so or is relabelled', async () => {
  const other = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b12'
  const compact = await sealPayload(keys.publicJwk, other, payload)
  await assert.rejects(openPayload(keys.privateJwk, compact, LIMITS), fails('session'))
  const [first = '', ...rest] = compact.split('.')
  const header = JSON.parse(Buffer.from(first, 'base64url').toString())
  const relabelled = Buffer.from(JSON.stringify({ ...header, sid: SESSION })).toString('base64url')
  await assert.rejects(openPayload(keys.privateJwk, [relabelled, ...rest].join('.'), LIMITS), fails('key'))
  const stranger = await createSealKeyPair()
  await assert.rejects(openPayload(stranger.privateJwk, await sealed(deflated('{}')), LIMITS), fails('key'))
})

test('a changed nonce, content, tag or key of the sender does not open', async () => {
  const parts = (await sealPayload(keys.publicJwk, SESSION, payload)).split('.')
  for (const index of [2, 3, 4]) {
    const bytes = Buffer.from(parts[index] ?? '', 'base64url')
    bytes[0] = (bytes[0] ?? 0) ^ 1
    const changed = parts.with(index, bytes.toString('base64url')).join('.')
    await assert.rejects(openPayload(keys.privateJwk, changed, LIMITS), fails('key'))
  }
  const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
  for (const epk of [{ ...header.epk, y: header.epk.x }, keys.publicJwk]) {
    const first = Buffer.from(JSON.stringify({ ...header, epk })).toString('base64url')
    await assert.rejects(openPayload(keys.privateJwk, parts.with(0, first).join('.'), LIMITS), fails('key'))
  }
})

test('headers with other algorithms, another type, compression, one member more or less are refused before any key is used', async () => {
  const parts = (await sealPayload(keys.publicJwk, SESSION, payload)).split('.')
  const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
  const changes = [
    { alg: 'dir' },
    { alg: 'ECDH-ES+A256KW' },
    { enc: 'A128GCM' },
    { typ: 'JWT' },
    { typ: undefined },
    { sid: undefined },
    { sid: 7 },
    { zip: 'DEF' },
    { crit: ['exp'] },
    { apu: 'AA' },
    { epk: undefined },
    { epk: null },
    { epk: 'x' },
    { epk: { ...header.epk, crv: 'P-384' } },
    { epk: { ...header.epk, d: 'AA' } },
    { epk: { ...header.epk, x: 'AA' } },
    { epk: { ...header.epk, y: 5 } },
  ]
  for (const change of changes) {
    const first = Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url')
    const text = parts.with(0, first).join('.')
    await assert.rejects(openPayload(keys.privateJwk, text, LIMITS), fails('header'), JSON.stringify(change))
  }
})

test('text that is not a compact JWE is refused', async () => {
  const compact = await sealPayload(keys.publicJwk, SESSION, payload)
  const notAnObject = `${Buffer.from('[]x').toString('base64url')}${compact.slice(compact.indexOf('.'))}`
  const texts = ['', '.', '....', 'a.b.c.d.e', compact.slice(0, -1), `${compact}.x`, `${compact}\n`, notAnObject, '{}']
  for (const text of texts) await assert.rejects(openPayload(keys.privateJwk, text, LIMITS), fails('format'), text)
})

test('a payload that is cut off at any length is refused', async () => {
  const compact = await sealPayload(keys.publicJwk, SESSION, payload)
  for (let length = 0; length < compact.length; length += 7) {
    await assert.rejects(openPayload(keys.privateJwk, compact.slice(0, length), LIMITS), SealError)
  }
})

test('a payload is refused from one byte over the limit', async () => {
  const compact = await sealPayload(keys.publicJwk, SESSION, payload)
  const open = (maxBytes: number) => openPayload(keys.privateJwk, compact, { ...LIMITS, maxBytes })
  assert.deepEqual(await open(compact.length), payload)
  await assert.rejects(open(compact.length - 1), fails('size'))
})

test('the inflated size has a limit to the byte', async () => {
  const text = JSON.stringify('x'.repeat(LIMITS.maxInflatedBytes - 2))
  assert.equal(await openPayload(keys.privateJwk, await sealed(deflated(text)), LIMITS), JSON.parse(text))
  await assert.rejects(openPayload(keys.privateJwk, await sealed(deflated(`${text} `)), LIMITS), fails('inflated'))
})

test('a decompression bomb is not expanded: inflating stops just above the limit', async (context) => {
  const bomb = await sealed(deflated(new Uint8Array(2_500_000)))
  assert.ok(bomb.length < LIMITS.maxBytes, `${bomb.length} bytes carry 2.5 MB`)
  let inflated = 0
  const Inflating = DecompressionStream
  class Counted {
    readonly readable
    readonly writable
    constructor(format: 'deflate-raw') {
      const { readable, writable } = new Inflating(format)
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          inflated += chunk.length
          controller.enqueue(chunk)
        },
      })
      this.writable = writable
      this.readable = readable.pipeThrough(counter)
    }
  }
  context.mock.property(globalThis, 'DecompressionStream', Counted)
  await assert.rejects(openPayload(keys.privateJwk, bomb, LIMITS), fails('inflated'))
  assert.ok(inflated > LIMITS.maxInflatedBytes && inflated <= 8 * LIMITS.maxInflatedBytes, `${inflated} bytes`)
})

test('content that is not deflated, is cut off or goes on after its end is refused', async () => {
  const good = deflated('{"a":1}')
  const contents = [
    new TextEncoder().encode('{"a":1}'),
    new Uint8Array(),
    good.subarray(0, -1),
    Buffer.concat([good, Buffer.of(0)]),
    Buffer.concat([good, good]),
  ]
  for (const content of contents) {
    await assert.rejects(openPayload(keys.privateJwk, await sealed(content), LIMITS), fails('inflated'))
  }
})

test('content that is not one JSON value in UTF-8 is refused', async () => {
  for (const text of ['', '{"a":', '{} {}', '\ufeff{}', Uint8Array.of(0x22, 0xff, 0x22)]) {
    await assert.rejects(openPayload(keys.privateJwk, await sealed(deflated(text)), LIMITS), fails('json'))
  }
})
