/** Limits are chosen on one half of the people and reported on the other as well, so that they do not flatter themselves. */
import { createHash } from 'node:crypto'

export const HALVES = ['tuning', 'held out'] as const
export type Half = (typeof HALVES)[number]

/** By the first byte of the SHA-256 of the person's id: always the same, whatever the order of the portraits. */
export function halfOf(person: string): Half {
  return (createHash('sha256').update(person).digest()[0] ?? 0) % 2 === 0 ? 'tuning' : 'held out'
}
