import type { Figure } from '@ostiary/testkit/measuring/figure'

/** From which similarity on the key holder of this drill accepts: its default. */
export const COSINE_MIN = 0.49

export type Say = (text: string) => void

const figure = (name: string, value: number, floor: number, is: Figure['is']): Figure => ({
  ...{ name: `token-attacks.${name}`, value, floor, is },
})
export const atMost = (name: string, value: number, most: number) => figure(name, value, most, 'most')
export const atLeast = (name: string, value: number, least: number) => figure(name, value, least, 'least')
