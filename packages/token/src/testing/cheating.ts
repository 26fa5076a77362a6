/** What parties that cheat compute (the review's attacks A1 and A2). For tests and measures: each shows that an attack is real where no check stands before it. */
import { createMessage, idBytes } from '../format.ts'
import { messageOf, readNumber, writeNumber } from '../numbers.ts'
import { type Ciphertext, createOpener, readProbe, readRings, type Share, toShare } from '../opening.ts'
import {
  HEADER_BYTES,
  NUMBER_BYTES,
  PAIRS,
  PROBE_BYTES,
  RING_BYTES,
  SEED_BYTES,
  TOKEN_PARAMETERS,
} from '../parameters.ts'
import { testsOf } from '../probe-tests.ts'
import { addProduct, createSum, toRing, toSpectrum } from '../products.ts'
import { add, fromSmall, LIMBS, type Ring, readRing, writeRing } from '../ring.ts'
import { expandShare, expandTokenMasks } from '../seeds.ts'

const { n, k } = TOKEN_PARAMETERS
const SCORE_AT = HEADER_BYTES
const NORM_AT = HEADER_BYTES + NUMBER_BYTES

/** Both shares of a key: what no party of the protocol has, but everyone who made the key. */
export interface BothShares {
  matcherShare: Uint8Array
  keyShare: Uint8Array
}

async function secretOf({ matcherShare, keyShare }: BothShares): Promise<Ring[]> {
  const theirs = toShare(await expandShare(matcherShare.subarray(HEADER_BYTES)))
  const ours = toShare(readRings(keyShare, HEADER_BYTES, k + PAIRS))
  return theirs.s.map((element, i) => add(element, ours.s[i] as Ring))
}

/** The secret key: 4 times 1,024 numbers -1, 0 and 1. */
export async function readSecret(shares: BothShares): Promise<number[][]> {
  const small = (element: Ring) => Array.from(element.subarray(0, n))
  return (await secretOf(shares)).map(small)
}

/** All 1,024 numbers of a probe. With the wrong key they are noise. */
export async function decryptProbe(probe: Uint8Array, shares: BothShares): Promise<number[]> {
  const { b, a } = readProbe(probe)
  const sum = createSum(LIMBS)
  for (const [j, element] of (await secretOf(shares)).entries()) {
    addProduct(sum, toSpectrum(element), toSpectrum(a[j] as Ring))
  }
  const bytes = new Uint8Array(RING_BYTES)
  writeRing(add(toRing(sum), b), bytes)
  return Array.from({ length: n }, (_, j) => messageOf(readNumber(bytes, j * NUMBER_BYTES)))
}

/** A1: a probe whose norm shows the first part of the secret: its phase is `numbers` + s_0 + t (s_1 + s_2 + s_3). */
export function probeForKey(publicKey: Uint8Array, numbers: ArrayLike<number>): Uint8Array {
  const probe = createMessage('probe', idBytes(publicKey), PROBE_BYTES)
  writeRing(fromSmall(numbers), probe, HEADER_BYTES)
  for (let j = 0; j < k; j++) {
    // A multiple of t does not show. A zero would make the probe transparent.
    const one = fromSmall([j === 0 ? 1 : TOKEN_PARAMETERS.t])
    writeRing(one, probe, HEADER_BYTES + (1 + j) * RING_BYTES)
  }
  return probe
}

/** A2: the same evaluation with another number in place of the score or the norm: all that a matcher can choose of them. */
export function withShift(evaluation: Uint8Array, of: 'score' | 'norm', by: number): Uint8Array {
  const changed = evaluation.slice()
  const at = of === 'score' ? SCORE_AT : NORM_AT
  writeNumber(readNumber(evaluation, at) + BigInt(by), changed, at)
  return changed
}

/** A2: every test is a constant that passes: its product is zero, so that only the number counts. */
export function withConstantTests(evaluation: Uint8Array): Uint8Array {
  const changed = evaluation.slice()
  for (const { offset, positions } of testsOf(false)) {
    changed.fill(0, offset, offset + k * RING_BYTES + positions.length * NUMBER_BYTES)
  }
  return changed
}

/**
 * A2: a foreign product in a short test. Its first number opens to number `index` of the enrolled vector plus `shift`: a question about
 * the vector, whose answer is whether the test fails. The matcher needs its own share and the token for it, and no probe.
 */
export async function withForeignTest(
  evaluation: Uint8Array,
  { token, matcherShare }: { token: Uint8Array; matcherShare: Uint8Array },
  { index, shift }: { index: number; shift: number },
): Promise<Uint8Array> {
  const changed = evaluation.slice()
  const masks = await expandTokenMasks(token.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES))
  const encrypted: Ciphertext = { b: readRing(token, HEADER_BYTES + SEED_BYTES), a: masks }
  const share: Share = toShare(await expandShare(matcherShare.subarray(HEADER_BYTES)))
  const turned = { b: turnedBack(encrypted.b, index), a: encrypted.a.map((element) => turnedBack(element, index)) }
  const open = createOpener(share)
  const bytes = new Uint8Array(RING_BYTES)
  writeRing(turned.b, bytes)
  const test = testsOf(false).find(({ kind }) => kind === 'short')
  if (!test) throw new Error('There is no short test')
  for (const [j, element] of turned.a.entries()) writeRing(element, changed, test.offset + j * RING_BYTES)
  for (const [place, position] of test.positions.entries()) {
    const value =
      readNumber(bytes, position * NUMBER_BYTES) + open(turned.a, position) + BigInt(place === 0 ? shift : 0)
    writeNumber(value, changed, test.offset + k * RING_BYTES + place * NUMBER_BYTES)
  }
  return changed
}

/** The element times z^-by: its coefficient 0 is the coefficient `by`. */
function turnedBack(element: Ring, by: number): Ring {
  const turned = new Float64Array(element.length)
  for (let plane = 0; plane < element.length; plane += n) {
    for (let j = 0; j < n; j++) {
      const from = j + by
      turned[plane + j] = from < n ? (element[plane + from] as number) : -(element[plane + from - n] as number)
    }
  }
  return turned
}
