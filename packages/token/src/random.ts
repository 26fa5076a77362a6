import { RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import { type Ring, readRing } from './ring.ts'

const { n, t, noiseBits } = TOKEN_PARAMETERS

/** Where random bytes come from. Only test vectors use another source than `systemRandomness`. */
export type Randomness = (bytes: number) => Uint8Array

/** One call of getRandomValues gives at most 65,536 bytes. */
const RANDOM_BYTES_MAX = 65_536

export function systemRandomness(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += RANDOM_BYTES_MAX) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES_MAX))
  }
  return bytes
}

/** Bytes from a seed: AES-256-CTR from zero under HKDF-SHA-256(seed, salt, label). */
export async function expand(
  seed: Uint8Array,
  label: string,
  length: number,
  salt: Uint8Array = new Uint8Array(),
): Promise<Uint8Array> {
  const source = await crypto.subtle.importKey('raw', new Uint8Array(seed), 'HKDF', false, ['deriveKey'])
  const info = new TextEncoder().encode(`ostiary token 1 ${label}`)
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(salt), info }
  const key = await crypto.subtle.deriveKey(hkdf, source, { name: 'AES-CTR', length: 256 }, false, ['encrypt'])
  const counter = { name: 'AES-CTR', counter: new Uint8Array(16), length: 64 }
  return new Uint8Array(await crypto.subtle.encrypt(counter, key, new Uint8Array(length)))
}

/** Uniform elements from a seed. The modulus is a power of two, so any bytes are an element. */
export async function expandRings(seed: Uint8Array, label: string, count: number): Promise<Ring[]> {
  const bytes = await expand(seed, label, count * RING_BYTES)
  return Array.from({ length: count }, (_, index) => readRing(bytes, index * RING_BYTES))
}

/** 1,024 uniform numbers -1, 0, 1. A byte of 255 is left out; more than 256 of those in 1,280 bytes do not happen. */
export const TERNARY_BYTES = 1280
export function ternary(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(n)
  let count = 0
  for (let at = 0; count < n; at++) {
    const byte = bytes[at]
    if (byte === undefined) throw new Error('The random bytes did not suffice')
    if (byte < 255) values[count++] = (byte % 3) - 1
  }
  return values
}

/** t times centred binomial numbers, one for each 6 bytes. */
export const NOISE_BYTES = 6
export function noise(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(bytes.length / NOISE_BYTES)
  const mask = 2 ** noiseBits - 1
  for (let j = 0, at = 0; j < values.length; j++, at += NOISE_BYTES) {
    const one = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)
    const other = (bytes[at + 3] as number) | ((bytes[at + 4] as number) << 8) | ((bytes[at + 5] as number) << 16)
    values[j] = t * (countBits(one & mask) - countBits(other & mask))
  }
  return values
}

function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/**
 * Uniform numbers modulo t, around 0, at the places `from` to `to` - 1. Words of 14 bits from t on are left out, one in four;
 * with 4 bytes for each number the bytes suffice (512 numbers: 18 standard deviations).
 */
export const MODULO_T_BYTES = 4
export function uniformModuloT(bytes: Uint8Array, from: number, to: number): Float64Array {
  const values = new Float64Array(n)
  for (let j = from, at = 0; j < to; at += 2) {
    if (at + 1 >= bytes.length) throw new Error('The random bytes did not suffice')
    const word = ((bytes[at] as number) | ((bytes[at + 1] as number) << 8)) & 0x3fff
    if (word < t) values[j++] = word - (t - 1) / 2
  }
  return values
}

/** 1,024 numbers of which half are 0, a quarter 1, a quarter -1. */
export const SPARSE_SIGN_BYTES = n / 4
export function sparseSigns(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(n)
  for (let j = 0; j < n; j++) {
    const bits = ((bytes[j >> 2] as number) >>> (2 * (j & 3))) & 3
    values[j] = bits === 0 ? 1 : bits === 1 ? -1 : 0
  }
  return values
}
