/** Probes that no honest page makes (the note's test 9, the review's findings 4, 5 and 8). Repeatable: a forgery that gets through does so again. */
import { quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { createProbeFrom, createRepeatable } from '@ostiary/token/testing'
import { createVectors } from './oracle-attack.ts'

const { n, k, t, scale, dimension } = TOKEN_PARAMETERS
const HEADER_BYTES = 20
const RING_BYTES = (n * TOKEN_PARAMETERS.qBits) / 8
const HALF = (t + 1) / 2
/** Scores from here on are accepted, if the tests pass. */
const WANTED_COSINE = 0.55

interface Setting {
  face: readonly number[]
  publicKey: Uint8Array
  /** Another number, other randomness. */
  seed: number
}

/** The numbers to encrypt. */
type Numbers = (setting: Setting, random: ReturnType<typeof createVectors>) => ArrayLike<number>
/** What is done to the bytes of a probe. */
type Change = (probe: Uint8Array) => Uint8Array

/** A vector that is too long raises the score of a face that is only a little alike. */
const scaled =
  (factor: number): Numbers =>
  (setting, random) =>
    lengthened(alike(setting, random, WANTED_COSINE / factor), factor)

/** The length of 2.43 is right modulo t: only the short tests see it. */
const wrapped: Numbers = (setting, random) => {
  const vector = alike(setting, random, 0.3)
  for (let factor = 2.3; factor < 2.6; factor += 0.0001) {
    const numbers = lengthened(vector, factor)
    if (Math.abs(squared(numbers) - t - scale ** 2) < 20) return numbers
  }
  throw new Error('No factor fits')
}

const uniform: Numbers = (_, random) => {
  const vector = random.direction()
  return Array.from({ length: dimension }, (_each, i) => centred(Math.floor(Math.abs(vector[i] ?? 0) * 1e9)))
}

/** Halves modulo t: sums of an even number of them are short. */
const halves =
  (isFirstEven: boolean): Numbers =>
  ({ face }) =>
    Array.from(quantise(face), (value, i) => centred((2 * value + (isFirstEven && i === 0 ? 0 : 1)) * HALF))

/** The face itself, and something more where an honest page has nothing. */
const withJunk =
  (value: number): Numbers =>
  ({ face, seed }) => {
    const numbers = new Int32Array(n)
    numbers.set(quantise(face))
    numbers[dimension + ((seed * 97) % dimension)] = value
    return numbers
  }

const same: Change = (probe) => probe
const part = (from: number, to = from + 1) =>
  [HEADER_BYTES + from * RING_BYTES, HEADER_BYTES + to * RING_BYTES] as const
const honest: Numbers = ({ face }) => quantise(face)

/**
 * The wrap-tuned one passes the short tests with a probability of 4e-4 (review, finding 5) and is then accepted of a face that is only .21
 * alike; a token gives three tries. The others: 2^-27 and less.
 */
export const FORGERIES: readonly { name: string; numbers: Numbers; change: Change }[] = [
  ...[1.05, 1.1, 1.4, 2.43, 3, 10].map((factor) => ({
    ...{ name: `${factor} times too long`, numbers: scaled(factor), change: same },
  })),
  { name: 'wrap-tuned', numbers: wrapped, change: same },
  { name: 'uniform modulo t', numbers: uniform, change: same },
  { name: 'halves of t', numbers: halves(false), change: same },
  { name: 'halves of t, the first even', numbers: halves(true), change: same },
  { name: 'a 1 in an unused coefficient', numbers: withJunk(1), change: same },
  { name: 'junk in an unused coefficient', numbers: withJunk(4321), change: same },
  { name: 'zero', numbers: () => [], change: same },
  { name: 'transparent', numbers: honest, change: (probe) => probe.fill(0, ...part(1, k + 1)) },
  { name: 'a part transparent', numbers: honest, change: (probe) => probe.fill(0, ...part(k)) },
  { name: 'too short', numbers: honest, change: (probe) => probe.slice(0, -1) },
  { name: 'too long', numbers: honest, change: (probe) => Buffer.concat([probe, Buffer.of(0)]) },
  { name: 'of the reserved format', numbers: honest, change: (probe) => probe.fill(2, 2, 3) },
  { name: 'of another face model', numbers: honest, change: (probe) => probe.fill(9, 3, 4) },
  { name: 'of another token', numbers: honest, change: (probe) => probe.fill(7, 4, 20) },
]

export async function forge({ numbers, change }: (typeof FORGERIES)[number], setting: Setting): Promise<Uint8Array> {
  const values = numbers(setting, createVectors(setting.seed))
  return change(await createProbeFrom(setting.publicKey, values, await repeatable(setting.seed)))
}

/** Randomness for a token or a probe that repeats itself. */
export const repeatable = (seed: number) =>
  createRepeatable(Uint8Array.from({ length: 32 }, (_, at) => (seed >> at) & 255))

/** A vector of length 1 with this cosine to the face: that of a person who looks alike, or has a picture. */
function alike({ face }: Setting, random: ReturnType<typeof createVectors>, cosine: number): number[] {
  const length = Math.sqrt(squared(face))
  const own = face.map((value) => value / length)
  const other = random.direction()
  const along = own.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0)
  const across = own.map((value, i) => (other[i] ?? 0) - along * value)
  const width = Math.sqrt(squared(across))
  return own.map((value, i) => cosine * value + (Math.sqrt(1 - cosine ** 2) * (across[i] ?? 0)) / width)
}

const lengthened = (vector: readonly number[], factor: number) =>
  vector.map((value) => Math.round(value * scale * factor))

function squared(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value ** 2, 0)
}

function centred(value: number): number {
  const rest = ((value % t) + t) % t
  return rest > t / 2 ? rest - t : rest
}
