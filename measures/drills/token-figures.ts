import type { Figure } from '@ostiary/testkit/measuring/figure'

/** From which similarity on the key holder of this drill accepts: its default. */
export const COSINE_MIN = 0.49

export type Say = (text: string) => void

const figure = (name: string, value: number, floor: number, is: Figure['is']): Figure => ({
  ...{ name: `token-attacks.${name}`, value, floor, is },
})
export const atMost = (name: string, value: number, most: number) => figure(name, value, most, 'most')
export const atLeast = (name: string, value: number, least: number) => figure(name, value, least, 'least')

/** Ways to choose `chosen` of `all`, as a number of bits: what answers give away of which so many were no. */
export function choiceBits(all: number, chosen: number): number {
  let bits = 0
  for (let i = 0; i < chosen; i++) bits += Math.log2((all - i) / (i + 1))
  return bits
}
