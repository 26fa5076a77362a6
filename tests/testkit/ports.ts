import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below those that a system gives to whoever asks for any port: between the look and the start of a process that is to listen there
 * some seconds pass, in which other tests ask for very many.
 */
const FIRST = 12_000
const LAST = 31_999

/** Ports that are free now, all different, for a process that is still to be started. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(FIRST, LAST + 1)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
