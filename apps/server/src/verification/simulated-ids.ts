import { hash } from 'node:crypto'

/** An id that no enrolled person has: version 8 is free for every purpose. Equal names have equal ids. */
export function simulatedId(name: string): string {
  const hex = hash('sha256', `ostiary/sandbox/${name}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const SIMULATED = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/

/** A test host may name a person that an earlier test session has reported. */
export const isSimulatedId = (text: string): boolean => SIMULATED.test(text)
