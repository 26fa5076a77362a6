import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVALUATION_BYTES, evaluate, judge, quantise, TOKEN_PARAMETERS } from './index.ts'
import { HEADER_BYTES, RING_BYTES } from './parameters.ts'
import { testsOf } from './probe-tests.ts'
import { sparseSigns, systemRandomness } from './random.ts'
import { compare, createNumbers, innerProduct, probeOf, randomFace, SECRET, tokenOf } from './testing/fixtures.ts'

const { n, t, scale, dimension } = TOKEN_PARAMETERS
const next = createNumbers(21)
const face = randomFace(next)
const honest = Array.from(quantise(face))
const enrolled = await tokenOf(face, 'attacked')

const length = Math.sqrt(innerProduct(face, face))
const scaled = (factor: number) => face.map((value) => Math.round((value / length) * scale * factor))
const judgeProbe = async (values: ArrayLike<number>, label: string) =>
  compare(enrolled, await probeOf(enrolled, values, label))

/** Scaled so that the norm is right modulo t: 2.43 times too long. */
function wrapped(): number[] {
  for (let factor = 2.3; factor < 2.6; factor += 0.0001) {
    const values = scaled(factor)
    if (Math.abs(innerProduct(values, values) - t - scale ** 2) < 20) return values
  }
  throw new Error('No factor fits')
}

/** Every number is half of an odd number modulo t; every second W shows nothing of that. */
function halfT(isFirstEven: boolean): number[] {
  const half = (t + 1) / 2
  return honest.map((value, i) => {
    const doubled = 2 * value + (isFirstEven && i === 0 ? 0 : 1)
    const rest = (((doubled * half) % t) + t) % t
    return rest > t / 2 ? rest - t : rest
  })
}

const uniform = () => Array.from({ length: dimension }, () => Math.floor(next() * t) - (t - 1) / 2)
const withJunk = (at: number, value: number) =>
  Array.from({ length: n }, (_, i) => (i === at ? value : (honest[i] ?? 0)))

const ATTACKS: [name: string, values: () => ArrayLike<number>, events: string[]][] = [
  ['1.05 times too long', () => scaled(1.05), ['norm']],
  ['1.1 times too long', () => scaled(1.1), ['norm']],
  ['1.4 times too long', () => scaled(1.4), ['norm', 'short']],
  ['2.43 times too long, with a norm that is right modulo t', () => wrapped(), ['short']],
  ['3 times too long', () => scaled(3), ['short']],
  ['10 times too long', () => scaled(10), ['short']],
  ['too short', () => scaled(0.9), ['norm']],
  ['zero', () => scaled(0), ['norm']],
  ['uniform modulo t', uniform, ['short']],
  ['of halves modulo t', () => halfT(false), ['short']],
  ['of halves modulo t with an even first number', () => halfT(true), ['short']],
  ['with a 1 in the first unused coefficient', () => withJunk(512, 1), ['linear']],
  ['with junk in the last unused coefficient', () => withJunk(1023, 4321), ['linear']],
]
for (const [name, values, events] of ATTACKS) {
  test(`a probe ${name} is an attack`, async () => {
    const { attack } = await judgeProbe(values(), name)
    assert.ok(events.includes(String(attack)), `judged as ${attack}`)
  })
}

const ENROLMENTS: [name: string, token: () => ArrayLike<number>, self: () => ArrayLike<number>, events: string[]][] = [
  ['of two faces, with the self-probe of one', () => sumWith(1), () => honest, ['cross']],
  ['of two faces, with the self-probe of both', () => sumWith(1), () => sumWith(1), ['norm', 'short']],
  ['twice as long, with an honest self-probe', () => scaled(2), () => honest, ['cross']],
  ['twice as long, with the same self-probe', () => scaled(2), () => scaled(2), ['norm', 'short']],
  ['with junk in an unused coefficient', () => withJunk(700, 5), () => honest, ['cross']],
  ['with the self-probe of another face', () => honest, () => quantise(randomFace(next)), ['cross']],
]
const second = quantise(randomFace(next))
const sumWith = (factor: number) => honest.map((value, i) => value + factor * (second[i] ?? 0))
for (const [name, token, self, events] of ENROLMENTS) {
  test(`a token ${name} is an attack at enrolment`, async () => {
    const bad = await tokenOf(token(), name)
    const { attack } = await compare(bad, await probeOf(bad, self(), name), true)
    assert.ok(events.includes(String(attack)), `judged as ${attack}`)
  })
}

test('one secret W shows a probe of halves with the probability 1 - 2^-2, with an even first number too', () => {
  // The review's test 23, on the sums themselves: they are what the key holder opens.
  const rounds = 4000
  for (const isFirstEven of [false, true]) {
    const values = halfT(isFirstEven)
    let passed = 0
    for (let round = 0; round < rounds; round++) {
      const w = sparseSigns(systemRandomness(n / 4))
      if (sumsOf(values, w).every((sum) => Math.abs(sum) <= (6 * scale) / Math.SQRT2)) passed++
    }
    // Five standard deviations of the count are 13 %.
    assert.ok(Math.abs(passed / rounds - 1 / 4) < 0.14 / 4, `${passed} of ${rounds} passed`)
  }
})

/** The coefficients 0 and 512 of y W modulo t, around 0. */
function sumsOf(y: readonly number[], w: Float64Array): number[] {
  return [0, n / 2].map((position) => {
    const sum = y.reduce((total, value, i) => {
      const at = position - i
      return total + value * (at >= 0 ? (w[at] ?? 0) : -(w[at + n] ?? 0))
    }, 0)
    const rest = ((sum % t) + t) % t
    return rest > t / 2 ? rest - t : rest
  })
}

test('an evaluation of random bytes is an attack and never an exception', async () => {
  const { token, keyShare } = enrolled
  const probe = await probeOf(enrolled, honest, 'random evaluation')
  const real = await evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })
  for (const fill of [() => systemRandomness(EVALUATION_BYTES), () => new Uint8Array(EVALUATION_BYTES)]) {
    const evaluation = fill()
    evaluation.set(real.subarray(0, HEADER_BYTES))
    const { attack } = await judge({ token, probe, evaluation, keyShare, isEnrolment: false })
    assert.ok(attack !== undefined)
  }
})

test('a matcher that puts another product into a test is caught', async () => {
  const { token, keyShare } = enrolled
  const probe = await probeOf(enrolled, honest, 'foreign product')
  const evaluation = await evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })
  for (const { kind, offset } of testsOf(false).filter((_, index) => index === 0 || index === 5)) {
    const changed = evaluation.slice()
    changed.set(systemRandomness(RING_BYTES), offset + RING_BYTES)
    const { attack } = await judge({ token, probe, evaluation: changed, keyShare, isEnrolment: false })
    assert.equal(attack, kind)
  }
})

test('what a matcher puts into the score moves it by a constant only, because the key holder computes its own part', async () => {
  const { token, keyShare } = enrolled
  const probe = await probeOf(enrolled, honest, 'shifted score')
  const evaluation = await evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })
  const before = await judge({ token, probe, evaluation, keyShare, isEnrolment: false })
  evaluation[HEADER_BYTES] = (evaluation[HEADER_BYTES] ?? 0) ^ 1
  const after = await judge({ token, probe, evaluation, keyShare, isEnrolment: false })
  assert.equal(Math.abs(after.score - before.score), 1)
  assert.equal(after.probeNorm, before.probeNorm)
})
