import { checkMessages, createMessage, idBytes, probeFault, TokenFormatError } from './format.ts'
import { dotSmall, FLOOD_BYTES, floodOf, writeNumber } from './numbers.ts'
import {
  type Ciphertext,
  createOpener,
  openingWeights,
  openWith,
  readProbe,
  readRings,
  spectraOf,
  toShare,
} from './opening.ts'
import {
  ENROLMENT_EVALUATION_BYTES,
  EVALUATION_BYTES,
  HEADER_BYTES,
  NUMBER_BYTES,
  RING_BYTES,
  SEED_BYTES,
  TOKEN_PARAMETERS,
} from './parameters.ts'
import { type TestKind, testsOf } from './probe-tests.ts'
import {
  addSmallProduct,
  createSum,
  type Spectrum,
  toRing,
  toSmallSpectrum,
  toSpectrum,
  toWideSpectrum,
  WIDE_LIMBS,
} from './products.ts'
import {
  expand,
  MODULO_T_BYTES,
  NOISE_BYTES,
  noise,
  SPARSE_SIGN_BYTES,
  sparseSigns,
  TERNARY_BYTES,
  ternary,
  uniformModuloT,
} from './random.ts'
import { add, createRing, LIMBS, type Ring, readRing, reversed, subtract, writeRing } from './ring.ts'
import { expandKeyMatrix, expandShare, expandTokenMasks } from './seeds.ts'

const { n, k, dimension } = TOKEN_PARAMETERS

export interface EvaluationInput {
  token: Uint8Array
  publicKey: Uint8Array
  matcherShare: Uint8Array
  probe: Uint8Array
  /** 32 bytes that only the matcher knows. */
  secret: Uint8Array
  isEnrolment: boolean
}

/**
 * The matcher's half of a comparison. Everything random in it comes from the secret and a hash of all inputs: the same call
 * gives the same bytes, so that repeating a probe does not average the flooding away.
 */
export async function evaluate(input: EvaluationInput): Promise<Uint8Array> {
  const { token, publicKey, matcherShare, probe, isEnrolment } = input
  checkMessages({ token, 'public key': publicKey, 'matcher share': matcherShare, probe })
  if (probeFault(probe, idBytes(token))) throw new TokenFormatError('The probe is transparent')
  const seedOf = (message: Uint8Array) => message.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES)
  const share = toShare(await expandShare(seedOf(matcherShare)))
  const encrypted = {
    b: readRing(token, HEADER_BYTES + SEED_BYTES),
    a: await expandTokenMasks(seedOf(token)),
  }
  const fresh = readProbe(probe)
  const freshPoints = spectraOf(fresh)
  const weights = openingWeights(share, fresh, freshPoints, true)

  const length = isEnrolment ? ENROLMENT_EVALUATION_BYTES : EVALUATION_BYTES
  const evaluation = createMessage('evaluation', idBytes(token), length)
  const stream = await randomStream(input)
  writeNumber(openWith(weights, encrypted) + floodOf(stream(FLOOD_BYTES)), evaluation, HEADER_BYTES)
  writeNumber(openWith(weights, fresh) + floodOf(stream(FLOOD_BYTES)), evaluation, HEADER_BYTES + NUMBER_BYTES)

  const key = {
    p: readRings(publicKey, HEADER_BYTES + SEED_BYTES, k),
    matrix: (await expandKeyMatrix(seedOf(publicKey))).map((element) => toWideSpectrum(element)),
  }
  const open = createOpener(share)
  const wide = fresh.a.map((element) => toWideSpectrum(element))
  // Reused by every test, so that less memory has to be fetched and collected.
  const sums = fresh.a.map(() => createSum(WIDE_LIMBS))
  const rings = fresh.a.map(() => createRing())
  for (const { kind, offset, positions } of testsOf(isEnrolment)) {
    const subject = kind === 'cross' ? difference(encrypted, fresh) : fresh
    const w = weightsOf(kind, stream)
    const points = toSmallSpectrum(w)
    const constantAt = encryptZero(key, stream, sums)
    const a = subject.a.map((element, j) => {
      const sum = sums[j] as Spectrum
      const error = noise(stream(n * NOISE_BYTES))
      const spectrum = kind === 'cross' ? toSpectrum(element) : (freshPoints.a[j] as Spectrum)
      if (kind !== 'short') return add(toRing(sum, error), multiply(points, spectrum))
      addSmallProduct(sum, points, wide[j] as Spectrum)
      return toRing(sum, error, rings[j])
    })
    for (const [j, element] of a.entries()) writeRing(element, evaluation, offset + j * RING_BYTES)
    for (const [index, position] of positions.entries()) {
      const error = BigInt(noise(stream(NOISE_BYTES))[0] as number)
      const constant = dotSmall(subject.b, reversed(w, position)) + constantAt(position) + error
      const value = constant + open(a, position) + floodOf(stream(FLOOD_BYTES))
      writeNumber(value, evaluation, offset + k * RING_BYTES + index * NUMBER_BYTES)
    }
  }
  return evaluation
}

/** The secret weights of a test. A linear one weighs the unused coefficients: coefficient 0 of P W has P_i beside W_(1024 - i). */
function weightsOf(kind: TestKind, stream: Stream): Float64Array {
  if (kind === 'short') return sparseSigns(stream(SPARSE_SIGN_BYTES))
  if (kind === 'cross') return uniformModuloT(stream(n * MODULO_T_BYTES), 0, n)
  return uniformModuloT(stream((n - dimension) * MODULO_T_BYTES), 1, n - dimension + 1)
}

function multiply(small: Spectrum, element: Spectrum): Ring {
  const sum = createSum(LIMBS)
  addSmallProduct(sum, small, element)
  return toRing(sum)
}

const difference = (one: Ciphertext, other: Ciphertext): Ciphertext => ({
  b: subtract(one.b, other.b),
  a: one.a.map((element, i) => subtract(element, other.a[i] as Ring)),
})

/**
 * A fresh encryption of zero, without which the weights could be read off the products; the caller adds the noise. Its parts
 * sum of A_ij r_i are put into `sums`. Of its constant part, minus the sum of p_i r_i, only the opened coefficients are computed.
 */
function encryptZero(
  { p, matrix }: { p: Ring[]; matrix: Spectrum[] },
  stream: Stream,
  sums: Spectrum[],
): (position: number) => bigint {
  const once = Array.from({ length: k }, () => ternary(stream(TERNARY_BYTES)))
  const points = once.map((values) => toSmallSpectrum(values))
  for (const [j, sum] of sums.entries()) {
    sum.fill(0)
    for (const [i, small] of points.entries()) addSmallProduct(sum, small, matrix[i * k + j] as Spectrum)
  }
  return (position) => once.reduce((sum, values, i) => sum - dotSmall(p[i] as Ring, reversed(values, position)), 0n)
}

type Stream = (bytes: number) => Uint8Array

/** Consecutive bytes of one expansion. Enough for all tests: what is read is the same in every evaluation of a kind. */
async function randomStream({
  token,
  publicKey,
  matcherShare,
  probe,
  secret,
  isEnrolment,
}: EvaluationInput): Promise<Stream> {
  if (secret.length !== SEED_BYTES) throw new RangeError(`The matcher's secret has ${SEED_BYTES} bytes`)
  const hashes = new Uint8Array(4 * 32)
  for (const [index, part] of [token, publicKey, matcherShare, probe].entries()) {
    hashes.set(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(part))), index * 32)
  }
  const salt = new Uint8Array(await crypto.subtle.digest('SHA-256', hashes))
  const perTest = n * MODULO_T_BYTES + k * (TERNARY_BYTES + n * NOISE_BYTES) + 2 * (NOISE_BYTES + FLOOD_BYTES)
  const length = 2 * FLOOD_BYTES + testsOf(isEnrolment).length * perTest
  const bytes = await expand(secret, isEnrolment ? 'enrolment' : 'sign-in', length, salt)
  let at = 0
  return (count) => {
    if (at + count > length) throw new Error('The random bytes did not suffice')
    at += count
    return bytes.subarray(at - count, at)
  }
}
