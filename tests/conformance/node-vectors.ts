/**
 * `node tests/conformance/node-vectors.ts` writes docs/node-test-vectors.json, the published test vectors of area E's encryption version 1;
 * `--check` fails when the file differs. The envelopes come from @ostiary/crypto, the keys beside them from node:crypto.
 */
import { createCipheriv, createHash, hkdfSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { type EnvelopePurpose, sealEnvelope } from '@ostiary/crypto'
import { ROOT } from '@ostiary/testkit/run'

const PATH = 'docs/node-test-vectors.json'
const API_KEY = 'ost_test_this-is-the-key-of-the-published-test-vectors'
const ISSUED_AT = 1_794_700_800
const PERSON = '019a7c1e-5b00-7a40-8000-00000000a001'
const GROUP = '019a7c1e-5b00-7a40-8000-00000000b001'

interface Content {
  name: string
  op: EnvelopePurpose
  mv: string
  plaintext: string
}

const CONTENTS: readonly Content[] = [
  { name: 'enroll', op: 'enroll', mv: 'FACE3_1', plaintext: features('face', 'face') },
  // "type" is any text: this one has two, three and four bytes to a character.
  { name: 'predict-non-ascii', op: 'predict', mv: 'FACE3_1', plaintext: features('Gesicht für 顔 😀') },
  { name: 'delete-user', op: 'deleteUser', mv: 'FACE3_1', plaintext: PERSON },
  { name: 'reply-puid', op: 'puid', mv: 'FACE3_1', plaintext: PERSON },
  { name: 'reply-guid', op: 'guid', mv: 'FACE3_1', plaintext: GROUP },
  { name: 'reply-puid-other-model', op: 'puid', mv: 'FACE3_3', plaintext: PERSON },
]

type Vector = Awaited<ReturnType<typeof makeVector>>

async function makeVector({ name, op, mv, plaintext }: Content) {
  const salt = bytesFor(`${name}/salt`, 16)
  const nonce = bytesFor(`${name}/nonce`, 12)
  const jti = `vector-${name}`
  const envelope = { purpose: op, modelVersion: mv, issuedAt: ISSUED_AT, id: jti, text: plaintext }
  const compact = await sealEnvelope(API_KEY, envelope, { salt, nonce })
  return {
    name,
    api_key: API_KEY,
    op,
    mv,
    iat: ISSUED_AT,
    jti,
    salt_hex: salt.toString('hex'),
    nonce_hex: nonce.toString('hex'),
    header: headerOf(compact),
    key_hex: deriveKey(salt, op).toString('hex'),
    plaintext,
    compact,
  }
}

/** Envelopes that must be refused. Each is the first vector with one fault. */
function makeRefused(vector: Vector) {
  const { api_key, op, compact } = vector
  const parts = compact.split('.')
  const relabelled = encode(vector.header.replace(vector.jti, `${vector.jti}-changed`))
  return [
    { name: 'wrong-key', reason: 'it was made with another API key', api_key: `${api_key}x`, op, compact },
    {
      name: 'changed-header',
      reason: 'jti was changed after the encryption, and the header is authenticated',
      api_key,
      op,
      compact: parts.with(0, relabelled).join('.'),
    },
    {
      name: 'wrong-op-in-derivation',
      reason: 'the header says enroll, but the key was derived for predict',
      api_key,
      op,
      compact: sealWith(deriveKey(Buffer.from(vector.salt_hex, 'hex'), 'predict'), vector),
    },
    {
      name: 'truncated-tag',
      reason: 'the tag was cut to 12 bytes, and only 16 are taken',
      api_key,
      op,
      compact: parts.with(4, (parts[4] ?? '').slice(0, 16)).join('.'),
    },
  ]
}

async function makeDocument(): Promise<string> {
  const vectors = await Promise.all(CONTENTS.map(makeVector))
  const [first] = vectors
  if (!first) throw new Error('There are no vectors')
  const document = {
    title: 'Test vectors of the encryption, version 1, of the biometric node',
    about:
      'Made by tests/conformance/node-vectors.ts. The API key is invented and opens nothing. Each of "vectors" opens with its API key ' +
      'to its plaintext, and is made again byte for byte from header, nonce and key_hex. Nothing opens one of "refused". ' +
      'Texts are UTF-8. Take a new salt and a new nonce for every real envelope.',
    encryption_version: 1,
    vectors,
    refused: makeRefused(first),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** RFC 5869, computed apart from @ostiary/crypto so that the two check each other. */
function deriveKey(salt: Buffer, op: EnvelopePurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', API_KEY, salt, `ostiary/node/v1/${op}`, 32))
}

/** The vector's envelope under another key, by AES-256-GCM alone. */
function sealWith(key: Buffer, { header, nonce_hex, plaintext }: Vector): string {
  const nonce = Buffer.from(nonce_hex, 'hex')
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(encode(header)))
  const content = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return [header, '', nonce, content, cipher.getAuthTag()].map(encode).join('.')
}

/** Feature objects of 128 entries, as FACE3_1 takes them. */
function features(...types: string[]): string {
  const list = types.map((type, at) => ({
    type,
    embedding_vector: Array.from({ length: 128 }, (_, i) => (((i + 1) * (37 + at)) % 64) / 64 - 0.5),
  }))
  return JSON.stringify(list)
}

/** Bytes with an obvious pattern, so that nobody suspects a hidden choice. */
function bytesFor(label: string, count: number): Buffer {
  return createHash('sha256').update(`ostiary/test-vector/${label}`).digest().subarray(0, count)
}

function headerOf(compact: string): string {
  return Buffer.from(compact.split('.')[0] ?? '', 'base64url').toString()
}

function encode(value: string | Buffer): string {
  return Buffer.from(value).toString('base64url')
}

function readCurrent(): string {
  try {
    return readFileSync(`${ROOT}${PATH}`, 'utf8')
  } catch {
    return ''
  }
}

const text = await makeDocument()
const isCurrent = readCurrent() === text
if (process.argv.includes('--check')) {
  if (isCurrent) console.log('node-vectors: the published test vectors are up to date')
  else console.error(`${PATH} is out of date: run "node tests/conformance/node-vectors.ts"`)
  process.exitCode = isCurrent ? 0 : 1
} else if (!isCurrent) {
  writeFileSync(`${ROOT}${PATH}`, text)
  console.log(`wrote ${PATH}`)
}
