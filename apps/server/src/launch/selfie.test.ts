import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERIFICATION_LIMITS } from '@ostiary/contract'
import { createSealKeyPair, sealPayload } from '@ostiary/crypto'
import { AppError } from '../platform/errors.ts'
import { newProgress } from '../sessions/index.ts'
import { jpegOf, openSelfie } from './selfie.ts'
import { sessionAt } from './testing/session.ts'

/** The first and the last bytes of a JPEG, with any bytes between them. */
function picture(bytes: number): Buffer {
  const made = Buffer.alloc(bytes, 7)
  made.set([0xff, 0xd8, 0xff])
  made.set([0xff, 0xd9], bytes - 2)
  return made
}
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

test('one JPEG of an allowed size is accepted unchanged', () => {
  for (const bytes of [5, 1_000, VERIFICATION_LIMITS.selfieBytes]) {
    const jpeg = base64(picture(bytes))
    assert.equal(jpegOf({ jpeg }), jpeg)
  }
})

test('anything else is refused', () => {
  const good = picture(300)
  const png = Buffer.from(good)
  png.set([0x89, 0x50])
  const cut = good.subarray(0, 299)
  const others: unknown[] = [
    { jpeg: base64(png) },
    { jpeg: base64(cut) },
    { jpeg: base64(picture(VERIFICATION_LIMITS.selfieBytes + 1)) },
    { jpeg: `data:image/jpeg;base64,${base64(good)}` },
    { jpeg: `${base64(good)}\n` },
    { jpeg: '' },
    { jpeg: [...good] },
    { jpeg: base64(good), name: 'x' },
    { png: base64(good) },
    base64(good),
    null,
    7,
  ]
  for (const content of others) assert.equal(jpegOf(content), undefined, JSON.stringify(content)?.slice(0, 60))
})

test('a selfie is opened with the session’s key, or refused without a reason', async () => {
  const session = sessionAt('FACE_ACTIVE')
  const { publicJwk, privateJwk } = await createSealKeyPair()
  const progress = { ...newProgress('en'), sealKey: privateJwk }
  const jpeg = base64(picture(300))
  const sealed = await sealPayload(publicJwk, session.sessionId, { jpeg })
  assert.equal(await openSelfie(session, progress, sealed), jpeg)
  const huge = await sealPayload(publicJwk, session.sessionId, { jpeg: 'A'.repeat(400_000) })
  const foreign = await sealPayload((await createSealKeyPair()).publicJwk, session.sessionId, { jpeg })
  const other = await sealPayload(publicJwk, '079b6cd9-f993-81a6-95fd-000000000009', { jpeg })
  for (const [text, code] of [
    [huge, 'PAYLOAD_TOO_LARGE'],
    [foreign, 'INVALID_PAYLOAD'],
    [other, 'INVALID_PAYLOAD'],
    ['x', 'INVALID_PAYLOAD'],
  ] as const) {
    const refused = await openSelfie(session, progress, text)
    assert.ok(refused instanceof AppError && refused.code === code, code)
  }
  const unopened = await openSelfie(session, newProgress('en'), sealed)
  assert.ok(unopened instanceof AppError)
})
