import { checkMessages, createMessage, idBytes } from './format.ts'
import {
  HEADER_BYTES,
  KEY_SHARE_BYTES,
  MATCHER_SHARE_BYTES,
  PROBE_BYTES,
  PUBLIC_KEY_BYTES,
  RING_BYTES,
  SEED_BYTES,
  TOKEN_BYTES,
  TOKEN_PARAMETERS,
} from './parameters.ts'
import {
  addSmallProduct,
  createSum,
  multiplySmall,
  toRing,
  toSmallSpectrum,
  toWideSpectrum,
  WIDE_LIMBS,
} from './products.ts'
import { quantise } from './quantise.ts'
import { NOISE_BYTES, noise, type Randomness, systemRandomness, TERNARY_BYTES, ternary } from './random.ts'
import { fromSmall, readRing, subtract, writeRing } from './ring.ts'
import { expandKeyMatrix, expandShare, expandTokenMasks } from './seeds.ts'

const { n, k } = TOKEN_PARAMETERS

export interface EnrolledToken {
  /** For the matcher: the encrypted vector. */
  token: Uint8Array
  /** For the matcher, and for every device that makes a probe. */
  publicKey: Uint8Array
  /** For the matcher alone. */
  matcherShare: Uint8Array
  /** For the key holder alone. */
  keyShare: Uint8Array
}

/**
 * In the browser, at enrolment. The secret exists only inside this call. Its arrays are overwritten at the end, but copies that
 * were made on the way stay in memory until they are collected: call it in a worker that ends afterwards.
 */
export function createToken(tokenId: Uint8Array, vector: ArrayLike<number>): Promise<EnrolledToken> {
  return createTokenFrom(tokenId, quantise(vector), systemRandomness)
}

/** In the browser: an encryption of a fresh vector under the token's public key. */
export function createProbe(publicKey: Uint8Array, vector: ArrayLike<number>): Promise<Uint8Array> {
  return createProbeFrom(publicKey, quantise(vector), systemRandomness)
}

/** Takes integers as they are, and any randomness: for tests. `values` may have up to 1,024 numbers. */
export async function createTokenFrom(
  tokenId: Uint8Array,
  values: ArrayLike<number>,
  random: Randomness,
): Promise<EnrolledToken> {
  const token = createMessage('token', tokenId, TOKEN_BYTES)
  const publicKey = createMessage('public key', tokenId, PUBLIC_KEY_BYTES)
  const matcherShare = createMessage('matcher share', tokenId, MATCHER_SHARE_BYTES)
  const [tokenSeed, keySeed, shareSeed] = [token, publicKey, matcherShare].map((message) => {
    const seed = random(SEED_BYTES)
    message.set(seed, HEADER_BYTES)
    return seed
  }) as [Uint8Array, Uint8Array, Uint8Array]
  const secret = Array.from({ length: k }, () => ternary(random(TERNARY_BYTES)))
  const secretPoints = secret.map((values) => toSmallSpectrum(values))

  // b = x + t e - sum of a_i s_i
  const masks = (await expandTokenMasks(tokenSeed)).map((mask) => toWideSpectrum(mask))
  const masked = createSum(WIDE_LIMBS)
  for (const [i, mask] of masks.entries()) addSmallProduct(masked, secretPoints[i] as Float64Array, mask)
  writeRing(subtract(fromSmall(withNoise(values, random)), toRing(masked)), token, HEADER_BYTES + SEED_BYTES)

  // p_i = sum of A_ij s_j + t e_i
  const matrix = (await expandKeyMatrix(keySeed)).map((element) => toWideSpectrum(element))
  for (let i = 0; i < k; i++) {
    const sum = createSum(WIDE_LIMBS)
    for (let j = 0; j < k; j++) addSmallProduct(sum, secretPoints[j] as Float64Array, matrix[i * k + j] as Float64Array)
    writeRing(toRing(sum, withNoise([], random)), publicKey, HEADER_BYTES + SEED_BYTES + i * RING_BYTES)
  }

  const keyShare = createMessage('key share', tokenId, KEY_SHARE_BYTES)
  const whole = [...secret]
  for (let i = 0; i < k; i++) {
    for (let j = i; j < k; j++) {
      whole.push(multiplySmall(secretPoints[i] as Float64Array, secretPoints[j] as Float64Array, true))
    }
  }
  for (const [index, part] of (await expandShare(shareSeed)).entries()) {
    writeRing(subtract(fromSmall(whole[index] as Float64Array), part), keyShare, HEADER_BYTES + index * RING_BYTES)
  }
  for (const values of [...whole, ...secretPoints]) values.fill(0)
  return { token, publicKey, matcherShare, keyShare }
}

/** Like createTokenFrom: integers as they are, any randomness. */
export async function createProbeFrom(
  publicKey: Uint8Array,
  values: ArrayLike<number>,
  random: Randomness,
): Promise<Uint8Array> {
  checkMessages({ 'public key': publicKey })
  const probe = createMessage('probe', idBytes(publicKey), PROBE_BYTES)
  const seed = publicKey.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES)
  const matrix = (await expandKeyMatrix(seed)).map((element) => toWideSpectrum(element))
  const once = Array.from({ length: k }, () => toSmallSpectrum(ternary(random(TERNARY_BYTES))))

  // v = y + t e + sum of p_i r_i
  const sum = createSum(WIDE_LIMBS)
  for (const [i, points] of once.entries()) {
    addSmallProduct(sum, points, toWideSpectrum(readRing(publicKey, HEADER_BYTES + SEED_BYTES + i * RING_BYTES)))
  }
  writeRing(toRing(sum, withNoise(values, random)), probe, HEADER_BYTES)

  // u_j = -(sum of A_ij r_i + t e_j): the noise is symmetric, so its sign does not matter
  for (let j = 0; j < k; j++) {
    const column = createSum(WIDE_LIMBS)
    for (let i = 0; i < k; i++) addSmallProduct(column, once[i] as Float64Array, matrix[i * k + j] as Float64Array)
    const element = subtract(fromSmall(withNoise([], random)), toRing(column))
    writeRing(element, probe, HEADER_BYTES + (1 + j) * RING_BYTES)
  }
  return probe
}

function withNoise(values: ArrayLike<number>, random: Randomness): Float64Array {
  const sum = noise(random(n * NOISE_BYTES))
  for (let j = 0; j < values.length; j++) sum[j] = (sum[j] as number) + (values[j] as number)
  return sum
}
