import { PAIRS, TOKEN_PARAMETERS } from './parameters.ts'
import { expandRings } from './random.ts'

const { k } = TOKEN_PARAMETERS

/** The four uniform elements a_i of a token. */
export const expandTokenMasks = (seed: Uint8Array) => expandRings(seed, 'token masks', k)
/** The 16 uniform elements A_ij of a public key, row by row. */
export const expandKeyMatrix = (seed: Uint8Array) => expandRings(seed, 'public key matrix', k * k)
/** The matcher's shares of s_i, then of s_i conj(s_j) for i <= j. */
export const expandShare = (seed: Uint8Array) => expandRings(seed, 'matcher share', k + PAIRS)
