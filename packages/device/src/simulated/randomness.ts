/** A number from 0 to below 1, as Math.random gives. */
export type Random = () => number

/** The same numbers for the same seed (mulberry32), so that a simulated person can be reproduced. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function between(random: Random, min: number, max: number): number {
  return min + random() * (max - min)
}

/** Noise around 0 with this standard deviation, never further than four of them: a sum of uniform numbers. */
export function noise(random: Random, deviation: number): number {
  let sum = 0
  for (let i = 0; i < 6; i++) sum += random() - 0.5
  return sum * Math.SQRT2 * deviation
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** 64 random bits in base64url: the last of the 11 characters carries four. */
export function randomDigest(random: Random): string {
  const character = (step: number) => ALPHABET.charAt(Math.floor(random() * (ALPHABET.length / step)) * step)
  return `${Array.from({ length: 10 }, () => character(1)).join('')}${character(4)}`
}
