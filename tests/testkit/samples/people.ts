/**
 * Invented people in large numbers. Their vectors are distributed like those of faces: identities cluster around a few hundred
 * centres, and noisy samples cluster around each identity. Any sample can be computed again from its number, so a million
 * people need no memory.
 */
export interface People {
  /** Sample `sample` of person `person`, of length 1. */
  sample(person: number, sample: number): Float64Array
}

const DIMENSION = 512
const CENTRES = 200
// Shares of the centre in an identity and of the identity in a sample: two samples of a person have a cosine around 0.72,
// two people of one centre around 0.09.
const CENTRE_SHARE = 0.3
const IDENTITY_SHARE = 0.85

export function createPeople(seed: number): People {
  const centres = Array.from({ length: CENTRES }, (_, index) => direction(generator(seed, 1, index)))
  let lastPerson = -1
  let lastIdentity: Float64Array = new Float64Array(DIMENSION)
  const identityOf = (person: number) => {
    if (person !== lastPerson) {
      const centre = centres[person % CENTRES] ?? new Float64Array(DIMENSION)
      lastIdentity = mix(centre, direction(generator(seed, 2, person)), CENTRE_SHARE)
      lastPerson = person
    }
    return lastIdentity
  }
  return {
    sample: (person, sample) => mix(identityOf(person), direction(generator(seed, 3 + sample, person)), IDENTITY_SHARE),
  }
}

/** `share` of one direction, the rest of another, at length 1. */
function mix(main: Float64Array, other: Float64Array, share: number): Float64Array {
  const rest = Math.sqrt(1 - share * share)
  return scaled(main.map((value, i) => value * share + (other[i] ?? 0) * rest))
}

function direction(random: () => number): Float64Array {
  const vector = new Float64Array(DIMENSION)
  for (let i = 0; i < DIMENSION; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(random()))
    const angle = 2 * Math.PI * random()
    vector[i] = radius * Math.cos(angle)
    vector[i + 1] = radius * Math.sin(angle)
  }
  return scaled(vector)
}

function scaled(vector: Float64Array): Float64Array {
  let sum = 0
  for (const value of vector) sum += value * value
  const length = Math.sqrt(sum)
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length
  return vector
}

/** A separate random generator for each value (splitmix32). */
function generator(seed: number, kind: number, index: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(kind, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32 + 2 ** -33
  }
}
