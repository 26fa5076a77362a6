import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports. Seconds pass between this check and the moment when the process listens, and other tests take many
 * ephemeral ports in that time.
 */
const FIRST = 12_000
const LAST = 31_999

/** Different ports that are free now, for a process that starts later. */
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
