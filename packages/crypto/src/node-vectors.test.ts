import assert from 'node:assert/strict'
import { createDecipheriv, hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EnvelopeError, type EnvelopePurpose, openEnvelope, sealEnvelope } from './index.ts'

interface Vector {
  name: string
  api_key: string
  op: EnvelopePurpose
  mv: string
  iat: number
  jti: string
  salt_hex: string
  nonce_hex: string
  header: string
  key_hex: string
  plaintext: string
  compact: string
}

type Refused = Pick<Vector, 'name' | 'api_key' | 'op' | 'compact'> & { reason: string }

interface Published {
  vectors: Vector[]
  refused: Refused[]
}

const file = new URL('../../../docs/node-test-vectors.json', import.meta.url)
const { vectors, refused } = JSON.parse(readFileSync(file, 'utf8')) as Published

const bytes = (hex: string) => Buffer.from(hex, 'hex')

const toEnvelope = ({ op, mv, iat, jti, plaintext }: Vector) => ({
  purpose: op,
  modelVersion: mv,
  issuedAt: iat,
  id: jti,
  text: plaintext,
})

test('the published vectors cover every envelope of a request and of a reply, a text beyond ASCII and four refusals', () => {
  const purposes = new Set<string>(vectors.map(({ op }) => op))
  assert.deepEqual([...purposes].sort(), ['deleteUser', 'enroll', 'guid', 'predict', 'puid'])
  assert.ok(vectors.some(({ plaintext }) => Buffer.byteLength(plaintext) > plaintext.length))
  assert.deepEqual(
    refused.map(({ name }) => name),
    ['wrong-key', 'changed-header', 'wrong-op-in-derivation', 'truncated-tag'],
  )
})

for (const vector of vectors) {
  const { name, api_key, op, mv, iat, salt_hex, nonce_hex, header, key_hex, plaintext, compact } = vector

  test(`the published vector ${name} is reproduced byte for byte`, async () => {
    const fixed = { salt: bytes(salt_hex), nonce: bytes(nonce_hex) }
    assert.equal(await sealEnvelope(api_key, toEnvelope(vector), fixed), compact)
  })

  test(`the published vector ${name} opens to its plaintext`, async () => {
    const window = { nowSeconds: iat, seconds: 0 }
    const opened = await openEnvelope(api_key, compact, { purposes: [op], modelVersion: mv, window })
    assert.deepEqual(opened, toEnvelope(vector))
  })

  test(`the published vector ${name} opens with its derived key and AES-256-GCM alone`, () => {
    const [first = '', wrapped, nonce = '', content = '', tag = ''] = compact.split('.')
    const key = Buffer.from(hkdfSync('sha256', api_key, bytes(salt_hex), `ostiary/node/v1/${op}`, 32))
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(first))
      .setAuthTag(Buffer.from(tag, 'base64url'))
    const text = Buffer.concat([decipher.update(content, 'base64url'), decipher.final()]).toString()
    assert.deepEqual(
      { header: Buffer.from(first, 'base64url').toString(), wrapped, key: key.toString('hex'), text },
      { header, wrapped: '', key: key_hex, text: plaintext },
    )
  })
}

for (const { name, reason, api_key, op, compact } of refused) {
  test(`the published vector ${name} is refused, because ${reason}`, async () => {
    const fault = name === 'truncated-tag' ? 'format' : 'key'
    await assert.rejects(
      openEnvelope(api_key, compact, { purposes: [op] }),
      (error: unknown) => error instanceof EnvelopeError && error.fault === fault,
    )
  })
}
