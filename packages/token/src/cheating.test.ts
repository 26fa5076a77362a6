/** The review's attacks A1 and A2 succeed wherever an evaluation is given away: what stands before one is signatures and budgets. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evaluate, judge, probeFault, quantise, TOKEN_PARAMETERS, tokenIdOf } from './index.ts'
import {
  decryptProbe,
  probeForKey,
  readSecret,
  withConstantTests,
  withForeignTest,
  withShift,
} from './testing/cheating.ts'
import { createNumbers, innerProduct, probeOf, randomFace, SECRET, tokenOf } from './testing/fixtures.ts'

const { scale, t } = TOKEN_PARAMETERS
const face = randomFace(createNumbers(31))
const x = Array.from(quantise(face))
const enrolled = await tokenOf(face, 'cheated')

const evaluated = (probe: Uint8Array) => evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })
const judged = async (probe: Uint8Array, evaluation: Uint8Array) =>
  judge({ ...enrolled, probe, evaluation, isEnrolment: false })

describe('a key holder that gets probes of its own evaluated', () => {
  test('reads three numbers of the vector with each, and the honest one would have counted an attack', async () => {
    for (const at of [0, 3, 300]) {
      const numbers = Array.from({ length: 512 }, (_, i) => (i < at || i > at + 2 ? 0 : 23 ** (i - at)))
      const probe = await probeOf(enrolled, numbers, `three from ${at}`)
      const { attack, score } = await judged(probe, await evaluated(probe))
      assert.equal(
        score,
        x.slice(at, at + 3).reduce((sum, value, i) => sum + value * 23 ** i, 0),
      )
      assert.ok(attack !== undefined)
    }
  })

  test('reads the secret by the norm, eight numbers with each', async () => {
    const [s = []] = await readSecret(enrolled)
    const norm = async (numbers: readonly number[]) => {
      const probe = probeForKey(enrolled.publicKey, numbers)
      assert.equal(probeFault(probe, tokenIdOf(enrolled.token)), undefined)
      const { attack, probeNorm } = await judged(probe, await evaluated(probe))
      assert.ok(attack !== undefined)
      return probeNorm
    }
    const weights = Array.from({ length: 8 }, (_, i) => 3 ** i)
    const rest = (await norm(weights)) - (await norm([])) - innerProduct(weights, weights)
    const twice = innerProduct(weights, s.slice(0, 8)) * 2
    assert.equal((((rest - twice) % t) + t) % t, 0)
  })
})

test('the holder of both shares reads a probe, and nobody else', async () => {
  const probe = await probeOf(enrolled, x, 'read')
  assert.deepEqual((await decryptProbe(probe, enrolled)).slice(0, 512), x)
  const other = await tokenOf(face, 'another key')
  const { matcherShare } = other
  const numbers = await decryptProbe(probe, { matcherShare, keyShare: enrolled.keyShare })
  assert.ok(numbers.filter((value, i) => value === (x[i] ?? 0)).length < 20)
})

describe('a matcher that cheats', () => {
  test('moves score and norm by a constant and asks nothing else with them', async () => {
    const probe = await probeOf(enrolled, x, 'moved')
    const evaluation = await evaluated(probe)
    const honest = await judged(probe, evaluation)
    assert.deepEqual(await judged(probe, withShift(evaluation, 'score', -700)), {
      ...honest,
      score: honest.score - 700,
    })
    const { attack, probeNorm } = await judged(probe, withShift(evaluation, 'norm', 100))
    assert.deepEqual([attack, probeNorm], ['norm', honest.probeNorm + 100])
  })

  test('puts a question about the enrolled vector into a short test: no is an attack event', async () => {
    const probe = await probeOf(enrolled, x, 'asked')
    const constant = withConstantTests(await evaluated(probe))
    assert.equal((await judged(probe, constant)).attack, undefined)
    const largest = Math.floor((6 * scale) / Math.SQRT2)
    for (const index of [0, 5, 511]) {
      for (const [shift, attack] of [
        [largest - (x[index] ?? 0), undefined],
        [largest - (x[index] ?? 0) + 1, 'short'],
      ] as const) {
        const asked = await withForeignTest(constant, enrolled, { index, shift })
        assert.equal((await judged(probe, asked)).attack, attack)
      }
    }
  })
})
