import { isIP } from 'node:net'
import { isAllowedAddress, type Network } from './address.ts'

export interface TargetPolicy {
  /** Unencrypted connections too. For an operator's own network; never for what customers enter. */
  allowHttp: boolean
  /** Networks that are not public and still allowed. */
  allowNetworks: readonly Network[]
}

/** What is wrong with a URL. `address` is an IP address that may not be reached; the others are about its form. */
export type TargetFault =
  | 'length'
  | 'characters'
  | 'syntax'
  | 'scheme'
  | 'credentials'
  | 'host_notation'
  | 'host_name'
  | 'local_name'
  | 'address'
  | 'port'

export type TargetVerdict = { ok: true; url: URL } | { ok: false; reason: TargetFault }

const MAX_URL_CHARS = 2_048
const MAX_HOST_CHARS = 253

/**
 * Names that belong to a local network by definition (RFC 6761, 6762, 8375, ICANN on `.internal`) or by convention. Their
 * addresses would be refused too; refusing the name saves the DNS query.
 */
const LOCAL_SUFFIXES = ['localhost', 'local', 'internal', 'intranet', 'localdomain', 'lan', 'home', 'corp', 'home.arpa']

/**
 * Ports from 1024 on that web servers do not use. Some of these services read the lines of an HTTP request as
 * commands (Redis, memcached, mail), others speak HTTP and need no authentication (Docker, etcd,
 * Elasticsearch, Kubernetes). Short on purpose: the real protection is the check of the address.
 */
const REFUSED_PORTS = new Set([
  1433, // SQL Server
  1521, // Oracle
  2049, // NFS
  2375, // Docker
  2376,
  2379, // etcd
  2380,
  2525, // mail
  3306, // MySQL
  3389, // remote desktop
  5432, // PostgreSQL
  5672, // RabbitMQ
  5900, // VNC
  5984, // CouchDB
  6379, // Redis
  6443, // Kubernetes
  8500, // Consul
  9042, // Cassandra
  9092, // Kafka
  9200, // Elasticsearch
  9300,
  10250, // Kubernetes
  11211, // memcached
  27017, // MongoDB
])

const PRINTABLE_ASCII = /^[!-~]+$/
const PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)/i
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Whether a URL may be called, judged by its text. Does not resolve names: their addresses are checked when the
 * connection is opened, because they can change until then.
 */
export function checkTarget(text: string, policy: TargetPolicy): TargetVerdict {
  const refuse = (reason: TargetFault): TargetVerdict => ({ ok: false, reason })
  if (text.length === 0 || text.length > MAX_URL_CHARS) return refuse('length')
  // The URL parser drops tabs and line breaks, and takes a backslash for a slash; other parsers do not.
  if (!PRINTABLE_ASCII.test(text) || text.includes('\\')) return refuse('characters')
  // It also accepts `https:host` and `https:///host`: only the plain form means the same to every parser.
  const [, scheme, authority] = PARTS.exec(text) ?? []
  if (scheme === undefined || authority === undefined) return refuse('syntax')
  if (!isAllowedScheme(scheme, policy)) return refuse('scheme')
  if (authority.includes('@')) return refuse('credentials')
  if (!URL.canParse(text)) return refuse('syntax')
  const url = new URL(text)
  // 0x7f.1, 127.1, 2130706433, %31... are all 127.0.0.1 after parsing. Only attackers write a host that way.
  if (authority.replace(/:\d*$/, '').toLowerCase() !== url.hostname) return refuse('host_notation')
  const hostFault = faultOfHost(url, policy)
  if (hostFault) return refuse(hostFault)
  return isAllowedPort(url) ? { ok: true, url } : refuse('port')
}

/** The IP address in a URL, without the brackets of IPv6; undefined when the URL has a name. */
export function addressIn(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? undefined : host
}

function isAllowedScheme(scheme: string, { allowHttp }: TargetPolicy): boolean {
  const plain = scheme.toLowerCase()
  return plain === 'https' || (plain === 'http' && allowHttp)
}

function faultOfHost(url: URL, { allowNetworks }: TargetPolicy): TargetFault | undefined {
  const address = addressIn(url)
  if (address !== undefined) return isAllowedAddress(address, allowNetworks) ? undefined : 'address'
  const labels = url.hostname.split('.')
  // A trailing dot gives an empty last label: the same host under a name that no list and no certificate has.
  if (url.hostname.length > MAX_HOST_CHARS || !labels.every((label) => LABEL.test(label))) return 'host_name'
  const isLocal = LOCAL_SUFFIXES.some((suffix) => `.${url.hostname}`.endsWith(`.${suffix}`))
  // A resolver completes a single label from its search list: `redis` would be a host of the local network.
  return isLocal || labels.length === 1 ? 'local_name' : undefined
}

function isAllowedPort(url: URL): boolean {
  if (url.port === '') return true
  const port = Number(url.port)
  return port === 443 || (port >= 1024 && !REFUSED_PORTS.has(port))
}
