/** Hashes the index keeps in its files: they must never change without a new format number. */

export const NEAR_PREFIX = 7

/** Of a word's bytes, leaving out the letters at `skipA` and `skipB` (or neither, with -1). */
export function hashWithout(bytes: Uint8Array, length: number, skipA: number, skipB: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at++) {
    if (at === skipA || at === skipB) continue
    hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  }
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  hash ^= hash >>> 12
  hash = Math.imul(hash, 0x297a2d39)
  return (hash ^ (hash >>> 15)) >>> 0
}

export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/**
 * Every way to leave out up to `most` of the first letters of a word. Two words within that many edits share at least
 * one of them (Garbe's deletion neighbourhood).
 */
export function eachNeighbour(
  bytes: Uint8Array,
  length: number,
  least: number,
  most: number,
  visit: (hash: number) => void,
): void {
  const prefix = Math.min(length, NEAR_PREFIX)
  if (least === 0) visit(hashWithout(bytes, prefix, -1, -1))
  if (least <= 1 && most >= 1) {
    for (let a = 0; a < prefix; a++) {
      if (a > 0 && bytes[a] === bytes[a - 1]) continue
      visit(hashWithout(bytes, prefix, a, -1))
    }
  }
  if (most >= 2) {
    for (let a = 0; a < prefix; a++) for (let b = a + 1; b < prefix; b++) visit(hashWithout(bytes, prefix, a, b))
  }
}

/** Of two words in one name, in either order. */
export function hashPair(a: number, b: number): number {
  let hash = Math.imul(a < b ? a : b, 0x9e3779b1) ^ Math.imul(a < b ? b : a, 0x85ebca6b)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** What an entry of a neighbour list says about its word without fetching it: twelve bits of the hash, and its length. */
export function nearTag(hash: number, length: number): number {
  return ((hash >>> 20) << 4) | Math.min(length, 15)
}

export const INITIAL_TAGS = 32

/** Sixteen bits that stand for a word beside the names it occurs in. Initials have tags of their own, by letter. */
export function wordTag(id: number): number {
  let hash = Math.imul(id ^ 0x9e3779b9, 0x85ebca6b)
  hash ^= hash >>> 15
  return INITIAL_TAGS + ((hash >>> 0) % (65535 - INITIAL_TAGS))
}

export function initialTag(letter: number): number {
  return 1 + ((letter - 97) & 31)
}
