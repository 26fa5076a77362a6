import { isIPv4, isIPv6 } from 'node:net'

/** An address as a number. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts as IPv4, because that is where it connects. */
interface Address {
  bits: 32 | 128
  value: bigint
}

export interface Network extends Address {
  prefix: number
}

/** IPv4 networks that are not public; all others are. */
const IPV4_REFUSED = networks([
  '0.0.0.0/8', // "this network": Linux connects 0.0.0.0 to itself
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; also the metadata service of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // looks public, but is Azure's host agent from within a machine there
  '169.254.0.0/16', // link-local; the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; also the metadata service of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays, withdrawn
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, with broadcast at its end
])

/**
 * For IPv6 only 2000::/3 is public, and these are the exceptions within it.
 * So loopback, ::, fc00::/7, fe80::/10, fec0::/10, ff00::/8, 100::/64, 5f00::/16, IPv4-compatible ::/96 and everything
 * not assigned yet need no row.
 */
const IPV6_PUBLIC = network('2000::/3')
const IPV6_REFUSED = networks([
  '2001::/23', // protocol assignments: Teredo 2001::/32, benchmarks 2001:2::/48, ORCHID 2001:10::/28 and 2001:20::/28
  '2001:db8::/32', // documentation
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
])

/**
 * IPv6 prefixes that a translator turns into IPv4: as public as the IPv4 address inside. The local NAT64 prefix 64:ff9b:1::/48 is
 * missing on purpose and so refused: the position of the IPv4 address in it depends on the translator (RFC 6052, 2.2), and a
 * wrong guess would read a public address where a private one is meant.
 */
const IPV6_EMBEDS: readonly { within: Network; shift: bigint }[] = [
  { within: network('64:ff9b::/96'), shift: 0n }, // NAT64
  { within: network('2002::/16'), shift: 80n }, // 6to4
]

/** Whether an address is one of the public internet. Anything that is not an address, or has a zone, is not. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  return address !== undefined && isPublic(address)
}

/** Whether a connection may go to an address: a public one, or one in a network that the operator allows. */
export function isAllowedAddress(ip: string, allowNetworks: readonly Network[]): boolean {
  const address = parseAddress(ip)
  return address !== undefined && (isWithinAny(address, allowNetworks) || isPublic(address))
}

/** Reads networks such as `10.0.0.0/8` or `fd00::/8`; a bare address is a network of one. Throws on anything else. */
export function parseNetworks(texts: readonly string[]): readonly Network[] {
  return networks(texts)
}

function isPublic(address: Address): boolean {
  if (address.bits === 32) return !isWithinAny(address, IPV4_REFUSED)
  const embeds = IPV6_EMBEDS.find(({ within }) => isWithin(address, within))
  if (embeds) return isPublic({ bits: 32, value: (address.value >> embeds.shift) & 0xffff_ffffn })
  return isWithin(address, IPV6_PUBLIC) && !isWithinAny(address, IPV6_REFUSED)
}

function isWithinAny(address: Address, list: readonly Network[]): boolean {
  return list.some((one) => isWithin(address, one))
}

function isWithin(address: Address, { bits, value, prefix }: Network): boolean {
  const shift = BigInt(bits - prefix)
  return address.bits === bits && address.value >> shift === value >> shift
}

function networks(texts: readonly string[]): readonly Network[] {
  return texts.map(network)
}

function network(text: string): Network {
  const [base = '', prefixText, ...rest] = text.split('/')
  const address = parseAddress(base)
  if (!address || rest.length > 0 || !/^\d{1,3}$/.test(prefixText ?? '0'))
    throw new Error('not a network such as 192.0.2.0/24 or 2001:db8::/32')
  // `::ffff:10.0.0.0/104` would mean 10.0.0.0/8: too easily misunderstood.
  if (address.bits === 32 && base.includes(':')) throw new Error('an IPv4 network must be written as such')
  const prefix = prefixText === undefined ? address.bits : Number(prefixText)
  if (prefix > address.bits) throw new Error('the prefix of a network is longer than its address')
  const hostBits = BigInt(address.bits - prefix)
  if ((address.value >> hostBits) << hostBits !== address.value)
    throw new Error('a network must begin at its first address')
  return { ...address, prefix }
}

function parseAddress(ip: string): Address | undefined {
  if (isIPv4(ip)) return { bits: 32, value: ipv4Value(ip) }
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (!isIPv6(ip) || ip.includes('%')) return undefined
  const value = ipv6Value(ip)
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value }
}

function ipv4Value(ip: string): bigint {
  return ip.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function ipv6Value(ip: string): bigint {
  const hexadecimal = ip.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const value = ipv4Value(tail)
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
  })
  const [head = [], tail = []] = hexadecimal.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
