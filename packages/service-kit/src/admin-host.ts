import { isIP } from 'node:net'

/**
 * Whether a request to an admin port names a host of ours: an address, `localhost`, or a configured name. A name that a stranger's page has
 * pointed to this machine (DNS rebinding) is none, so the page cannot read what stands here. Clients without a `Host` are no browsers.
 */
export function isAdminHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return true
  const host = header.replace(/:\d*$/, '').toLowerCase()
  return host === 'localhost' || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0 || names.includes(host)
}
