import type { EnrolledToken } from '../create.ts'
import { dotSmall } from '../numbers.ts'
import { openingWeights, openWith, readProbe, readRings, type Share, spectraOf, toShare } from '../opening.ts'
import { HEADER_BYTES, SEED_BYTES, TOKEN_PARAMETERS } from '../parameters.ts'
import { addProduct, createSum, toRing, toSpectrum } from '../products.ts'
import { MODULO_T_BYTES, SPARSE_SIGN_BYTES, sparseSigns, systemRandomness, uniformModuloT } from '../random.ts'
import { add, LIMBS, type Ring, readRing } from '../ring.ts'
import { expandShare, expandTokenMasks } from '../seeds.ts'

const { n, k, qBits, dimension } = TOKEN_PARAMETERS

/** Sizes of phases without their flood, as powers of two. A message survives below `qBits` - 1; the flood hides what is below it. */
export interface Noise {
  score: number
  norm: number
  /** Of the probe under random weights like those of the tests; the encryption of zero in a test adds less than this. */
  linear: number
  short: number
}

/** What nobody in production can compute: it takes both shares. */
export async function noiseOf({ token, matcherShare, keyShare }: EnrolledToken, probe: Uint8Array): Promise<Noise> {
  const theirs = toShare(await expandShare(matcherShare.subarray(HEADER_BYTES)))
  const ours = toShare(readRings(keyShare, HEADER_BYTES, 14))
  const whole: Share = { s: sumOf(theirs.s, ours.s), pairs: sumOf(theirs.pairs, ours.pairs) }
  const masks = await expandTokenMasks(token.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES))
  const encrypted = { b: readRing(token, HEADER_BYTES + SEED_BYTES), a: masks }
  const fresh = readProbe(probe)
  const weights = openingWeights(whole, fresh, spectraOf(fresh), true)
  const phase = createSum(LIMBS)
  for (let j = 0; j < k; j++) addProduct(phase, toSpectrum(whole.s[j] as Ring), toSpectrum(fresh.a[j] as Ring))
  const freshPhase = add(toRing(phase), fresh.b)
  const linear = uniformModuloT(systemRandomness((n - dimension) * MODULO_T_BYTES), dimension, n)
  return {
    score: sizeOf(openWith(weights, encrypted)),
    norm: sizeOf(openWith(weights, fresh)),
    linear: sizeOf(dotSmall(freshPhase, linear)),
    short: sizeOf(dotSmall(freshPhase, sparseSigns(systemRandomness(SPARSE_SIGN_BYTES)))),
  }
}

const sumOf = (one: readonly Ring[], other: readonly Ring[]) => one.map((ring, i) => add(ring, other[i] as Ring))

const sizeOf = (phase: bigint) => Math.log2(Math.abs(Number(BigInt.asIntN(qBits, phase))) + 1)
