import { type Random, seededRandom } from '@ostiary/device/simulated'

const NUMBERS = 512
/** How alike two pictures of one person are: as the models find it of real ones, and far above any threshold. */
const LIKENESS = 0.85

/** What models would make of a picture of an invented person: the same number is the same person, every picture differs a little. */
export function inventedFace(person: number, picture: Random): Float32Array {
  const face = direction(seededRandom(person))
  const noise = direction(picture)
  const share = Math.sqrt(1 - LIKENESS * LIKENESS)
  return Float32Array.from(face, (value, at) => value * LIKENESS + (noise[at] ?? 0) * share)
}

/** Of length 1, and as far from any other as chance has it: nearly at a right angle. */
function direction(random: Random): Float32Array {
  const values = Float32Array.from({ length: NUMBERS }, () => normal(random))
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
