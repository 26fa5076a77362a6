import { BlockList, isIP, isIPv6 } from 'node:net'
import { UsageError } from '../command.ts'

const NEARBY = new BlockList()
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  NEARBY.addSubnet(network, prefix, 'ipv4')
}
NEARBY.addAddress('::1', 'ipv6')
NEARBY.addSubnet('fc00::', 7, 'ipv6')
NEARBY.addSubnet('fe80::', 10, 'ipv6')
/** Where a cloud tells its machines their secrets, in the middle of a private network. 169.254.169.254 is in none. */
const METADATA = new BlockList()
METADATA.addAddress('fd00:ec2::254', 'ipv6')

/** Where events are forwarded to. Results of people must not leave for the internet by a slip of the keyboard. */
export function targetOf(text: string, allowRemote: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--forward must be a URL such as http://localhost:3000/hook')
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--forward must not hold a user name or password; --header can send one')
  }
  if (!allowRemote && !isNearby(url.hostname)) {
    throw new UsageError(
      `${url.hostname} is neither this machine nor an address of a private network: say --allow-remote if results may go there`,
    )
  }
  return url.href
}

/** Names are not looked up: what they lead to can change after the check. */
function isNearby(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) {
    const family = isIPv6(host) ? 'ipv6' : 'ipv4'
    return NEARBY.check(host, family) && !METADATA.check(host, family)
  }
  return host === 'localhost' || host.endsWith('.localhost') || host === 'host.docker.internal'
}
