import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { VerificationFacts, VerificationType } from '@ostiary/contract'
import { decodeVector, encodeVector, verifyLocalProof } from '@ostiary/crypto'
import { cosine } from '@ostiary/faces'
import { createLocalClaims } from './claims.ts'
import { faceOf, storageWith, varied } from './testing/faces.ts'

const sessionId = '0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b'
const tokens = storageWith()
const ana = faceOf(1)
const ben = faceOf(2)

const claimsOf = (type: VerificationType, matching: VerificationFacts['matching'] = 'server', storage = tokens) =>
  createLocalClaims({
    sessionId,
    type,
    facts: { realm: 'shop', matching },
    tokens: storage,
    forService: async (vector) => ({ face: { version: 'FACE3_3', vector: encodeVector(vector) } }),
    nowMs: () => 1,
  })

async function enrol(face: Float32Array, storage = tokens) {
  const enrolling = claimsOf('ENROLL', 'server', storage)
  const claims = await enrolling.claimsFor(face, 'n')
  await enrolling.end(true)
  return claims
}

before(async () => {
  await enrol(ana)
})

test('ENROLL sends the vector and the public key of a token, and stores the token once the service has recorded the key', async () => {
  const storage = storageWith()
  const { face, local, metadata } = await enrol(ana, storage)
  assert.ok(face && cosine(decodeVector(face.vector), ana) > 0.999)
  const key = storage.kept.get('shop')?.keys.publicKey
  assert.ok(key)
  assert.deepEqual(local, { key })
  await verifyLocalProof(key, String(metadata?.localProof), { sessionId, nonce: 'n', hit: false })
})

test('an enrolment whose key the service did not record stores nothing', async () => {
  const storage = storageWith()
  const enrolling = claimsOf('ENROLL', 'server', storage)
  await enrolling.claimsFor(ana, 'n')
  await enrolling.end(false)
  await enrolling.end(true)
  assert.equal(storage.kept.size, 0)
})

test('a second try of an enrolment keeps the key, and the token has the face of the last try', async () => {
  const storage = storageWith()
  const enrolling = claimsOf('ENROLL', 'server', storage)
  const first = await enrolling.claimsFor(ben, 'n1')
  const second = await enrolling.claimsFor(ana, 'n2')
  assert.deepEqual(first.local, second.local)
  await enrolling.end(true)
  const again = await claimsOf('SIGN-IN', 'local_first', storage).claimsFor(ana, 'n3')
  assert.equal('face' in again, false)
})

test('a token is replaced exactly when the service has recorded the new key, also if the old one is of another person', async () => {
  const storage = storageWith()
  for (const face of [ana, varied(ana, 0.3), ben]) {
    const { local } = await enrol(face, storage)
    assert.deepEqual(local, { key: storage.kept.get('shop')?.keys.publicKey })
  }
  const kept = storage.kept.get('shop')
  for (const face of [ben, ana]) {
    const enrolling = claimsOf('ENROLL', 'server', storage)
    await enrolling.claimsFor(face, 'n')
    await enrolling.end(false)
    assert.equal(storage.kept.get('shop'), kept)
  }
})

test('when another device takes over, this one keeps no face', async () => {
  const storage = storageWith()
  const enrolling = claimsOf('ENROLL', 'server', storage)
  await enrolling.claimsFor(ana, 'n')
  enrolling.drop()
  await enrolling.end(true)
  assert.equal(storage.kept.size, 0)
})

test('[D-049] SIGN-IN compares on the device first: if a hit is enough, the vector is not sent and the claim is signed', async () => {
  const { face, local } = await claimsOf('SIGN-IN', 'local_first').claimsFor(varied(ana, 0.3), 'nonce')
  assert.equal(face, undefined)
  assert.ok(local && 'proof' in local && local.hit)
  const key = tokens.kept.get('shop')?.keys.publicKey
  assert.ok(key)
  await verifyLocalProof(key, local.proof, { sessionId, nonce: 'nonce', hit: true })
})

test('[D-050] without a token the vector is sent, and signing in creates no token', async () => {
  const storage = storageWith()
  const signingIn = claimsOf('SIGN-IN', 'local_first', storage)
  const { face, local } = await signingIn.claimsFor(ana, 'n')
  assert.ok(face)
  assert.equal(local, undefined)
  await signingIn.end(true)
  assert.equal(storage.kept.size, 0)
})

test('[D-051] the vector of a face that does not match the token is sent to the service', async () => {
  const { face, local } = await claimsOf('VERIFY', 'local_first').claimsFor(ben, 'n')
  assert.ok(face && local && 'hit' in local)
  assert.equal(local.hit, false)
})

test('[D-052] if the policy wants the service to compare, the vector is sent with the hit', async () => {
  const { face, local } = await claimsOf('SIGN-IN', 'server').claimsFor(ana, 'n')
  assert.ok(face && local && 'hit' in local)
  assert.equal(local.hit, true)
})

test('a hit that the service does not accept deletes the token, and the next try sends the vector', async () => {
  const storage = storageWith(new Map(tokens.kept))
  const signingIn = claimsOf('SIGN-IN', 'local_first', storage)
  assert.equal('face' in (await signingIn.claimsFor(ana, 'n1')), false)
  await signingIn.refused()
  assert.equal(storage.kept.size, 0)
  assert.deepEqual(Object.keys(await signingIn.claimsFor(ana, 'n2')), ['face'])
})

test('if the service does not know the key, the withheld vector is returned once and the token is deleted', async () => {
  const storage = storageWith(new Map(tokens.kept))
  const signingIn = claimsOf('SIGN-IN', 'local_first', storage)
  const face = ana.slice()
  assert.deepEqual(Object.keys(await signingIn.claimsFor(face, 'n1')), ['local'])
  face.fill(0)
  const wanted = await signingIn.unknown()
  assert.ok(wanted?.face && cosine(decodeVector(wanted.face.vector), ana) > 0.999)
  assert.deepEqual(Object.keys(wanted), ['face'])
  assert.equal(storage.kept.size, 0)
  assert.equal(await signingIn.unknown(), undefined)
  assert.deepEqual(Object.keys(await signingIn.claimsFor(ana, 'n2')), ['face'])
})

test('a withheld vector is wiped after the verdict, at the end, and when another device takes over', async () => {
  for (const over of ['settled', 'end', 'drop'] as const) {
    const storage = storageWith(new Map(tokens.kept))
    const signingIn = claimsOf('SIGN-IN', 'local_first', storage)
    await signingIn.claimsFor(ana, 'n')
    await signingIn[over](true)
    assert.equal(await signingIn.unknown(), undefined, over)
    assert.equal(storage.kept.size, 1, 'the service did not say that the key is unknown')
  }
})

test('a miss that the service confirms does not delete the token of another person', async () => {
  const storage = storageWith(new Map(tokens.kept))
  const signingIn = claimsOf('SIGN-IN', 'local_first', storage)
  await signingIn.claimsFor(ben, 'n1')
  await signingIn.refused()
  assert.equal(storage.kept.size, 1)
})

test('a token that cannot be opened is ignored', async () => {
  const storage = storageWith()
  const token = tokens.kept.get('shop')
  assert.ok(token)
  storage.kept.set('shop', { ...token, sealed: new Uint8Array(4096) })
  assert.deepEqual(Object.keys(await claimsOf('SIGN-IN', 'local_first', storage).claimsFor(ana, 'n')), ['face'])
})
