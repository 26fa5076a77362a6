/** Synthetic faces, and a token storage that tests can inspect. Only tests import this. */
import type { LocalToken } from '../token.ts'
import type { TokenStorage } from '../token-storage.ts'

const NUMBERS = 512

/** A face vector that is nearly orthogonal to that of any other seed. */
export function faceOf(seed: number): Float32Array {
  let state = seed * 2_654_435_761 + 1
  return Float32Array.from({ length: NUMBERS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  })
}

/** The same face on another day: mixed with this share of another face. */
export function varied(face: Float32Array, share: number, seed = 99): Float32Array {
  const other = faceOf(seed)
  return face.map((value, n) => value * (1 - share) + (other[n] ?? 0) * share)
}

export function storageWith(kept = new Map<string, LocalToken>()): TokenStorage & { kept: Map<string, LocalToken> } {
  return {
    kept,
    find: async (realm) => kept.get(realm),
    keep: async (realm, token) => void kept.set(realm, token),
    forget: async (realm) => void kept.delete(realm),
  }
}
