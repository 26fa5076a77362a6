/** Made-up faces for tests: vectors that cluster as those of real faces do. Deterministic. */
import { FACE_MODELS, type ModelVersion } from '@ostiary/contract'

export interface Faces {
  /** A person nobody has seen yet. */
  person(version?: ModelVersion): number[]
  /** Another picture of a person: `cosine` to the first one. */
  sample(of: readonly number[], cosine?: number): number[]
}

export function createFaces(seed: number): Faces {
  let state = seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const gaussian = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  const direction = (dimension: number) => scaled(Array.from({ length: dimension }, gaussian))

  return {
    person: (version = 'FACE3_3') => direction(FACE_MODELS[version].dimension),
    sample(of, cosine = 0.98) {
      const noise = direction(of.length)
      const along = inner(noise, of)
      const across = scaled(noise.map((value, i) => value - along * (of[i] ?? 0)))
      return of.map((value, i) => value * cosine + (across[i] ?? 0) * Math.sqrt(1 - cosine * cosine))
    },
  }
}

export function feature(embedding_vector: readonly number[]): { type: string; embedding_vector: readonly number[] } {
  return { type: 'face', embedding_vector }
}

function inner(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

function scaled(values: readonly number[]): number[] {
  const length = Math.sqrt(inner(values, values))
  return values.map((value) => value / length)
}
