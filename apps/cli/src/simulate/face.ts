import { type Random, seededRandom } from '@ostiary/device/simulated'

const NUMBERS = 512
/** Similarity of two pictures of one person: what the models measure on real people, and far above any threshold. */
const LIKENESS = 0.85

/** The vector of a picture of an invented person. The same number is the same person; every picture differs a little. */
export function inventedFace(person: number, picture: Random): Float32Array {
  const face = direction(seededRandom(person))
  const noise = direction(picture)
  const share = Math.sqrt(1 - LIKENESS * LIKENESS)
  return Float32Array.from(face, (value, at) => value * LIKENESS + (noise[at] ?? 0) * share)
}

/** A random unit vector. Two of them are nearly at a right angle. */
function direction(random: Random): Float32Array {
  const values = Float32Array.from({ length: NUMBERS }, () => normal(random))
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
