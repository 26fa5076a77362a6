import { connect as connectTcp, type LookupFunction, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { buildConnector } from 'undici'
import { createSingleFlight } from '../single-flight.ts'
import { isAllowedAddress, parseNetworks } from './address.ts'
import { codeOf, OutboundError, RESOLVED, toOutboundError } from './errors.ts'
import { createResolver, type Lookup } from './resolver.ts'
import { addressIn, checkTarget, type TargetPolicy, type TargetVerdict } from './target.ts'

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
  /** Gets every socket when its connection starts, for a caller that must be able to end it before it is open. */
  onSocket?(socket: Socket): void
}

export interface DialOptions {
  /** Scheme, host and port count. The URL must have been allowed. */
  url: URL
  addressMs: number
  owner: string
}

/** What happens to a connection. */
export interface DialEvents {
  onOpen(): void
  /** The first `length` bytes have arrived. The next call reuses them, whichever connection it is for. */
  onBytes(bytes: Buffer, length: number): void
  /** The last event, with the reason if the connection failed. */
  onClosed(failure: OutboundError | undefined): void
}

/** Starts a connection to one origin. `destroy` of the socket ends it at any time. */
export type Dial = (events: DialEvents) => Socket

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
  /** Opens connections for undici. Errors are OutboundErrors. */
  connector(options: ConnectorOptions): buildConnector.connector
  /** Opens connections for our own sender (pooled.ts). It has no time limit of its own. */
  dialer(options: DialOptions): Dial
}

export function createGuard({ allowNetworks, allowHttp, lookup = createResolver(), ca }: GuardOptions): Guard {
  const policy: TargetPolicy = { allowHttp, allowNetworks: parseNetworks(allowNetworks) }
  const guarded = guardedLookup(lookup, (address) => isAllowedAddress(address, policy.allowNetworks))
  const tlsLimits = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) } as const
  // One for all connections: each hands its bytes on before the next one reads. A buffer for each read would cost more than the reading.
  const arrived = Buffer.allocUnsafe(READ_BYTES)
  return {
    check: (url) => checkTarget(url, policy),
    allow(url) {
      const verdict = checkTarget(url, policy)
      if (verdict.ok) return verdict.url
      const reason = verdict.reason === 'address' ? 'forbidden_address' : 'forbidden_target'
      throw new OutboundError(reason, { code: verdict.reason })
    },
    connector({ timeoutMs, addressMs, owner, onSocket }) {
      const connect = buildConnector({
        lookup: guarded(owner),
        timeout: timeoutMs,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressMs,
        ...tlsLimits,
      })
      return (options, callback) => {
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
        onSocket?.(socket)
      }
    },
    dialer({ url, addressMs, owner }) {
      const isTls = url.protocol === 'https:'
      const address = addressIn(url)
      const options = {
        host: address ?? url.hostname,
        port: Number(url.port || (isTls ? 443 : 80)),
        lookup: guarded(owner),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressMs,
      }
      // A certificate for an address is checked too, but an address is no server name (RFC 6066, section 3).
      const tlsOptions = {
        ...tlsLimits,
        servername: address === undefined ? url.hostname : '',
        ALPNProtocols: ['http/1.1'],
      }
      let session: Buffer | undefined
      return ({ onOpen, onBytes, onClosed }) => {
        const onread = {
          buffer: arrived,
          callback(length: number) {
            onBytes(arrived, length)
            return true
          },
        }
        const tcpOptions = { ...options, onread }
        const socket = isTls
          ? connectTls({ ...tcpOptions, ...tlsOptions, ...(session && { session }) })
          : connectTcp(tcpOptions)
        socket.setNoDelay(true)
        socket.setKeepAlive(true, PROBE_AFTER_MS)
        let failure: OutboundError | undefined
        let isConnected = false
        let isOpen = false
        if (isTls) socket.on('session', (latest: Buffer) => (session = latest))
        socket.once('connect', () => {
          isConnected = true
        })
        socket.once(isTls ? 'secureConnect' : 'connect', () => {
          isOpen = true
          onOpen()
        })
        socket.on('error', (error) => {
          const isHandshake = isTls && isConnected && !isOpen
          failure ??= isHandshake ? new OutboundError('tls', { code: codeOf(error) }) : toOutboundError(error)
        })
        // The other side sends no more: nothing can be answered on this connection.
        socket.once('end', () => socket.destroy())
        socket.once('close', () => onClosed(failure))
        return socket
      }
    },
  }
}

const READ_BYTES = 16_384
/** TCP asks a silent other side whether it is still there. */
const PROBE_AFTER_MS = 60_000

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
