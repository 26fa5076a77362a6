import { NETWORK_PREFIXES } from '@ostiary/contract'

/** A network that a request counts against, and how many times one address's allowance it has. */
export interface Network {
  name: string
  factor: number
}

/**
 * The networks that an address belongs to, narrowest first: the address itself for IPv4; its /64, /56 and /48 for IPv6. With a limit,
 * their names are those of its counters (docs/decisions/0026-limits-across-processes.md).
 */
export function networksOf(address: string, limit?: string): Network[] {
  const groups = groupsOf(address)
  const before = limit === undefined ? '' : `${limit}/`
  if (typeof groups === 'string') return [{ name: before + groups, factor: 1 }]
  return NETWORK_PREFIXES.map(({ bits, factor }) => ({ name: before + prefixOf(groups, bits), factor }))
}

/** The narrowest of them: the one subscriber that an address belongs to. */
export function networkOf(address: string): string {
  const groups = groupsOf(address)
  return typeof groups === 'string' ? groups : prefixOf(groups, 64)
}

/** The first 64 bits of an IPv6 address as four groups of 16, or an IPv4 address as it is. */
function groupsOf(address: string): string | number[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const whole = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ? tail.split(':') : [])]
  return whole.slice(0, 4).map((group) => Number.parseInt(group, 16))
}

function prefixOf(groups: readonly number[], bits: (typeof NETWORK_PREFIXES)[number]['bits']): string {
  const kept = groups.map((group, at) => (at < 3 ? group : bits === 64 ? group : bits === 56 ? group & 0xff00 : 0))
  return `${kept.map((group) => group.toString(16)).join(':')}::/${bits}`
}
