import { type LookupFunction, Socket } from 'node:net'
import { buildConnector } from 'undici'
import { createSingleFlight } from '../single-flight.ts'
import { isAllowedAddress, parseNetworks } from './address.ts'
import { codeOf, OutboundError, RESOLVED, toOutboundError } from './errors.ts'
import { createResolver, type Lookup } from './resolver.ts'
import { checkTarget, type TargetPolicy, type TargetVerdict } from './target.ts'

export interface GuardOptions {
  /** Networks that are not public but may be called. */
  allowNetworks: readonly string[]
  allowHttp: boolean
  /** All addresses of a name. */
  lookup?: Lookup | undefined
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string | undefined
}

export interface ConnectorOptions {
  timeoutMs: number
  /** How long one address is tried when the name has several. */
  addressMs: number
  /** Whose connections these are: the name servers are asked in shares. */
  owner: string
}

/** Opens connections for undici. `onSocket` gets every socket when its connection starts, for a caller that must be able to end it before it is open. */
export type GuardedConnector = (onSocket: (socket: Socket) => void) => buildConnector.connector

/** At most so many addresses of a name are tried. */
const MAX_ADDRESSES_TRIED = 4

/** Limits that hold for every client of undici. The time limits of undici are off, because each call has one limit for everything. */
export const CLIENT_LIMITS = {
  pipelining: 1,
  allowH2: false,
  maxHeaderSize: 16_384,
  headersTimeout: 0,
  bodyTimeout: 0,
} as const

/**
 * The only way out: every HTTP call to a URL that a customer or operator entered connects through this guard. It checks the text of the
 * URL, resolves the name, refuses the name when any of its addresses is forbidden, and hands exactly the checked addresses to the
 * connection, so that the name cannot resolve differently in between. Proxies of the environment are not used.
 */
export interface Guard {
  /** Checks the text of a URL, without a DNS query. */
  check(url: string): TargetVerdict
  /** The parsed URL. Throws an OutboundError when it may not be called. */
  allow(url: string): URL
  /** Opens connections to the addresses that it has checked. Their errors are OutboundErrors. */
  connector(options: ConnectorOptions): GuardedConnector
}

export function createGuard({ allowNetworks, allowHttp, lookup = createResolver(), ca }: GuardOptions): Guard {
  const policy: TargetPolicy = { allowHttp, allowNetworks: parseNetworks(allowNetworks) }
  const guarded = guardedLookup(lookup, (address) => isAllowedAddress(address, policy.allowNetworks))
  const tlsLimits = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) } as const
  return {
    check: (url) => checkTarget(url, policy),
    allow(url) {
      const verdict = checkTarget(url, policy)
      if (verdict.ok) return verdict.url
      const reason = verdict.reason === 'address' ? 'forbidden_address' : 'forbidden_target'
      throw new OutboundError(reason, { code: verdict.reason })
    },
    connector({ timeoutMs, addressMs, owner }) {
      const connect = buildConnector({
        lookup: guarded(owner),
        timeout: timeoutMs,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressMs,
        ...tlsLimits,
      })
      return (onSocket) => (options, callback) => {
        let isConnected = false
        // undici returns the socket, although its types do not say so.
        const socket: unknown = connect(options, (error, opened) => {
          if (!error) return callback(null, opened)
          const isHandshake = isConnected && options.protocol === 'https:'
          callback(isHandshake ? new OutboundError('tls', { code: codeOf(error) }) : toOutboundError(error), null)
        })
        if (!(socket instanceof Socket)) return
        socket.once('connect', () => {
          isConnected = true
        })
        onSocket(socket)
      }
    },
  }
}

/** All addresses must be allowed: a name that has both kinds is an attack. Connections go to the addresses that this returns. */
function guardedLookup(lookup: Lookup, isAllowed: (address: string) => boolean): (owner: string) => LookupFunction {
  const lookups = createSingleFlight<readonly string[]>()
  return (owner) => (host, options, callback) => {
    const refuse = (error: OutboundError) => callback(error, [])
    lookups
      // Not shared between owners: a query that waits for a slot of its owner would make the others wait with it.
      .run(`${owner} ${host}`, async () => lookup(host, owner))
      .then(
        (found) => {
          const [first] = found
          if (first === undefined) return refuse(new OutboundError('dns'))
          if (!found.every(isAllowed)) return refuse(new OutboundError('forbidden_address', { code: RESOLVED }))
          if (options.all) callback(null, found.slice(0, MAX_ADDRESSES_TRIED).map(withFamily))
          else callback(null, first, withFamily(first).family)
        },
        (error: unknown) => refuse(new OutboundError('dns', { code: codeOf(error) })),
      )
  }
}

function withFamily(address: string): { address: string; family: number } {
  return { address, family: address.includes(':') ? 6 : 4 }
}
