import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createProbe,
  createToken,
  evaluate,
  FORMAT_SCORE_HIDDEN,
  judge,
  probeFault,
  TokenFormatError,
  tokenIdOf,
} from './index.ts'
import { HEADER_BYTES, RING_BYTES } from './parameters.ts'
import { createNumbers, probeOf, randomFace, SECRET, TOKEN_ID, tokenOf } from './testing/fixtures.ts'

const face = randomFace(createNumbers(31))
const enrolled = await tokenOf(face, 'format')
const probe = await probeOf(enrolled, face, 'format')
const evaluation = await evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })

function changed(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice()
  copy[at] = value
  return copy
}

/** Every way in which a header can be wrong: letters, format, model, token id, length. */
const faults = (bytes: Uint8Array): Uint8Array[] => [
  changed(bytes, 0, 0x50),
  changed(bytes, 1, 0x21),
  changed(bytes, 2, FORMAT_SCORE_HIDDEN),
  changed(bytes, 2, 0),
  changed(bytes, 3, 2),
  changed(bytes, 4, 99),
  changed(bytes, 19, 99),
  bytes.subarray(0, bytes.length - 1),
  new Uint8Array([...bytes, 0]),
  new Uint8Array(),
]

test('every message but the evaluation names its token', () => {
  const { token, publicKey, matcherShare, keyShare } = enrolled
  for (const bytes of [token, publicKey, matcherShare, keyShare, probe]) assert.deepEqual(tokenIdOf(bytes), TOKEN_ID)
  assert.throws(() => tokenIdOf(evaluation), TokenFormatError)
  assert.throws(() => tokenIdOf(token.subarray(1)), TokenFormatError)
})

test('a token id of another length is refused', async () => {
  await assert.rejects(createToken(TOKEN_ID.subarray(1), face), TokenFormatError)
})

test('bytes that are not a public key are refused before anything is encrypted under it', async () => {
  const wrong = faults(enrolled.publicKey).filter((bytes) => bytes[4] === TOKEN_ID[0] && bytes[19] === TOKEN_ID[15])
  for (const publicKey of [...wrong, enrolled.token])
    await assert.rejects(createProbe(publicKey, face), TokenFormatError)
})

test('the matcher evaluates nothing that is malformed or belongs to another token', async () => {
  const input = { ...enrolled, probe, secret: SECRET, isEnrolment: false }
  for (const part of ['token', 'publicKey', 'matcherShare', 'probe'] as const) {
    for (const bytes of faults(input[part])) {
      await assert.rejects(evaluate({ ...input, [part]: bytes }), TokenFormatError)
    }
  }
})

test('a malformed probe is recognised before anything is evaluated', () => {
  assert.equal(probeFault(probe, TOKEN_ID), undefined)
  for (const bytes of faults(probe)) assert.equal(probeFault(bytes, TOKEN_ID), 'malformed')
  assert.equal(probeFault(probe, TOKEN_ID.toReversed()), 'malformed')
})

test('a probe with a part that is all zero is transparent, and nobody evaluates it', async () => {
  const { token, keyShare } = enrolled
  for (let part = 1; part <= 4; part++) {
    const transparent = probe.slice().fill(0, HEADER_BYTES + part * RING_BYTES, HEADER_BYTES + (part + 1) * RING_BYTES)
    assert.equal(probeFault(transparent, TOKEN_ID), 'transparent')
    await assert.rejects(
      evaluate({ ...enrolled, probe: transparent, secret: SECRET, isEnrolment: false }),
      TokenFormatError,
    )
    const judgement = await judge({ token, probe: transparent, evaluation, keyShare, isEnrolment: false })
    assert.deepEqual(judgement, { attack: 'transparent', score: 0, probeNorm: 0 })
  }
})

test('the key holder takes a malformed probe or evaluation for an attack', async () => {
  const { token, keyShare } = enrolled
  for (const bytes of faults(probe)) {
    const judgement = await judge({ token, probe: bytes, evaluation, keyShare, isEnrolment: false })
    assert.deepEqual(judgement, { attack: 'malformed', score: 0, probeNorm: 0 })
  }
  for (const bytes of faults(evaluation)) {
    const judgement = await judge({ token, probe, evaluation: bytes, keyShare, isEnrolment: false })
    assert.deepEqual(judgement, { attack: 'malformed', score: 0, probeNorm: 0 })
  }
})

test('an evaluation for a sign-in is malformed at an enrolment, which has one test more', async () => {
  const { token, keyShare } = enrolled
  const { attack } = await judge({ token, probe, evaluation, keyShare, isEnrolment: true })
  assert.equal(attack, 'malformed')
})

test('the key holder refuses a token or a share that is malformed or of another token', async () => {
  const input = { ...enrolled, probe, evaluation, isEnrolment: false }
  for (const part of ['token', 'keyShare'] as const) {
    for (const bytes of faults(input[part])) await assert.rejects(judge({ ...input, [part]: bytes }), TokenFormatError)
  }
})
