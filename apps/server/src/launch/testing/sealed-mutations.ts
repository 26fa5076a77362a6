/** Submits whose sealed text is not what an honest device sends. None may be opened. Only tests import this. */
import { randomBytes } from 'node:crypto'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { CapturePayload, DeviceKey } from '@ostiary/contract'
import { createSealKeyPair, sealPayload } from '@ostiary/crypto'
import { CompactEncrypt, importJWK } from 'jose'

/** A good submission, and one of another session that is open at the same time. */
export interface Good {
  sessionId: string
  sealKey: DeviceKey
  payload: CapturePayload
  sealed: string
  stranger: { sessionId: string; sealKey: DeviceKey; payload: CapturePayload; sealed: string }
}

export interface Refused {
  name: string
  /** The body of the submit, beside the session's id. */
  body: (good: Good) => object | Promise<object>
  status: number
  code: string
}

const unreadable = { status: 400, code: 'INVALID_PAYLOAD' }
const malformed = { status: 400, code: 'VALIDATION_FAILED' }
const tooLarge = { status: 413, code: 'PAYLOAD_TOO_LARGE' }

const text = (name: string, change: (sealed: string, good: Good) => string | Promise<string>): Refused => ({
  name,
  body: async (good) => ({ sealed: await change(good.sealed, good) }),
  ...unreadable,
})

const PARTS = ['header', 'encrypted key', 'nonce', 'ciphertext', 'tag'] as const

/** Changes one of the five parts and keeps the rest. */
function part(index: number, name: string, change: (part: string) => string): Refused {
  return text(`${PARTS[index]}: ${name}`, (sealed) =>
    sealed
      .split('.')
      .map((one, at) => (at === index ? change(one) : one))
      .join('.'),
  )
}

const flipped = (index: number, share: number) =>
  part(index, `a bit changed at ${Math.round(share * 100)} %`, (encoded) => {
    const bytes = Buffer.from(encoded, 'base64url')
    const at = Math.min(bytes.length - 1, Math.floor(bytes.length * share))
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    return bytes.toString('base64url')
  })

const FLIPS: Refused[] = [
  ...[0, 0.1, 0.3, 0.5, 0.7, 0.9, 1].map((share) => flipped(0, share)),
  ...[0, 0.5, 1].map((share) => flipped(2, share)),
  ...[0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => flipped(3, share)),
  ...[0, 0.5, 1].map((share) => flipped(4, share)),
]

const CUTS: Refused[] = [
  text('only its first letter', (sealed) => sealed.slice(0, 1)),
  text('the first half', (sealed) => sealed.slice(0, sealed.length / 2)),
  text('all but the last letter', (sealed) => sealed.slice(0, -1)),
  text('without its tag', (sealed) => sealed.split('.').slice(0, 4).join('.')),
  part(0, 'left out', () => ''),
  part(1, 'one that does not belong there', () => 'AAAA'),
  part(2, 'left out', () => ''),
  part(3, 'left out', () => ''),
  part(3, 'cut by a byte', (one) => Buffer.from(one, 'base64url').subarray(0, -1).toString('base64url')),
  part(4, 'left out', () => ''),
  text('a sixth part', (sealed) => `${sealed}.AAAA`),
  text('a line break after it', (sealed) => `${sealed}\n`),
  text('a space before it', (sealed) => ` ${sealed}`),
  text('padding after it', (sealed) => `${sealed}==`),
  text('twice in a row', (sealed) => sealed + sealed),
]

const CLEAR: Refused[] = [
  text('the payload in clear', (_, { payload }) => JSON.stringify(payload).slice(0, 4000)),
  text('the payload in base64', (_, { payload }) => Buffer.from(JSON.stringify(payload.log)).toString('base64url')),
  text('letters of no alphabet', () => '💥'),
  text('a JWS', () => 'eyJhbGciOiJub25lIn0.e30.'),
]

const TYPES: Refused[] = [5, true, null, [], {}, ['a'], ''].map((sealed) => ({
  name: `sealed is ${JSON.stringify(sealed)}`,
  body: () => ({ sealed }),
  ...malformed,
}))

const BODIES: Refused[] = [
  { name: 'no sealed text at all', body: () => ({}), ...malformed },
  { name: 'a field that nobody asked for', body: ({ sealed }) => ({ sealed, verdict: 'ABOVE' }), ...malformed },
  { name: 'the capture beside it in clear', body: ({ sealed, payload }) => ({ sealed, payload }), ...malformed },
  { name: 'the session of a stranger', body: ({ sealed }) => ({ sealed, sessionId: 'nobody' }), ...malformed },
  { name: '4,097 letters', body: () => ({ sealed: 'A'.repeat(4_097) }), ...tooLarge },
  { name: '33,000 letters', body: () => ({ sealed: 'A'.repeat(33_000) }), ...tooLarge },
  {
    name: 'a good capture with so much metadata that it is too large',
    body: async ({ sealKey, sessionId, payload }) => ({
      sealed: await sealPayload(sealKey, sessionId, {
        ...payload,
        metadata: { noise: randomBytes(3_000).toString('hex') },
      }),
    }),
    ...tooLarge,
  },
]

type Header = Parameters<CompactEncrypt['setProtectedHeader']>[0]

async function sealBytes(
  { sealKey, sessionId }: Good,
  bytes: Uint8Array,
  header: Partial<Header> = {},
): Promise<string> {
  const honest = { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'ostiary-capture', sid: sessionId }
  const key = await importJWK({ ...sealKey }, header.alg ?? honest.alg)
  return new CompactEncrypt(bytes).setProtectedHeader({ ...honest, ...header }).encrypt(key)
}

const jsonOf = ({ payload }: Good) => Buffer.from(JSON.stringify(payload))
const sealedWith = (name: string, header: (good: Good) => Partial<Header>) =>
  text(`sealed with ${name}`, (_, good) => sealBytes(good, deflateRawSync(jsonOf(good)), header(good)))

const HEADERS: Refused[] = [
  sealedWith('key wrapping', () => ({ alg: 'ECDH-ES+A256KW' })),
  sealedWith('a shorter cipher', () => ({ enc: 'A128GCM' })),
  sealedWith('an older cipher', () => ({ enc: 'A256CBC-HS512' })),
  sealedWith('another type', () => ({ typ: 'JWT' })),
  sealedWith('an empty type', () => ({ typ: '' })),
  sealedWith('no session', () => ({ sid: undefined })),
  sealedWith('a session that is a number', () => ({ sid: 7 })),
  sealedWith('the session of a stranger', ({ stranger }) => ({ sid: stranger.sessionId })),
  sealedWith('the session in capitals', ({ sessionId }) => ({ sid: sessionId.toUpperCase() })),
  sealedWith('a key id', () => ({ kid: '1' })),
  sealedWith('a content type', () => ({ cty: 'JWT' })),
]

/** The header exchanged after sealing: the content is authenticated together with it. */
function rewritten(name: string, change: (header: Record<string, unknown>) => unknown): Refused {
  return part(0, name, (encoded) => {
    const header: Record<string, unknown> = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    return Buffer.from(JSON.stringify(change(header))).toString('base64url')
  })
}
const withPoint = (change: (point: object) => unknown) => (header: Record<string, unknown>) => ({
  ...header,
  epk: change({ ...Object(header.epk) }),
})

const REWRITTEN: Refused[] = [
  rewritten('no algorithm', (header) => ({ ...header, alg: 'none' })),
  rewritten('a shared key', (header) => ({ ...header, alg: 'dir' })),
  rewritten('the same in another order', (header) => Object.fromEntries(Object.entries(header).toReversed())),
  rewritten('compressed by the format', (header) => ({ ...header, zip: 'DEF' })),
  rewritten('something critical', (header) => ({ ...header, crit: ['exp'] })),
  rewritten('a list', (header) => [header]),
  rewritten('null', () => null),
  rewritten(
    'no point',
    withPoint(() => undefined),
  ),
  rewritten(
    'the point at zero',
    withPoint((point) => ({ ...point, x: 'A'.repeat(43), y: 'A'.repeat(43) })),
  ),
  rewritten(
    'another point',
    withPoint((point) => ({ ...point, x: 'B'.repeat(43) })),
  ),
  rewritten(
    'another curve',
    withPoint((point) => ({ ...point, crv: 'P-384' })),
  ),
  rewritten(
    'a private key',
    withPoint((point) => ({ ...point, d: 'A'.repeat(43) })),
  ),
  part(0, 'not JSON', () => Buffer.from('{').toString('base64url')),
]

const content = (name: string, make: (good: Good) => Uint8Array) =>
  text(`content: ${name}`, (_, good) => sealBytes(good, make(good)))
const deflated = (name: string, make: (good: Good) => string | Buffer) =>
  content(name, (good) => deflateRawSync(make(good)))

const CONTENTS: Refused[] = [
  content('not compressed', jsonOf),
  content('compressed with a header', (good) => deflateSync(jsonOf(good))),
  content('compressed by gzip', (good) => gzipSync(jsonOf(good))),
  content('cut off', (good) => deflateRawSync(jsonOf(good)).subarray(0, -3)),
  content('with something behind its end', (good) => Buffer.concat([deflateRawSync(jsonOf(good)), Buffer.from('x')])),
  content('nothing', () => Buffer.alloc(0)),
  content('noise', () => randomBytes(700)),
  deflated('compressed twice', (good) => deflateRawSync(jsonOf(good))),
  deflated('a megabyte of zeros', () => Buffer.alloc(1_000_000)),
  deflated('a good capture after 16 KB of spaces', (good) => `${' '.repeat(16 * 1024)}${jsonOf(good)}`),
  deflated('a good capture with 20 KB of metadata', (good) =>
    JSON.stringify({ ...good.payload, metadata: { a: 'a'.repeat(20_000) } }),
  ),
  deflated('text that is not UTF-8', () => Buffer.from([0x7b, 0xff, 0xfe, 0x7d])),
  deflated('a byte order mark before it', (good) => `\ufeff${jsonOf(good)}`),
  deflated('an empty text', () => ''),
  deflated('half of it', (good) => jsonOf(good).subarray(0, 300)),
  deflated('two of it', (good) => `${jsonOf(good)}${jsonOf(good)}`),
  deflated('null', () => 'null'),
  deflated('a number', () => '42'),
  deflated('a text', () => '"AGE_ABOVE_THRESHOLD"'),
  deflated('a list', (good) => `[${jsonOf(good)}]`),
  deflated('an empty object', () => '{}'),
]

const KEYS: Refused[] = [
  text('sealed to a key of one’s own', async (_, { sessionId, payload }) =>
    sealPayload((await createSealKeyPair()).publicJwk, sessionId, payload),
  ),
  text('sealed to the key of a stranger', (_, { sessionId, payload, stranger }) =>
    sealPayload(stranger.sealKey, sessionId, payload),
  ),
  text('the submission of a stranger', (_, { stranger }) => stranger.sealed),
  text('the payload of a stranger, sealed to the right key', (_, { sealKey, sessionId, stranger }) =>
    sealPayload(sealKey, sessionId, stranger.payload),
  ),
]

export const SEALED_MUTATIONS: readonly Refused[] = [
  ...[FLIPS, CUTS, CLEAR, TYPES, BODIES, HEADERS, REWRITTEN, CONTENTS, KEYS].flat(),
]
