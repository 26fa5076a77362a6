import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ComparisonMessage,
  EnrolmentMessage,
  launchTokenEnrol,
  launchTokenProbe,
  SESSION_CODES,
  TOKEN_SIZES,
  type TokenBegun,
} from '@ostiary/contract'
import {
  bodyHash,
  createSealKeyPair,
  decodeBytes,
  encodeBytes,
  openAtKeyHolder,
  thumbprint,
  verifyTokenStatement,
} from '@ostiary/crypto'
import Value from 'typebox/value'
import { DeviceError } from './signed-calls.ts'
import { seededRandom } from './simulated/randomness.ts'
import {
  comparisonOf,
  createTokenKeys,
  enrolmentOf,
  isPinned,
  proveToken,
  TOKEN_FAILURES,
  tokenFailureOf,
  tokenKeyOf,
} from './token-messages.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const keyHolder = await createSealKeyPair()
const begun: TokenBegun = {
  tokenId: 'AQEBAQEBAQEBAQEBAQEBAQ',
  account: 'AgICAgICAgICAgICAgICAg',
  realm: 'AwMDAwMDAwMDAwMDAwMDAw',
  matcherNonce: 'M'.repeat(43),
  keyHolderNonce: 'K'.repeat(43),
  keyHolderKey: keyHolder.publicJwk,
  publicKey: null,
  wantsToken: false,
}
function bytes(length: number, seed: number): Uint8Array {
  const random = seededRandom(seed)
  return Uint8Array.from({ length }, () => random() * 256)
}
const made = {
  token: bytes(TOKEN_SIZES.token, 1),
  publicKey: bytes(TOKEN_SIZES.publicKey, 2),
  matcherShare: bytes(TOKEN_SIZES.matcherShare, 3),
  keyShare: bytes(TOKEN_SIZES.keyShare, 4),
  probe: bytes(TOKEN_SIZES.probe, 5),
}

test('an enrolment fits the contract, and what both services verify is signed by the key that it names', async () => {
  const keys = await createTokenKeys()
  const { body, claim } = await enrolmentOf(begun, keys, made)
  assert.deepEqual([...Value.Errors(launchTokenEnrol.body, { sessionId: SESSION, ...body })], [])
  assert.deepEqual(claim, { id: begun.tokenId, probeHash: await bodyHash(made.probe) })
  const { message, bytes: share } = await openAtKeyHolder(
    keyHolder.privateJwk,
    body.sealed,
    TOKEN_SIZES.sealedShareChars,
  )
  assert.deepEqual(share, made.keyShare)
  assert.ok(Value.Check(EnrolmentMessage, message), 'the key holder takes exactly these members')
  const { deviceKey, signature, ...statement } = message
  assert.deepEqual([deviceKey, signature], [body.deviceKey, body.signature])
  assert.equal(statement.tokenHash, await bodyHash(decodeBytes(body.token)))
  assert.equal(statement.publicKeyHash, await bodyHash(decodeBytes(body.publicKey)))
  assert.ok(await verifyTokenStatement(keys.publicKey, signature, statement))
  assert.ok(!(await verifyTokenStatement(keys.publicKey, signature, { ...statement, account: begun.tokenId })))
})

test('the key share is in no other member of an enrolment than the sealed one', async () => {
  const { body } = await enrolmentOf(begun, await createTokenKeys(), made)
  const { sealed: _sealed, ...open } = body
  const share = Buffer.from(made.keyShare).toString('base64url')
  assert.ok(!JSON.stringify(open).includes(share.slice(0, 64)))
})

test('a comparison fits the contract and is signed over nonces and probe', async () => {
  const keys = await createTokenKeys()
  const { body, claim } = await comparisonOf(begun, keys, { probe: made.probe, sealedToken: 'c2VhbGVk' })
  assert.deepEqual([...Value.Errors(launchTokenProbe.body, { sessionId: SESSION, ...body })], [])
  assert.equal(claim.probeHash, await bodyHash(decodeBytes(body.probe)))
  const { message, bytes: rest } = await openAtKeyHolder(keyHolder.privateJwk, body.sealed, TOKEN_SIZES.sealedBindChars)
  assert.equal(rest.length, 0)
  assert.ok(Value.Check(ComparisonMessage, message))
  const { signature, ...statement } = message
  assert.equal(signature, body.signature)
  assert.ok(await verifyTokenStatement(keys.publicKey, signature, statement))
})

test('the sealed token goes with a probe only where the service wants it and the device has it', async () => {
  const keys = await createTokenKeys()
  const sent = async (wantsToken: boolean, sealedToken: string | null) =>
    (await comparisonOf({ ...begun, wantsToken }, keys, { probe: made.probe, sealedToken })).body.sealedToken
  assert.deepEqual(
    [await sent(true, 'c2VhbGVk'), await sent(false, 'c2VhbGVk'), await sent(true, null)],
    ['c2VhbGVk', undefined, undefined],
  )
})

test('the proof of a held token is of one session, nonce and token', async () => {
  const keys = await createTokenKeys()
  const of = { sessionId: SESSION, nonce: 'n-1', tokenId: begun.tokenId }
  const proof = await proveToken(keys, of)
  assert.ok(await verifyTokenStatement(keys.publicKey, proof, { purpose: 'begin', ...of }))
  assert.ok(!(await verifyTokenStatement(keys.publicKey, proof, { purpose: 'begin', ...of, nonce: 'n-2' })))
})

test('the private key of a token cannot be exported, unless a simulated device asks for it', async () => {
  assert.equal((await createTokenKeys()).privateKey.extractable, false)
  assert.equal((await createTokenKeys(true)).privateKey.extractable, true)
})

test('only a pinned key holder is trusted, and nobody without a pin', async () => {
  const pin = await thumbprint(keyHolder.publicJwk)
  const other = await thumbprint((await createSealKeyPair()).publicJwk)
  assert.deepEqual(
    await Promise.all([[pin], [other, pin], [other], []].map((pins) => isPinned(begun.keyHolderKey, pins))),
    [true, true, false, false],
  )
})

test('a probe is made only under the public key of the enrolment, whatever key the service sends', async () => {
  const { publicKeyHash } = await enrolmentOf(begun, await createTokenKeys(), made)
  const keyOf = (publicKey: Uint8Array) => tokenKeyOf({ ...begun, publicKey: encodeBytes(publicKey) }, publicKeyHash)
  assert.deepEqual(await keyOf(made.publicKey), made.publicKey)
  assert.equal(await keyOf(bytes(TOKEN_SIZES.publicKey, 6)), undefined)
  assert.equal(await tokenKeyOf(begun, publicKeyHash), undefined)
})

test('the answers of the token calls become reports that a device may send, others do not', () => {
  const failureOf = (status: number, code: string) => tokenFailureOf(new DeviceError(status, { code }))
  assert.deepEqual(failureOf(404, 'NO_TOKEN'), { code: SESSION_CODES.USER_NOT_ENROLLED.code, reason: 'no_hint' })
  assert.deepEqual(failureOf(409, 'TOKEN_REFUSED'), TOKEN_FAILURES.refused)
  assert.deepEqual(failureOf(503, 'KEY_HOLDER_UNAVAILABLE'), { code: -100, reason: 'key_holder' })
  assert.equal(failureOf(503, 'DEPENDENCY_DOWN'), undefined)
  assert.equal(tokenFailureOf(new Error('NO_TOKEN')), undefined)
  for (const { reason } of Object.values(TOKEN_FAILURES)) assert.match(reason, /^[a-z_]{1,40}$/)
})
