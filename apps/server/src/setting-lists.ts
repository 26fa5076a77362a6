import { isIP } from 'node:net'

/** An address, or a network such as `192.0.2.0/24`. */
export function isNetwork(entry: string): boolean {
  const [address = '', prefix = '0', ...rest] = entry.split('/')
  const family = isIP(address)
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
}

/** The entries of a comma-separated setting. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
