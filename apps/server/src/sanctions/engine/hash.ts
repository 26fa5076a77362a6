/** Hashes that snapshots store: a change needs a new INDEX_FORMAT. */

export const NEAR_PREFIX = 7

/** Hashes a word's bytes without the letters at `skipA` and `skipB`; -1 skips nothing. */
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
 * Visits the hash of a word's first letters with `min` to `max` of them left out. Two words within `max` edits share at
 * least one of these hashes (Garbe's deletion neighbourhood).
 */
export function eachNeighbour(
  bytes: Uint8Array,
  length: number,
  min: number,
  max: number,
  visit: (hash: number) => void,
): void {
  const prefix = Math.min(length, NEAR_PREFIX)
  if (min === 0) visit(hashWithout(bytes, prefix, -1, -1))
  if (min <= 1 && max >= 1) {
    for (let a = 0; a < prefix; a++) {
      if (a > 0 && bytes[a] === bytes[a - 1]) continue
      visit(hashWithout(bytes, prefix, a, -1))
    }
  }
  if (max >= 2) {
    for (let a = 0; a < prefix; a++) for (let b = a + 1; b < prefix; b++) visit(hashWithout(bytes, prefix, a, b))
  }
}

/** Hashes two words of one name; their order does not matter. */
export function hashPair(a: number, b: number): number {
  let hash = Math.imul(a < b ? a : b, 0x9e3779b1) ^ Math.imul(a < b ? b : a, 0x85ebca6b)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Twelve bits of the hash and the word's length, so that most entries of a neighbour list are ruled out without reading the word. */
export function nearTag(hash: number, length: number): number {
  return ((hash >>> 20) << 4) | Math.min(length, 15)
}

export const INITIAL_TAGS = 32

/** A sixteen-bit tag that stands for a word in postings. Initials have tags of their own, one per letter. */
export function wordTag(id: number): number {
  let hash = Math.imul(id ^ 0x9e3779b9, 0x85ebca6b)
  hash ^= hash >>> 15
  return INITIAL_TAGS + ((hash >>> 0) % (65535 - INITIAL_TAGS))
}

export function initialTag(letter: number): number {
  return 1 + ((letter - 97) & 31)
}
