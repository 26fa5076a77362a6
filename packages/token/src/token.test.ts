import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cosineOf,
  createProbe,
  createToken,
  ENROLMENT_EVALUATION_BYTES,
  EVALUATION_BYTES,
  evaluate,
  KEY_SHARE_BYTES,
  MATCHER_SHARE_BYTES,
  PROBE_BYTES,
  PUBLIC_KEY_BYTES,
  quantise,
  TOKEN_BYTES,
  TOKEN_PARAMETERS,
} from './index.ts'
import { messageOf } from './numbers.ts'
import { openingWeights, openWith, readProbe, readRings, spectraOf, toShare } from './opening.ts'
import { HEADER_BYTES, SEED_BYTES } from './parameters.ts'
import { readRing } from './ring.ts'
import { expandShare, expandTokenMasks } from './seeds.ts'
import {
  compare,
  createNumbers,
  innerProduct,
  probeOf,
  randomFace,
  SECRET,
  sameFace,
  TOKEN_ID,
  tokenOf,
} from './testing/fixtures.ts'

const { t } = TOKEN_PARAMETERS

test('scores and norms of 50 pairs are exact, of one person and of two, each with a new key', async () => {
  const next = createNumbers(1)
  for (let round = 0; round < 50; round++) {
    const face = randomFace(next)
    const fresh = round % 2 === 0 ? sameFace(face, next) : randomFace(next)
    const enrolled = await tokenOf(face, `pair ${round}`)
    const judgement = await compare(enrolled, await probeOf(enrolled, fresh, `pair ${round}`))
    const [x, y] = [quantise(face), quantise(fresh)]
    assert.deepEqual(judgement, { attack: undefined, score: innerProduct(x, y), probeNorm: innerProduct(y, y) })
  }
})

test('a token and a probe made with the system’s randomness give the score too', async () => {
  const next = createNumbers(2)
  const face = randomFace(next)
  const fresh = sameFace(face, next)
  const enrolled = await createToken(TOKEN_ID, face)
  const { score, probeNorm } = await compare(enrolled, await createProbe(enrolled.publicKey, fresh))
  const [x, y] = [quantise(face), quantise(fresh)]
  assert.deepEqual([score, probeNorm], [innerProduct(x, y), innerProduct(y, y)])
})

test('the self-probe of an honest enrolment passes, and shows the norm of the token', async () => {
  const next = createNumbers(3)
  for (let round = 0; round < 5; round++) {
    const face = randomFace(next)
    const x = quantise(face)
    const norm = innerProduct(x, x)
    const enrolled = await tokenOf(face, `self ${round}`)
    const judgement = await compare(enrolled, await probeOf(enrolled, face, `self ${round}`), true)
    assert.deepEqual(judgement, { attack: undefined, score: norm, probeNorm: norm })
  }
})

test('the cosine comes from the integers, and is that of the vectors within .02', async () => {
  const next = createNumbers(4)
  const face = randomFace(next)
  const fresh = sameFace(face, next)
  const [x, y] = [quantise(face), quantise(fresh)]
  const plain = innerProduct(face, fresh) / Math.sqrt(innerProduct(face, face) * innerProduct(fresh, fresh))
  const cosine = cosineOf({ score: innerProduct(x, y), tokenNorm: innerProduct(x, x), probeNorm: innerProduct(y, y) })
  assert.ok(Math.abs(cosine - plain) < 0.02, `${cosine} instead of ${plain}`)
  assert.equal(cosineOf({ score: 2500, tokenNorm: 2500, probeNorm: 2500 }), 1)
})

test('everything has a fixed size', async () => {
  const next = createNumbers(5)
  for (let round = 0; round < 3; round++) {
    const enrolled = await createToken(TOKEN_ID, randomFace(next))
    const { token, publicKey, matcherShare, keyShare } = enrolled
    const probe = await createProbe(publicKey, randomFace(next))
    const evaluations = [false, true].map((isEnrolment) =>
      evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment }),
    )
    const lengths = [token, publicKey, matcherShare, keyShare, probe, ...(await Promise.all(evaluations))].map(
      ({ length }) => length,
    )
    assert.deepEqual(lengths, [11_316, 45_108, 52, 157_716, 56_340, 811_424, 856_491])
    assert.deepEqual(lengths, [
      TOKEN_BYTES,
      PUBLIC_KEY_BYTES,
      MATCHER_SHARE_BYTES,
      KEY_SHARE_BYTES,
      PROBE_BYTES,
      EVALUATION_BYTES,
      ENROLMENT_EVALUATION_BYTES,
    ])
  }
})

test('an enrolment gives four things and no key', async () => {
  const enrolled = await createToken(TOKEN_ID, randomFace(createNumbers(6)))
  assert.deepEqual(Object.keys(enrolled).sort(), ['keyShare', 'matcherShare', 'publicKey', 'token'])
})

test('two tokens of one vector have no byte in common but their header, except by chance', async () => {
  const face = randomFace(createNumbers(7))
  const [one, other] = [await createToken(TOKEN_ID, face), await createToken(TOKEN_ID, face)]
  const probes = [await createProbe(one.publicKey, face), await createProbe(one.publicKey, face)] as const
  const pairs: (readonly [Uint8Array, Uint8Array])[] = [
    [one.token, other.token],
    [one.publicKey, other.publicKey],
    [one.keyShare, other.keyShare],
    probes,
  ]
  for (const [a, b] of pairs) {
    const same = a.filter((byte, at) => at >= HEADER_BYTES && byte === b[at]).length
    const share = same / (a.length - HEADER_BYTES)
    // 11,296 bytes or more: five standard deviations are below .003.
    assert.ok(Math.abs(share - 1 / 256) < 0.003, `${share} of the bytes are equal`)
  }
  assert.notDeepEqual(one.matcherShare, other.matcherShare)
})

test('one share alone opens nothing: what it gives is spread evenly, whatever the score', async () => {
  const next = createNumbers(8)
  const face = randomFace(next)
  const { token, publicKey, matcherShare, keyShare } = await createToken(TOKEN_ID, face)
  const masks = await expandTokenMasks(token.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES))
  const encrypted = { b: readRing(token, HEADER_BYTES + SEED_BYTES), a: masks }
  const shares = [
    { share: toShare(await expandShare(matcherShare.subarray(HEADER_BYTES))), isMatcher: true },
    { share: toShare(readRings(keyShare, HEADER_BYTES, 14)), isMatcher: false },
  ]
  const opened: number[][] = [[], []]
  const whole: number[] = []
  for (let round = 0; round < 40; round++) {
    const fresh = readProbe(await createProbe(publicKey, face))
    const parts = shares.map(({ share, isMatcher }) =>
      openWith(openingWeights(share, fresh, spectraOf(fresh), isMatcher), encrypted),
    )
    for (const [party, part] of parts.entries()) opened[party]?.push(messageOf(part) / t + 0.5)
    whole.push(messageOf(parts.reduce((sum, part) => sum + part, 0n)))
  }
  const x = quantise(face)
  assert.ok(
    whole.every((score) => score === innerProduct(x, x)),
    'both parts together are the score',
  )
  for (const values of opened) {
    // Kolmogorov-Smirnov: with 40 even values a deviation above .36 comes up once in 20,000 runs.
    const sorted = values.toSorted((a, b) => a - b)
    const deviation = Math.max(...sorted.map((value, at) => Math.abs(value - (at + 0.5) / sorted.length)))
    assert.ok(deviation < 0.36, `the largest deviation is ${deviation}`)
  }
})

test('the same probe gives the same bytes, and another secret, probe or token gives others', async () => {
  const face = randomFace(createNumbers(9))
  const [enrolled, other] = [await tokenOf(face, 'one'), await tokenOf(face, 'other')]
  const probe = await probeOf(enrolled, face, 'one')
  const input = { ...enrolled, probe, secret: SECRET, isEnrolment: false }
  const first = await evaluate(input)
  assert.deepEqual(await evaluate(input), first)
  for (const changed of [
    { ...input, secret: SECRET.toReversed() },
    { ...input, probe: await probeOf(enrolled, face, 'two') },
    { ...input, token: other.token },
    { ...input, publicKey: other.publicKey },
    { ...input, matcherShare: other.matcherShare },
    { ...input, isEnrolment: true },
  ]) {
    const evaluation = await evaluate(changed)
    const same = first.filter((byte, at) => at >= HEADER_BYTES && byte === evaluation[at]).length
    assert.ok(Math.abs(same / first.length - 1 / 256) < 0.001)
  }
})

test('a secret of another length is refused', async () => {
  const enrolled = await tokenOf(randomFace(createNumbers(10)), 'secret')
  const probe = await probeOf(enrolled, randomFace(createNumbers(10)), 'secret')
  await assert.rejects(evaluate({ ...enrolled, probe, secret: SECRET.subarray(1), isEnrolment: false }), RangeError)
})
