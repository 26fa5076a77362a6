import { createProbeFrom, createTokenFrom, type EnrolledToken } from '../create.ts'
import { evaluate } from '../evaluate.ts'
import { type Judgement, judge } from '../judge.ts'
import { quantise } from '../quantise.ts'
import { expand, type Randomness } from '../random.ts'

/** A repeatable stream of numbers between 0 and 1 (xorshift), so that a failing test fails again. */
export function createNumbers(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** A vector of 512 numbers in a random direction. */
export function randomFace(next: () => number): number[] {
  return Array.from({ length: 512 }, () => next() + next() + next() + next() - 2)
}

/** Another picture of the same face: a cosine of about .75. */
export function sameFace(face: readonly number[], next: () => number): number[] {
  const other = randomFace(next)
  return face.map((value, index) => value + 0.88 * (other[index] ?? 0))
}

export function innerProduct(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0)
  return sum
}

export const TOKEN_ID = Uint8Array.from({ length: 16 }, (_, index) => index + 1)
/** Fixed: one honest comparison in 15,000 fails the short tests by chance, and a test must not. */
export const SECRET = Uint8Array.from({ length: 32 }, (_, index) => 255 - index)

/** Enough for a token or a probe. */
const RANDOM_BYTES = 40_000

/** A source of bytes that repeats itself: for tests and test vectors, never for a real token. */
export async function createRepeatable(seed: Uint8Array): Promise<Randomness> {
  const bytes = await expand(seed, 'test vectors', RANDOM_BYTES)
  let at = 0
  return (count) => {
    if (at + count > bytes.length) throw new Error('The random bytes did not suffice')
    at += count
    return bytes.subarray(at - count, at)
  }
}

const seedOf = (text: string) => new TextEncoder().encode(text.padEnd(32, '.')).subarray(0, 32)

/** A token of these integers, or of a face. `label` stands for the randomness: another label, another token. */
export async function tokenOf(values: ArrayLike<number>, label: string): Promise<EnrolledToken> {
  return createTokenFrom(TOKEN_ID, toIntegers(values), await createRepeatable(seedOf(`token ${label}`)))
}

export async function probeOf(
  { publicKey }: EnrolledToken,
  values: ArrayLike<number>,
  label: string,
): Promise<Uint8Array> {
  return createProbeFrom(publicKey, toIntegers(values), await createRepeatable(seedOf(`probe ${label}`)))
}

/** Vectors are quantised, integers taken as they are: a cheating browser encrypts what it likes. */
function toIntegers(values: ArrayLike<number>): ArrayLike<number> {
  return Array.from(values).every((value) => Number.isInteger(value)) ? values : quantise(values)
}

/** Both services, one after the other. */
export async function compare(enrolled: EnrolledToken, probe: Uint8Array, isEnrolment = false): Promise<Judgement> {
  const { token, publicKey, matcherShare, keyShare } = enrolled
  const evaluation = await evaluate({ token, publicKey, matcherShare, probe, secret: SECRET, isEnrolment })
  return judge({ token, probe, evaluation, keyShare, isEnrolment })
}
