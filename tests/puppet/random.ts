/** Repeatable randomness: the same seed gives the same clip. Numbers from 0 to 1, 1 excluded. */
export function createRandom(seed: number): () => number {
  let state = (seed ^ 0x5bd1e995) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    // The low bits of a shift register are less random, so the word is mixed once more.
    return (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32
  }
}
